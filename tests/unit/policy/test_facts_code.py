"""Which commands run code of their own: they never pass as reading, and no standing permission is offered for them.

(spec, PO-7, ASK-4; cases FT-005, FT-021, FT-029)
"""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.programs import program_of, programs
from interlock.runtime.policy.programs.catalogue import data_files
from interlock.runtime.policy.programs.goal import goal_of
from interlock.runtime.policy.rules.builtin import default_policy, with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

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


NAMES_KEEP = r"""
javac -d keep A.java
javac -dkeep A.java
gcc -o keep/x a.c
gcc -okeep/x a.c
g++ -o keep/x a.c
clang -MF keep/d a.c
ld -o keep/x a.o
as -o keep/x a.s
nasm -o keep/x a.s
rustc -o keep/x a.rs
rustc --out-dir keep a.rs
cargo build --target-dir keep
cargo build --target-dir=keep
cargo --config keep/c build
cargo install --root keep x
cargo new keep/x
cargo -C keep build
go build -o keep/x .
go build -o=keep/x .
go test -coverprofile=keep/x ./...
go -C keep build
make -C keep
make --directory=keep
make -f keep/m
make -Ckeep
cmake -B keep .
cmake --build keep
cmake --install b --prefix keep
ninja -C keep
meson setup keep
npm --prefix keep install
npm --prefix=keep install
npm install --prefix keep
npm -C keep install
yarn --cwd keep install
pnpm -C keep install
pnpm --dir keep install
pip install --target keep x
pip install -t keep x
pip install --target=keep x
pip install --prefix keep x
pip download -d keep x
pip wheel -w keep x
pip --log keep/l install x
pip install -e keep
pip install -r keep/r.txt
python3 -m venv keep
python3 -m venv keep/v
python3 -m zipfile -e x.zip keep
python3 -m tarfile -e x.tar keep
python3 -m pip install --target keep x
python3 keep/x.py
python3 -c 'open("keep/x","w")'
python3 -m compileall keep
python3 -m pytest --basetemp=keep
pytest --junitxml=keep/x
pytest --basetemp keep
coverage run --data-file=keep/x a.py
ruff check --fix keep
ruff format keep/a.py
black keep
eslint --fix keep
eslint -o keep/x src
prettier --write keep/x
tsc --outDir keep
mypy --cache-dir keep src
ruby -i -pe x keep/x
perl -i -pe x keep/x
perl -pi -e x keep/x
perl -pi.bak -e x keep/x
perl -i.bak -ne x keep/x
node keep/x.js
node --cpu-prof-dir=keep x.js
curl -o keep/x http://h.invalid
curl -okeep/x http://h.invalid
curl --output=keep/x http://h.invalid
curl --output-dir keep -O http://h.invalid/x
curl -D keep/h http://h.invalid
curl --trace keep/t http://h.invalid
curl -T keep/b http://h.invalid
curl -d @keep/b http://h.invalid
curl --data-binary @keep/b http://h.invalid
curl -F f=@keep/b http://h.invalid
curl -K keep/c
curl -c keep/j http://h.invalid
wget -P keep http://h.invalid
wget -O keep/x http://h.invalid
wget --output-document=keep/x http://h.invalid
wget -Pkeep http://h.invalid
wget -o keep/log http://h.invalid
wget -i keep/list
wget --post-file=keep/b http://h.invalid
aria2c -d keep http://h.invalid/x
aria2c -o keep/x http://h.invalid/x
scp h:x keep/
scp keep/b h:
scp -r keep h:
rsync -a src/ keep/
rsync -a keep/ h:x
rsync --log-file=keep/l a b
rsync --backup-dir=keep a b
rsync -a --delete src/ keep
sftp -b keep/cmds h
ssh -E keep/log h
ssh -i keep/id h
ssh-keygen -f keep/id
ssh-keygen -fkeep/id
nc -o keep/x h 80
socat - OPEN:keep/x
socat TCP:h:1 CREATE:keep/x
nmap -oN keep/x h
nmap -oA keep/x h
tcpdump -w keep/x
psql -o keep/x -h h
psql -f keep/x -h h
pg_dump -f keep/x db
pg_dump --file=keep/x db
mysqldump -r keep/x db
mysql --tee=keep/x
redis-cli --rdb keep/x
mongodump -o keep
sqlite3 keep/db 'create table t(x)'
sqlite3 a.db '.backup keep/x'
sqlite3 a.db '.output keep/x'
docker cp c:/x keep
docker cp keep c:/x
docker run -v ./keep:/x alpine
docker run -v $PWD/keep:/x alpine
docker build -f keep/D .
docker build keep
docker save -o keep/x i
docker run --cidfile keep/x alpine
docker compose -f keep/c.yml up
kubectl apply -f keep/x.yml
kubectl cp p:/x keep/x
helm install x keep/chart
terraform -chdir=keep apply
ansible-playbook keep/x.yml
aws s3 cp s3://b/x keep/x
aws s3 sync keep s3://b
gh release download -D keep
gh repo clone a/b keep/x
gdb -x keep/x
lldb -s keep/x
emacs --script keep/x
gem install -i keep x
bundle install --path keep
composer -d keep install
conda create -p keep/env
uv venv keep/v
uv pip install --target keep x
uv --directory keep run x
poetry -C keep install
hg -R keep commit
svn checkout http://h/x keep/x
mvn -f keep/pom.xml test
gradle -p keep test
gradle -b keep/b.gradle test
strace -o keep/s ls
strace -okeep/s ls
ltrace -o keep/x ls
perf record -o keep/x ls
valgrind --log-file=keep/x ls
gtime -o keep/t ls
/usr/bin/time -o keep/t ls
timeout 5 touch keep/x
nohup touch keep/x
script keep/x
script -c ls keep/x
flock keep/x ls
xargs -a keep/b echo
env -C keep touch x
sudo -D keep touch x
parallel --joblog keep/x echo ::: a
parallel --results keep echo ::: a
chroot keep ls
hyperfine --export-json keep/x ls
watchexec -w keep ls
setsid touch keep/x
bwrap --bind keep /x ls
start-stop-daemon -S -x ls -p keep/p
crontab keep/c
at -f keep/x now
youtube-dl -o keep/x http://h.invalid
java -jar keep/x.jar
julia keep/x.jl
Rscript keep/x.R
php keep/x.php
lua keep/x.lua
bash keep/x.sh
bash --rcfile keep/x
. keep/x.sh
source keep/x.sh
just -f keep/j x
just -d keep -f j x
task -d keep x
rake -f keep/R
tox -c keep/t
openssl req -out keep/x
openssl s_client -connect h:1 -keylogfile keep/x
""".strip().splitlines()


def test_a_deny_on_a_path_holds_whatever_option_or_operand_names_it() -> None:
    """spec, PO-7: clients, compilers, packages, interpreters and wrappers, each with a rule that allows them all."""
    rules = '[[rule]]\nid = "protect"\neffect = "deny"\npath = "keep/**"\n'
    rules += '[[rule]]\nid = "tools"\neffect = "allow"\nprogram = ["?*"]\n'
    policy = with_built_in([load_layer(rules, file="t.toml", layer="user")])
    kinds = {"/w/proj": "folder", "/w/proj/keep": "folder", "/w/proj/keep/b": "file", "/w/proj/src": "folder"}
    world = MemoryWorld(kinds=kinds)  # type: ignore[arg-type]

    def effect(command: str) -> str:
        call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
        return decide(call, policy, world, (), NOW).effect

    assert len(NAMES_KEEP) > 190
    assert [command for command in NAMES_KEEP if effect(command) == "allow"] == []
    assert effect("make test") == "allow"
    assert effect("curl -o src/x http://h.invalid") == "allow"
