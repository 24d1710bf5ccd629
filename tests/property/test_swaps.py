"""Whatever is swapped between show and run, nothing runs on what was not shown. (spec ASK-3)

A trial makes a small world of its own, has a command asked about, allows it, and swaps something that the command depends
on: before the answer, when the answer is on its way, or when the start is being recorded. The oracle knows nothing of how
the runtime looks: it looks at what lies outside, at marks that whatever was swapped in leaves when it runs, at what must
have outlived the trial, and at what came out. Trials without a swap must run, or the others would prove nothing.
200 trials, 10,000 with INTERLOCK_LONG=1; a failing one names its seed.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interlock.runtime.asks.pending import Opened
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.permission import Approver, ToolPermission

TRIALS = 10_000 if os.environ.get("INTERLOCK_LONG") == "1" else 200
BATCH = 100
CONTROLS = 0.15
"""Part of the trials in which nothing is swapped."""
MOMENTS = ("ask", "tool.permission.delivered", "tool.scheduled", "tool.invocation.started")
ME = Approver(kind="person", uid=os.getuid(), pid=os.getpid(), client="test")
SECRET = "SECRET OF THE OUTSIDE"
AS = "-c user.name=t -c user.email=t@t"


@dataclass
class Trial:
    """One world, one command, one swap."""

    rng: random.Random
    folder: Path
    out: Path
    """What lies outside, with the same names as the folders inside."""
    marks: Path
    bins: tuple[Path, Path]
    """Folders at the head of PATH."""
    repository: Path
    """To be copied."""
    command: str = ""
    kind: str = ""
    swaps: list[Callable[[], None]] = field(default_factory=list)
    """Each changes something that the command depends on."""
    precious: list[Path] = field(default_factory=list)
    """What must be there afterwards."""

    def write(self, path: Path | str, text: str = "inside\n", mode: int = 0o644) -> Path:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or self.rng.random() < 0.5:
            # as editors do it: a new file in the place of the old one
            fresh = place.with_name(f".{place.name}.new")
            fresh.write_text(text)
            fresh.chmod(mode)
            fresh.replace(place)
        else:
            place.write_text(text)
            place.chmod(mode)
        return place

    def shell(self, swapped: bool) -> str:
        return f"#!/bin/sh\n: > '{self.marks}/{'swapped' if swapped else 'shown'}-{self.rng.random()}'\n"

    def python(self, swapped: bool) -> str:
        return f"open({str(self.marks)!r} + '/{'swapped' if swapped else 'shown'}-{self.rng.random()}', 'w')\n"

    def remove(self, path: Path | str) -> None:
        place = self.folder / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    def link(self, path: Path | str, to: Path) -> None:
        self.remove(path)
        (self.folder / path).symlink_to(to)

    def name(self) -> str:
        return self.rng.choice(("a", "src", "lib", "e", "data", "my dir", "x-1")) + str(self.rng.randrange(100))

    def nested(self, depth: int) -> str:
        return "/".join(self.name() for _ in range(self.rng.randint(1, depth)))


def quoted(path: str) -> str:
    return f"'{path}'" if " " in path else path


def folders(t: Trial) -> None:
    """Commands that go through a folder, and ways to make another one of it."""
    path = t.nested(3)
    for name in ("keep", "x", "sub/y"):
        t.write(f"{path}/{name}")
        place = t.out / path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    p = quoted(path)
    t.command = t.rng.choice(
        (
            f"cat {p}/x",
            f"cp {p}/x copy",
            f"echo 1 > {p}/new",
            f"echo 1 >> {p}/x",
            f"touch {p}/new",
            f"rm -rf {p}/",
            f"rm -f {p}/x",
            f"mv {p}/x moved",
            f"cd {p} && rm -f keep",
            f"cd {p}; cat x",
            f"(cd {p} && touch new)",
            f"tar cf a.tar {p}/x",
            f"find {p}/ -name x -delete",
            f"chmod u+x {p}/keep",
            f"sed -i s/i/o/ {p}/x",
            f"tee {p}/new < {p}/keep",
            f"mkdir {p}/m",
            f"ln -s x {p}/l",
            f"sort -o{p}/x {p}/keep" if " " not in path else f"sort -o {p}/x {p}/keep",
            f'for f in {p}/*; do cat "$f"; done',
            f"head -n1 {p}/*",
            f"dd if={p}/x of=copy status=none" if " " not in path else f"cat {p}/x",
            f"grep -r i {p}/",
            f"bash -c 'cat {path}/x'" if " " not in path else f"cat {p}/x",
        )
    )
    above = t.rng.choice([part for part in Path(path).parents if str(part) != "."] or [Path(path)])

    def another() -> None:
        spare = t.folder.parent / f"{t.folder.name}-spare"
        (t.folder / path).rename(spare)
        shutil.copytree(spare, t.folder / path)
        t.precious += [t.folder / path / name for name in ("keep", "x", "sub/y")]

    t.swaps += [
        lambda: t.link(path, t.out / path),
        lambda: t.link(above, t.out / above),
        another,
    ]
    if f"{p}/x" in t.command or "*" in t.command or "cat x" in t.command:
        t.swaps += [lambda: t.link(f"{path}/x", t.out / path / "x")]
    if "/new" in t.command:
        t.swaps += [lambda: t.link(f"{path}/new", t.out / path / "keep")]


def hard_links(t: Trial) -> None:
    path = t.name()
    t.write(path)
    (t.out / "victim").write_text(SECRET)
    p = quoted(path)
    t.command = t.rng.choice((f"echo 1 > {p}", f"cat {p}", f"tee {p} < /dev/null", f"truncate -s0 {p}", f"cp {p} copy"))

    def swap() -> None:
        t.remove(path)
        os.link(t.out / "victim", t.folder / path)

    t.swaps.append(swap)


def scripts(t: Trial) -> None:
    path = t.nested(2) + ".sh"
    p = quoted(path)
    inner = t.name().replace(" ", "_") + t.rng.choice((".sh", ""))
    deep = t.rng.random() < 0.4
    t.write(path, f"#!/bin/sh\n. ./{inner}\n" if deep else t.shell(swapped=False), 0o755)
    absent = deep and t.rng.random() < 0.3
    if deep and not absent:
        t.write(inner, t.shell(swapped=False), 0o755)
    t.command = t.rng.choice(
        (
            f"sh {p}", f"bash -e {p}", f"./{p}", f"cat {p} | sh", f"sh < {p}", f". ./{p}", f"env sh {p}", f"timeout 9 sh {p}",
            f"echo {p} | xargs sh", f"sh -c 'sh {path}'" if " " not in path else f"sh {p}", f"true && sh {p} || true",
        )
    )  # fmt: skip
    target = inner if deep else path
    if deep and ". ./" not in (t.folder / path).read_text():
        return
    (t.out / "s.sh").write_text(t.shell(swapped=True))
    (t.out / "s.sh").chmod(0o755)
    t.swaps += (
        [lambda: t.write(target, t.shell(swapped=True), 0o755), lambda: t.link(target, t.out / "s.sh")]
        if not (absent and not inner.endswith(".sh"))
        else [lambda: t.write(path, t.shell(swapped=True), 0o755)]
    )


def modules(t: Trial) -> None:
    module = "m" + str(t.rng.randrange(1000))
    way = t.rng.choice(("-m", "-c", "script", "unittest", "package", "shadow", "here", "path"))
    files = {
        "-m": f"{module}.py",
        "-c": f"{module}.py",
        "script": f"{module}.py",
        "unittest": f"{module}.py",
        "here": f"{module}.py",
        "package": f"{module}/inner.py",
        "shadow": t.rng.choice(("json.py", "random.py", "string.py")),
        "path": f"lib/{module}.py",
    }
    target = files[way]
    may_be_absent = way in ("-m", "unittest", "shadow", "here", "-c")
    if way == "package":
        t.write(f"{module}/__init__.py", "from . import inner\n")
    if way == "script":
        t.write("app.py", f"import {module}\n")
    if way == "shadow":
        t.write("app.py", f"import {target[:-3]}\n")
    if way == "path":
        (t.folder / "lib").mkdir(exist_ok=True)
    if way != "shadow" and not (may_be_absent and t.rng.random() < 0.4):
        t.write(target, t.python(swapped=False))
    t.command = {
        "-m": f"python3 -m {module}",
        "-c": f"python3 -c 'import {module}'",
        "script": "python3 app.py",
        "unittest": f"python3 -m unittest {module}",
        "package": f"python3 -c 'import {module}'",
        "shadow": "python3 app.py",
        "here": f"python3 - <<'END'\nimport {module}\nEND",
        "path": f"PYTHONPATH=lib python3 -c 'import {module}'",
    }[way]
    (t.out / "m.py").write_text(t.python(swapped=True))
    t.swaps += [lambda: t.write(target, t.python(swapped=True)), lambda: t.link(target, t.out / "m.py")]


def makefiles(t: Trial) -> None:
    place = t.rng.choice((".", "sub"))
    (t.folder / place).mkdir(exist_ok=True)
    calls = t.rng.random() < 0.4
    t.command = "make" if place == "." else t.rng.choice(("make -C sub", "cd sub && make", "make --directory=sub"))
    swapped = f"all:\n\t@: > {t.marks}/swapped-make\n"
    if t.rng.random() < 0.7:
        t.write(f"{place}/Makefile", "all:\n\t@sh gen.sh\n" if calls else f"all:\n\t@: > {t.marks}/shown-make\n")
        t.swaps.append(lambda: t.write(f"{place}/GNUmakefile", swapped))
        if calls:
            t.write(f"{place}/gen.sh", t.shell(swapped=False))
            t.swaps.append(lambda: t.write(f"{place}/gen.sh", t.shell(swapped=True)))
    t.swaps.append(lambda: t.write(f"{place}/Makefile", swapped))


def hooks(t: Trial) -> None:
    at = t.name().replace(" ", "_")
    shutil.copytree(t.repository, t.folder / at, symlinks=True)
    t.write(f"{at}/tracked", "two\n")
    hook, command = t.rng.choice(
        (
            ("pre-commit", f"git {AS} commit -qam x"), ("commit-msg", f"git {AS} commit -qam x"),
            ("post-commit", f"git {AS} commit -qam x"), ("prepare-commit-msg", f"git {AS} commit -qam x"),
            ("post-checkout", "git checkout -q -b other"), ("post-index-change", "git status"),
            ("post-index-change", "git add tracked"), ("reference-transaction", "git branch other"),
        )
    )  # fmt: skip
    sub = t.rng.random() < 0.3 and command == "git status"
    t.command = t.rng.choice((f"git -C {at} {command[4:]}", f"cd {at} && {command}"))
    place = f"{at}/.git/hooks/{hook}"
    if sub:
        t.swaps.append(lambda: t.write(f"{at}/.git/modules/sub/hooks/{hook}", t.shell(swapped=True), 0o755))
        (t.folder / at / "sub/tracked").write_text("two\n")
        return
    if t.rng.random() < 0.4 and hook != "post-index-change":
        t.write(place, t.shell(swapped=False), 0o755)

    def elsewhere() -> None:
        t.write(f"{at}/h/{hook}", t.shell(swapped=True), 0o755)
        subprocess.run(["git", "config", "core.hooksPath", "h"], cwd=t.folder / at, check=True)

    t.swaps += [lambda: t.write(place, t.shell(swapped=True), 0o755), elsewhere]


def programs(t: Trial) -> None:
    tool = f"tool{t.folder.name}"
    first, second = t.bins
    if t.rng.random() < 0.8:
        t.write(second / tool, t.shell(swapped=False), 0o755)
    t.command = t.rng.choice(
        (f"{tool} --now", f"true && {tool}", f"env {tool}", f"echo a | xargs {tool}", f"timeout 9 {tool}")
    )
    t.swaps += [
        lambda: t.write(first / tool, t.shell(swapped=True), 0o755),
        lambda: t.write(second / tool, t.shell(swapped=True), 0o755),
    ]


def patches(t: Trial) -> None:
    """What is read as data, and changes files by what it says."""
    diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+{}\n"
    t.write("f", "one\n")
    t.write("p.diff", diff.format("shown"))
    t.write("list", "shown-file\n")
    t.write("s.sed", "s/one/shown/\n")
    t.precious.append(t.folder / "mine")
    t.write("mine")
    way = t.rng.choice(("apply", "patch", "xargs", "sed", "tar", "cpio", "split"))
    if way in ("apply", "patch"):
        t.command = (
            "git apply p.diff" if way == "apply" else t.rng.choice(("patch -p1 < p.diff", "patch -p1 -i p.diff"))
        )
        evil = "--- a/mine\n+++ /dev/null\n@@ -1 +0,0 @@\n-inside\n"
        t.swaps.append(lambda: t.write("p.diff", evil))
    elif way == "sed":
        t.command = "sed -i -f s.sed f"
        t.swaps.append(lambda: t.write("s.sed", "e rm mine\n"))
    elif way == "tar":
        t.command = "tar xf a.tar"
        subprocess.run(["tar", "cf", "a.tar", "list"], cwd=t.folder, check=True)

        def other() -> None:
            t.write("swapped-name")
            subprocess.run(["tar", "cf", "a.tar", "swapped-name"], cwd=t.folder, check=True)
            t.remove("swapped-name")

        t.swaps.append(other)
    else:
        t.command = t.rng.choice(("xargs rm -f < list", "xargs -a list rm -f", "cat list | xargs rm -f"))
        t.swaps.append(lambda: t.write("list", "mine\n"))


def patterns(t: Trial) -> None:
    for name in ("a.log", "b.log", "d/c.log"):
        t.write(name)
    t.command = t.rng.choice(
        ("rm -f *.log", "rm -f ./*.log d/*.log", "gzip *.log", "mv *.log d/", "sed -i s/i/o/ *.log", "rm -f ?.log")
    )
    (t.out / "o.log").write_text(SECRET)

    def newcomer() -> None:
        t.precious.append(t.write("m.log", "precious\n"))

    t.swaps += [newcomer, lambda: t.link("a.log", t.out / "o.log") if "rm" not in t.command else newcomer()]


KINDS = (folders, folders, hard_links, scripts, modules, makefiles, hooks, programs, patches, patterns)


def contents(folder: Path) -> dict[str, str]:
    return {str(p): f"{p.stat().st_mode:o} {p.read_text()}" for p in sorted(folder.rglob("*")) if p.is_file()}


class Bench:
    """One session, in whose workspace trials are made one after another."""

    def __init__(self, session: RuntimeSession, top: Path) -> None:
        self.session, self.top = session, top
        self.todo: tuple[str, Callable[[], None]] | None = None
        session.setting.broker.subscribe(self._heard)
        session.journal.subscribe(lambda event, line, offset: self._swap(event.type))

    def _heard(self, change: object) -> None:
        if isinstance(change, Opened):
            asyncio.get_running_loop().call_soon(self._answer, change.ask.event)

    def _answer(self, ask: ToolPermission) -> None:
        self._swap("ask")
        answer = AskAnswer(ask_id=str(ask.ask_id), input_digest=str(ask.input_digest), answer="allow")
        self.session.setting.broker.resolve(answer, ME)

    def _swap(self, moment: str) -> None:
        if self.todo is not None and self.todo[0] == moment:
            swap, self.todo = self.todo[1], None
            swap()

    def trial(self, seed: int, repository: Path) -> Trial:
        rng = random.Random(seed)
        folder, out, marks = (self.top / place / f"t{seed}" for place in ("ws", "out", "marks"))
        for place in (folder, out, marks):
            place.mkdir(parents=True)
        made = Trial(rng, folder, out, marks, (self.top / "bin/a", self.top / "bin/b"), repository)
        kind = rng.choice(KINDS)
        made.kind = kind.__name__
        kind(made)
        return made

    async def run(self, trial: Trial) -> str:
        """Make the call; "" when all is well, else what is wrong."""
        rng = trial.rng
        control = not trial.swaps or rng.random() < CONTROLS
        moment = rng.choice(MOMENTS)
        if not control:
            self.todo = (moment, rng.choice(trial.swaps))
        before = contents(trial.out)
        seen = await asyncio.wait_for(
            self.session.pipeline.run(
                Intent("bash", {"command": trial.command, "cwd": trial.folder.name, "timeout_s": 30})
            ),
            60,
        )
        wrong = list(self._wrong(trial, before, f"{seen.summary} {seen.content}"))
        if control and seen.code == "stale_file_baseline":
            wrong.append(f"nothing was swapped, and it did not run: {seen.summary}")
        if not control and (self.todo is not None or seen.code != "stale_file_baseline"):
            wrong.append(f"it ran: {seen.summary}")
        self.todo = None
        return "".join(f"\n  {trial.kind}, {moment}: {trial.command!r}: {one}" for one in wrong)

    def _wrong(self, trial: Trial, before: dict[str, str], shown: str) -> Iterator[str]:
        if contents(trial.out) != before:
            yield "what lies outside was changed"
        if any(p.name.startswith("swapped") for p in trial.marks.iterdir()):
            yield "what was swapped in has run"
        if SECRET in shown:
            yield "what lies outside was shown"
        yield from (f"{path} is gone" for path in trial.precious if not path.exists())
        if (trial.folder / "swapped-name").exists():
            yield "what was swapped in was unpacked"


def made_repository(top: Path) -> Path:
    """A repository with a submodule."""
    git = ["git", *AS.split(), "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=m"]
    for name in ("inner", "outer"):
        (top / name).mkdir()
        (top / name / "tracked").write_text("one\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], cwd=top / name, check=True)
    for words in (["submodule", "--quiet", "add", str(top / "inner"), "sub"], ["commit", "-qm", "sub"]):
        subprocess.run([*git, *words], cwd=top / "outer", check=True)
    for hook in (top / "outer/.git/hooks").iterdir():
        hook.unlink()
    return top / "outer"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/policy.toml").write_text(
        '[[rule]]\nid = "all"\neffect = "ask"\ntool = "bash"\nreason = "look"\n'
    )


@pytest.mark.parametrize("batch", range(TRIALS // BATCH))
async def test_nothing_runs_on_what_was_not_shown(tmp_path: Path, batch: int) -> None:
    for place in ("ws", "out", "marks", "bin/a", "bin/b", "repositories"):
        (tmp_path / place).mkdir(parents=True)
    repository = made_repository(tmp_path / "repositories")
    # without the starters of other Pythons, which take longer than all the rest
    path = f"{tmp_path}/bin/a:{tmp_path}/bin/b:{Path(sys.executable).resolve().parent}:/usr/local/bin:/usr/bin:/bin"
    host = {"PATH": path, "HOME": str(tmp_path)}
    wrong: list[str] = []
    kinds: Counter[str] = Counter()
    async with RuntimeSession.start(tmp_path / "ws", agent="test", server=False, environment=host) as session:
        bench = Bench(session, tmp_path)
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            trial = bench.trial(seed, repository)
            kinds[trial.kind] += 1
            if problem := await bench.run(trial):
                wrong.append(f"seed {seed}{problem}")
    assert wrong == []
    assert len(kinds) > len(set(KINDS)) // 2
