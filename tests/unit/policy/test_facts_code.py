"""Which commands run code of their own: they never pass as reading, and no standing permission is offered for them.

(spec, PO-7, ASK-4; cases FT-005, FT-021, FT-029)
"""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime

import pytest

from interlock.runtime.policy.builtin import default_policy
from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.decide import Decision, decide
from interlock.runtime.policy.grant import Grant
from interlock.runtime.policy.programs import program_of, programs
from interlock.runtime.policy.programs.catalogue import data_files
from interlock.runtime.policy.programs.goal import goal_of

NOW = datetime(2026, 1, 10, tzinfo=UTC)
RUNS_CODE = r"""
bash x.sh
sh x.sh
dash x
ksh x
csh x
tcsh x
fish x
nu x.nu
elvish x
xonsh x
rc x
mksh x
yash x
busybox sh x
python x.py
python2 x.py
python3 x.py
python3.12 x.py
python3.13 -c 'print(1)'
pypy3 x.py
ipython x.py
python3 -m mymod
python3 -m pip install x
node x.js
nodejs x.js
node -e 1
bun x.ts
deno run x.ts
tsx x.ts
ts-node x.ts
ts-node-esm x.ts
coffee x
ruby x.rb
ruby3.2 x.rb
jruby x
irb x
perl x.pl
perl5.36 x.pl
raku x
php x.php
php8.2 x.php
hhvm x
lua x.lua
lua5.4 x.lua
luajit x.lua
tclsh x.tcl
tclsh8.6 x.tcl
wish x.tcl
expect x.exp
guile x.scm
racket x.rkt
sbcl --script x.lisp
clisp x
emacs --script x.el
ghci x
runghc X.hs
runhaskell X.hs
ocaml x.ml
swipl x.pl
elixir x.exs
erl -s x
escript x
scala X
kotlin X
groovy x.groovy
jshell x
java X
java -jar x.jar
java -cp . X
mono x.exe
dotnet run
julia x.jl
Rscript x.R
R -f x.R
octave x.m
gnuplot x.gp
dc -f x.dc
gdb --command=x.gdb -batch
gdb -x x.gdb
lldb -s x
osascript x.scpt
pwsh x.ps1
powershell -File x.ps1
awk -f x.awk
gawk -E x.awk
mawk -f x.awk
gawk -i x 1
sed -f x.sed a
sqlite3 -init x.sql a.db
psql -f x.sql
mongosh x.js
make -f x.mk
make deploy
gmake deploy
bmake deploy
ninja -f x.ninja deploy
cmake -P x.cmake
cmake .
meson setup b
bazel run //x
just deploy
task deploy
rake deploy
tox -c x deploy
nox -f x deploy
invoke deploy
gulp deploy
grunt deploy
scons x
ansible-playbook x.yml
terraform apply
pulumi up
npm install
npm ci
npm run deploy
npm exec x
npx x
pnpm dlx x
yarn add x
yarn dlx x
bunx x
pip install x
pip3 install -r r.txt
pipx run x
uvx x
uv run x.py
uv pip install x
poetry run x
poetry install
pdm install
conda install x
cargo run
cargo install x
go run .
go generate ./...
go install x@latest
gem install x
bundle exec x
composer install
apt-get install x
brew install x
dnf install x
rails runner x
mix run
./s.sh
./a.out x
../x
/tmp/x y
bin/run
~/bin/x
vim -S x.vim
nvim -c 'source x' a
emacs -l x.el a
docker run x
docker compose up
kubectl exec p -- x
ssh h x
sudo ls
at -f x now
crontab x
. x.sh
source x.sh
eval x
find . -exec ./x {} +
xargs ./x
tar -I ./x -xf a.tar
rsync -e ./x a b
nmap --script x h
git bisect run ./x
unknown-program x
""".strip().splitlines()


def judged(command: str, *grants: Grant, world: MemoryWorld | None = None) -> Decision:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, default_policy(), world or MemoryWorld(kinds={"/w/proj": "folder"}), grants, NOW)


def test_the_table_is_large() -> None:
    assert len(RUNS_CODE) >= 150


@pytest.mark.parametrize("command", RUNS_CODE)
def test_code_asks_once_and_says_why(command: str) -> None:
    seen = judged(command)
    assert seen.effect != "allow"
    assert seen.suggestions == ()
    if seen.effect == "ask":
        assert len(seen.only_once) > 10
        assert seen.facts()["onlyOnce"] == seen.only_once


@pytest.mark.parametrize("entry", [one for one in programs() if one.code and " " not in one.name], ids=lambda e: e.name)
def test_every_name_of_a_program_that_runs_code_is_treated_alike(entry: object) -> None:
    """One list of interpreters, shells, package managers and task runners, by every name they go by."""
    for name in (entry.name, *entry.aliases):  # type: ignore[attr-defined]
        seen = judged(f"{name} x.file")
        assert seen.effect == "ask", name
        assert [one for one in seen.suggestions if one.field != "command"] == [], name


def test_every_name_in_the_data_files_finds_its_entry() -> None:
    """However a list of aliases is written: over several lines too."""
    tables = [pair for file in data_files() for pair in tomllib.loads(file.read_text(encoding="utf-8")).items()]
    aliases = [(name, alias) for name, table in tables for alias in table.get("aliases", "").split() if " " not in name]
    assert len(aliases) > 1000
    assert [(n, a) for n, a in aliases if (found := program_of(a)) is None or found.name != n] == []


GOALS = [
    ("npm test", "tests"), ("npm run lint", "lint"), ("npm run test:unit", "tests"), ("yarn lint", "lint"),
    ("pnpm test", "tests"), ("cargo test --lib", "tests"), ("cargo clippy", "lint"), ("cargo build --release", "build"),
    ("cargo fmt", "format"), ("go test ./...", "tests"), ("go build ./...", "build"), ("go vet ./...", "lint"),
    ("pytest -q tests", "tests"), ("python -m pytest", "tests"), ("python3 -m unittest -v", "tests"),
    ("uv run pytest", "tests"), ("poetry run pytest -q", "tests"), ("make", "build"), ("make test", "tests"),
    ("just lint", "lint"), ("ruff check .", "lint"), ("ruff format .", "format"), ("mypy src", "types"),
    ("tsc --noEmit", "types"), ("npx tsc --noEmit", "types"), ("eslint src", "lint"), ("mvn test", "tests"),
    ("bundle exec rspec", "tests"), ("tox", "build"), ("deno test", "tests"), ("bun test", "tests"),
    ("dotnet test", "tests"), ("swift test", "tests"), ("mix test", "tests"), ("black .", "format"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "goal"), GOALS)
def test_what_verifies_the_project_is_offered_exactly_as_it_is(command: str, goal: str) -> None:
    words = command.split()
    if command != "tox":
        assert goal_of(words[0], words[1:]) == goal
    first, *wider = judged(command).suggestions
    assert (first.field, first.value, first.cwd) == ("command", command, "/w/proj")
    assert "runs the project's code" in first.label
    assert len(first.label) <= 80
    assert all("*" not in one.value for one in wider)
    grant = Grant("grant_1", first.tool, first.field, first.value, first.cwd)
    assert judged(command, grant).effect == "allow"
    assert judged(f"{command} --more", grant).effect == "ask"


@pytest.mark.parametrize(
    "command",
    ["pytest --version", "pytest --collect-only", "cargo test --no-run", "make -f other.mk", "pytest -c other.ini",
     "npm run deploy", "make deploy", "go run ."],
)  # fmt: skip
def test_what_verifies_nothing_has_no_goal(command: str) -> None:
    words = command.split()
    assert goal_of(words[0], words[1:]) == ""


@pytest.mark.parametrize(
    "command",
    ["cargo --version", "cargo -V", "rustc --version", "rustc -vV", "go version", "npm -v", "node --version", "python3 -V",
     "pip list", "pip3 show x", "pip freeze", "docker ps -a", "docker images", "cargo tree --frozen",
     "python3 -m json.tool data.json", "python3 -m pip list", "git --version", "make --version", "uv --version"],
)  # fmt: skip
def test_what_only_tells_is_not_asked_about(command: str) -> None:
    assert judged(command).effect == "allow"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("cargo --version", "/w/proj/rust-toolchain.toml"), ("rustc -V", "/w/rust-toolchain"), ("go version", "/w/proj/go.mod"),
        ("cargo tree --frozen", "/w/proj/.cargo/config.toml"), ("python3 -m json.tool data.json", "/w/proj/json.py"),
        ("python3 -m json.tool data.json", "/w/proj/argparse.py"), ("python3 -m pip list", "/w/proj/pip.py"),
    ],
)  # fmt: skip
def test_a_file_that_says_which_program_runs_asks(command: str, file: str) -> None:
    world = MemoryWorld(kinds={"/w/proj": "folder", "/w": "folder", file: "file"})
    assert judged(command, world=world).effect == "ask"


@pytest.mark.parametrize(
    "command",
    ["./cargo --version", "PATH=. cargo --version", "cargo tree", "pip list --outdated", "pip --python ./evil list",
     "docker -H tcp://h.example ps", "python3 -m json.tool a b", "python3 -m cat a", "npm ls", "kubectl get pods",
     "docker logs x", "npm --prefix d ls", "rustc --version x.rs", "go version -m x > y"],
)  # fmt: skip
def test_what_is_not_proven_to_only_tell_asks(command: str) -> None:
    assert judged(command).effect == "ask"
