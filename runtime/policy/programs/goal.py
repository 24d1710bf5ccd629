"""What a command verifies of a project: its tests, its format, its types, its build. Read from the catalogue.

Promises: "" for what no entry lists; a script or a target of a project is taken by its name. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.programs.usage import Usage, read_usage

_NAMES = {
    "test": "tests", "tests": "tests", "check": "tests", "unit": "tests", "e2e": "tests", "spec": "tests",
    "coverage": "tests", "pytest": "tests", "vitest": "tests", "jest": "tests", "lint": "lint", "eslint": "lint",
    "ruff": "lint", "clippy": "lint", "vet": "lint", "format": "format", "fmt": "format", "prettier": "format",
    "types": "types", "typecheck": "types", "typing": "types", "tsc": "types", "mypy": "types", "pyright": "types",
    "build": "build", "compile": "build", "assemble": "build", "verify": "tests",
}  # fmt: skip
"""First word of the name of a script or a target -> what it is for."""
_ONLY_TELLS = frozenset(("--version", "--help", "-h", "-V", "--collect-only", "--co", "--no-run", "--list"))


def goal_of(name: str, args: Sequence[str]) -> str:
    """The goal of `name` with `args`, also through what it runs: `poetry run pytest`."""
    usage = read_usage(name, args)
    if usage is None or not _ONLY_TELLS.isdisjoint(args) or _is_led_elsewhere(usage):
        return ""
    if usage.program.goal:
        return usage.program.goal
    inner = [word.text for word in usage.words if word.role == "command" and not word.option]
    script = _script(usage)
    if script is not None:
        return _of_name(script)
    if inner:
        at = next((i for i, word in enumerate(inner) if word != usage.verb and word not in usage.program.verbs), 0)
        return goal_of(inner[at].rpartition("/")[2], inner[at + 1 :])
    return ""


def _is_led_elsewhere(usage: Usage) -> bool:
    """Whether an option names code or settings that are not those of the project."""
    return any(ROLES[word.role].code and word.role != "module" for word in usage.words if word.option)


def _script(usage: Usage) -> str | None:
    """The name of the script or target that is run; None where none is named."""
    root, operands = usage.root, usage.operands
    if root.exact:
        return operands[0] if operands else "build"
    verb = usage.verb.split(" ")[0]
    if verb in root.scripts:
        return operands[0] if operands else None
    if root.scripts and not usage.verb and operands:
        words = operands[1:] if operands[0] in root.scripts else operands
        # `yarn lint` is short for `yarn run lint`
        return words[0] if words and _of_name(words[0]) else None
    return None


def _of_name(name: str) -> str:
    return _NAMES.get(re.split(r"[:._/-]", name.lower())[0], "") if name.lower() != "type-check" else "types"
