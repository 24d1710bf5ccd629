# Every target does its own set-up: a fresh clone needs git, make and Python 3.11+ alone.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
UV := $(shell command -v uv 2>/dev/null)

.PHONY: help setup demo run test check format bench lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with the locked packages

$(STAMP): pyproject.toml dev/requirements.lock dev/setup.sh
	@PYTHON="$(PYTHON)" UV="$(UV)" sh dev/setup.sh $(VENV)
	@touch $(STAMP)

demo: $(STAMP) ## watch and approve two scripted agents at work on a scratch project
	@$(BIN)/interlock demo

run: $(STAMP) ## open the screen on your own sessions
	@$(BIN)/interlock

test: $(STAMP) ## run every test
	@$(BIN)/python -m pytest -n 2 --dist loadgroup tests

check: $(STAMP) ## format, lint, types, architecture
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/pyright

format: $(STAMP) ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(STAMP) ## measure speed and size, print one table
	@$(BIN)/python -m tests.bench

lock: ## renew dev/requirements.lock (needs uv)
	uv pip compile pyproject.toml --group dev --extra search --universal --generate-hashes --no-header --no-annotate --no-emit-index-url -o dev/requirements.lock

clean: ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .bench
