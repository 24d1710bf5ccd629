"""What was shown of a call is what runs: the world is changed between the ask and the answer. (spec ASK-3, RT-7; FT-019, FT-022)

The oracle is the world: what lies outside is as it was, and nothing has left the mark of having run.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine.sandbox.state import Sandbox, no_sandbox
from interlock.runtime.events.permission import ToolPermission

OpenDesk = Callable[..., Any]
Rules = Callable[[str], None]
GIT = (
    "git",
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@t",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "init.defaultBranch=m",
)


class World:
    """A workspace, a place outside of it, and the marks that programs leave."""

    def __init__(self, top: Path) -> None:
        self.top, self.ws, self.out, self.marks = top, top / "ws", top / "out", top / "marks"
        for folder in (self.ws, self.out, self.marks):
            folder.mkdir(exist_ok=True)
        self.write(self.out / "secret.txt", "OUTSIDE SECRET\n")
        self.write(self.out / "keep", "kept\n")

    def write(self, path: Path | str, text: str, mode: int = 0o644) -> Path:
        path = self.ws / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def script(self, path: Path | str, mark: str) -> Path:
        return self.write(path, f"#!/bin/sh\n: > {self.marks}/{mark}\n", 0o755)

    def python(self, path: Path | str, mark: str) -> Path:
        return self.write(path, f"open({str(self.marks / mark)!r}, 'w')\n")

    def link(self, path: str, to: Path) -> None:
        """Put a link in place of what is there."""
        self.remove(path)
        os.symlink(to, self.ws / path)

    def remove(self, path: str) -> None:
        target = self.ws / path
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def git(self, *words: str, at: str = ".") -> None:
        subprocess.run([*GIT, *words], cwd=self.ws / at, check=True, capture_output=True)

    def repository(self, at: str = ".") -> None:
        (self.ws / at).mkdir(parents=True, exist_ok=True)
        self.git("init", at=at)
        self.write(f"{at}/tracked", "one\n")
        self.git("add", ".", at=at)
        self.git("commit", "-m", "first", at=at)

    def outside(self) -> dict[str, str]:
        return {str(p.relative_to(self.out)): p.read_text() for p in sorted(self.out.rglob("*")) if p.is_file()}

    def ran(self) -> list[str]:
        return sorted(p.name for p in self.marks.iterdir())


Change = Callable[[World], object]


ASK = '[[rule]]\nid = "all"\neffect = "ask"\ntool = "bash"\nreason = "look at it"\n'
READS = '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\nreason = "it only reads"\n'


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rules:
    """Writes the user's own policy file."""
    place = tmp_path / "config" / "policy.toml"
    place.parent.mkdir()
    monkeypatch.setenv("INTERLOCK_CONFIG_DIR", str(place.parent))
    return lambda text: place.write_text(text) and None


@dataclass(frozen=True)
class Swap:
    """A call, the world that it is shown in, and what becomes of that."""

    name: str
    command: str
    before: Change
    swap: Change
    told: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def nothing(world: World) -> None:
    """The world is as it is."""


def folder_e(world: World) -> None:
    world.write("e/secret.txt", "inside\n")


def to_outside(path: str) -> Change:
    return lambda world: world.link(path, world.out)


def several(*changes: Change) -> Change:
    return lambda world: [change(world) for change in changes]


def marked(path: str, mark: str = "swapped") -> Change:
    return lambda world: world.script(path, mark)


def py(path: str, mark: str = "swapped") -> Change:
    return lambda world: world.python(path, mark)


def text(path: str, content: str, mode: int = 0o644) -> Change:
    return lambda world: world.write(path, content.replace("MARKS", str(world.marks)), mode)


def repository(world: World) -> None:
    world.repository()
    world.write("tracked", "two\n")


def with_submodule(world: World) -> None:
    world.repository("lib")
    world.repository("app")
    world.git("submodule", "add", str(world.ws / "lib"), "sub", at="app")
    world.git("commit", "-m", "sub", at="app")


def replaced_folder(path: str) -> Change:
    def swap(world: World) -> None:
        (world.ws / path).rename(world.top / "moved")
        shutil.copytree(world.top / "moved", world.ws / path)

    return swap


def with_commit(branch: str) -> Change:
    def swap(world: World) -> None:
        world.git("stash", "-q")
        world.git("checkout", "-q", branch)
        world.write("evil", "x")
        world.git("add", "evil")
        world.git("commit", "-qm", "evil")
        world.git("checkout", "-q", "-")
        world.git("stash", "pop", "-q")

    return swap


def hard_link(world: World) -> None:
    world.remove("tgt")
    os.link(world.out / "keep", world.ws / "tgt")


def workspace_link(world: World) -> None:
    world.ws.rename(world.top / "real")
    os.symlink(world.out, world.ws)


PATCH = "--- a/tracked\n+++ b/tracked\n@@ -1 +1 @@\n-one\n+{}\n"
RUN = ": > MARKS/swapped\n"
ROWS = [
    Swap("a folder of a read", "cat e/secret.txt", folder_e, to_outside("e"), "e became a link to"),
    Swap("the directory it runs in", "cat secret.txt", folder_e, to_outside("e"), "", {"cwd": "e"}),
    Swap("a folder of a write", "echo x > e/new", folder_e, to_outside("e"), "e became a link to"),
    Swap("a folder that is emptied", "rm -rf e/", folder_e, to_outside("e"), "e became a link to"),
    Swap("a folder that is entered", "cd e && rm -f keep", folder_e, to_outside("e")),
    Swap("a folder of a copy", "cp e/secret.txt copy", folder_e, to_outside("e")),
    Swap("a target", "echo x > tgt", text("tgt", "t"), lambda w: w.link("tgt", w.out / "keep"), "tgt became a link"),
    Swap("a target that was absent", "echo x > tgt", nothing, lambda w: os.symlink(w.out / "new", w.ws / "tgt"), "tgt"),
    Swap("a target by another name", "echo x > tgt", text("tgt", "t"), hard_link, "tgt is another one"),
    Swap(
        "an option's target", "sort -okeep in", text("in", "b\na\n"), lambda w: w.link("keep", w.out / "keep"), "keep"
    ),
    Swap("a folder of a new file", "touch tg2/x", lambda w: (w.ws / "tg2").mkdir(), to_outside("tg2"), "tg2 became"),
    Swap(
        "a link that led inside",
        "rm -f l/keep",
        several(folder_e, lambda w: os.symlink("e", w.ws / "l")),
        to_outside("l"),
    ),
    Swap("the folder by another one", "rm -rf e/secret.txt", folder_e, replaced_folder("e"), "e is another one"),
    Swap("the directory by another one", "touch x", folder_e, replaced_folder("e"), "another one", {"cwd": "e"}),
    Swap("the workspace itself", "touch new", nothing, workspace_link),
    Swap("the names of a pattern", "rm -f *.log", text("a.log", ""), text("mine.log", "precious"), "mine.log"),
    Swap("a link in a pattern", "cat e/*.txt > copy", folder_e, lambda w: os.symlink(w.out / "keep", w.ws / "e/b.txt")),
    Swap("a script", "sh run.sh", text("run.sh", "true\n"), text("run.sh", RUN), "run.sh holds something else"),
    Swap("a program by its path", "./run.sh", marked("run.sh", "shown"), marked("run.sh")),
    Swap("a script through a pipe", "cat run.sh | sh", text("run.sh", "true\n"), text("run.sh", RUN), "run.sh"),
    Swap("a script from a file", "sh < run.sh", text("run.sh", "true\n"), text("run.sh", RUN), "run.sh"),
    Swap(
        "a script that is taken in",
        "sh run.sh",
        several(text("run.sh", ". ./lib.sh\n"), text("lib.sh", "")),
        text("lib.sh", RUN),
    ),
    Swap(
        "a script in a script", "bash a/run.sh", text("a/run.sh", "sh a/b.sh\n"), text("a/b.sh", RUN), "a/b.sh appeared"
    ),
    Swap(
        "the lines of xargs", "xargs touch < l", text("l", "a\n"), text("l", "../out/new\n"), "l holds something else"
    ),
    Swap(
        "a program of sed",
        "sed -n -f s.sed in",
        several(text("s.sed", "p\n"), text("in", "a\n")),
        text("s.sed", "w ../out/new\n"),
    ),
    Swap(
        "a program of awk",
        "awk -f s.awk",
        text("s.awk", "BEGIN{}\n"),
        text("s.awk", 'BEGIN{system(": > MARKS/swapped")}\n'),
    ),
    Swap(
        "a Makefile that was absent",
        "make",
        nothing,
        text("Makefile", "all:\n\t: > MARKS/swapped\n"),
        "Makefile appeared",
    ),
    Swap("a better Makefile", "make", text("Makefile", "all:\n"), text("GNUmakefile", "all:\n\t: > MARKS/swapped\n")),
    Swap(
        "a Makefile elsewhere",
        "make -C sub",
        text("sub/Makefile", "all:\n"),
        text("sub/Makefile", "all:\n\t: > MARKS/swapped\n"),
    ),
    Swap(
        "a script of a Makefile",
        "make",
        several(text("Makefile", "all:\n\tsh tools/gen.sh\n"), text("tools/gen.sh", "true\n")),
        text("tools/gen.sh", RUN),
    ),
    Swap(
        "a part of a Makefile",
        "make",
        several(text("Makefile", "include more.mk\nall:\n"), text("more.mk", "")),
        text("more.mk", "$(shell : > MARKS/swapped)\n"),
    ),
    Swap("a module that was absent", "python3 -m mod", nothing, py("mod.py"), "mod.py"),
    Swap("a module", "python3 -m mod", py("mod.py", "shown"), py("mod.py"), "mod.py"),
    Swap(
        "a module of a package",
        "python3 -m pkg",
        several(text("pkg/__init__.py", ""), py("pkg/__main__.py", "shown")),
        py("pkg/__main__.py"),
    ),
    Swap("a test module", "python3 -m unittest t", text("t.py", "import unittest\n"), py("t.py"), "t.py holds"),
    Swap("a test module that was absent", "python3 -m unittest t", nothing, py("t.py")),
    Swap("a test that is found", "python3 -m unittest discover", text("test_a.py", ""), py("test_b.py"), "test_b.py"),
    Swap("a test that was found", "python3 -m unittest", text("tests/__init__.py", ""), py("tests/test_b.py")),
    Swap(
        "an imported module",
        "python3 app.py",
        several(text("app.py", "import aid\n"), text("aid.py", "")),
        py("aid.py"),
        "aid.py",
    ),
    Swap(
        "a module of an imported one",
        "python3 app.py",
        several(
            text("app.py", "from pkg import a\n"),
            text("pkg/__init__.py", ""),
            text("pkg/a.py", "from . import b\n"),
            text("pkg/b.py", ""),
        ),
        py("pkg/b.py"),
        "pkg/b.py holds something else",
    ),
    Swap(
        "a module in front of a known one", "python3 app.py", text("app.py", "import json\n"), py("json.py"), "json.py"
    ),
    Swap("a module in the place of any", "python3 -c 'import aid'", text("aid.py", ""), py("aid.py"), "aid.py"),
    Swap("a module of a here-document", "python3 - <<'E'\nimport aid\nE", text("aid.py", ""), py("aid.py"), "aid.py"),
    Swap(
        "a module on PYTHONPATH",
        "PYTHONPATH=lib python3 -c 'import aid'",
        text("lib/aid.py", ""),
        py("lib/aid.py"),
        "lib/aid.py",
    ),
    Swap(
        "a script of package.json",
        "npm test",
        several(text("package.json", '{"scripts": {"test": "node tools/t.js"}}'), text("tools/t.js", "")),
        text("tools/t.js", "require('fs').writeFileSync('MARKS/swapped', '')\n"),
        "tools/t.js holds something else",
    ),
    Swap(
        "a program of package.json",
        "npm test",
        several(text("package.json", '{"scripts": {"test": "checkit"}}'), marked("node_modules/.bin/checkit", "shown")),
        marked("node_modules/.bin/checkit"),
    ),
    Swap(
        "package.json",
        "npm run x",
        text("package.json", '{"scripts": {"x": "true"}}'),
        text("package.json", '{"scripts": {"x": ": > MARKS/swapped"}}'),
    ),
    Swap(
        "a required file",
        "node app.js",
        several(text("app.js", "require('./aid')\n"), text("aid.js", "")),
        text("aid.js", "require('fs').writeFileSync('MARKS/swapped', '')\n"),
        "aid.js holds something else",
    ),
    Swap(
        "a patch",
        "git apply p.patch",
        several(repository, text("tracked", "one\n"), text("p.patch", PATCH.format("two"))),
        text("p.patch", PATCH.format("evil")),
        "p.patch",
    ),
    Swap(
        "a patch from a file",
        "patch -p1 < p.patch",
        several(text("tracked", "one\n"), text("p.patch", PATCH.format("two"))),
        text("p.patch", PATCH.format("evil")),
    ),
    Swap("an archive", "tar xf a.tar", text("a.tar", "1"), text("a.tar", "2"), "a.tar holds something else"),
    Swap(
        "a message",
        "git commit -F m -a",
        several(repository, text("m", "shown\n")),
        text("m", "evil\n"),
        "m holds something else",
    ),
    Swap(
        "what is sent",
        "curl -d @body http://127.0.0.1:1/",
        text("body", "a"),
        text("body", "secrets"),
        "body holds something else",
    ),
    Swap(
        "a hook that was absent",
        "git -c user.name=t -c user.email=t@t commit -am x",
        repository,
        marked(".git/hooks/pre-commit"),
        "pre-commit",
    ),
    Swap(
        "a hook",
        "git -c user.name=t -c user.email=t@t commit -am x",
        several(repository, marked(".git/hooks/pre-commit", "shown")),
        marked(".git/hooks/pre-commit"),
    ),
    Swap(
        "a hook of a reading command",
        "git status",
        repository,
        marked(".git/hooks/post-index-change"),
        "post-index-change",
    ),
    Swap(
        "the place of hooks",
        "git status",
        several(repository, marked("h/post-index-change")),
        lambda w: w.git("config", "core.hooksPath", "h"),
        ".git/config",
    ),
    Swap(
        "a setting",
        "git status",
        repository,
        lambda w: (marked("evil")(w), w.git("config", "core.fsmonitor", "./evil")),
        ".git/config",
    ),
    Swap(
        "a script that a hook calls",
        "git -c user.name=t -c user.email=t@t commit -am x",
        several(
            repository,
            text(".git/hooks/pre-commit", "#!/bin/sh\nsh ci/check.sh\n", 0o755),
            text("ci/check.sh", "true\n"),
        ),
        text("ci/check.sh", RUN),
    ),
    Swap(
        "a setting of a submodule",
        "git status",
        with_submodule,
        lambda w: (marked("evil")(w), w.git("config", "core.fsmonitor", str(w.ws / "evil"), at="app/sub")),
        "",
        {"cwd": "app"},
    ),
    Swap(
        "a hook of a submodule",
        "git status",
        with_submodule,
        marked("app/.git/modules/sub/hooks/post-index-change"),
        "",
        {"cwd": "app"},
    ),
    Swap(
        "the repository",
        "git add -A",
        several(lambda w: w.repository("inner"), lambda w: w.repository("other")),
        lambda w: (w.remove("inner/.git"), w.write("inner/.git", f"gitdir: {w.ws}/other/.git\n")),
        "",
        {"cwd": "inner"},
    ),
    Swap(
        "the branch",
        "git push origin HEAD",
        repository,
        lambda w: w.git("checkout", "-q", "-b", "release"),
        ".git/HEAD",
    ),
    Swap("an attribute", "git diff", repository, text(".gitattributes", "* diff=evil\n"), ".gitattributes appeared"),
    # of the same kinds, further away
    Swap(
        "a test's settings",
        "python3 -m pytest sub/t.py",
        text("sub/t.py", ""),
        py("sub/conftest.py"),
        "sub/conftest.py",
    ),
    Swap("a module beside a piped program", "python3 < d/a.py", text("d/a.py", "import aid\n"), py("aid.py")),
    Swap("a program without its end", "node app", text("app.js", ""), text("app.js", "require('fs').rmSync('x')")),
    Swap("a folder that is a program", "python3 tool", py("tool/__main__.py", "shown"), py("tool/__main__.py")),
    Swap("code on the command line", "python3 -c 'exec(open(\"x.txt\").read())'", py("x.txt", "shown"), py("x.txt")),
    Swap("what a folder holds", "cp -r tpl copy", text("tpl/a/b", "shown"), text("tpl/a/b", "evil"), "tpl/a/b"),
    Swap("what is emptied", "rm -rf tpl", text("tpl/a", "shown"), text("tpl/mine", "precious"), "tpl/mine appeared"),
    Swap("a header", "cc main.c", text("main.c", '#include "a.h"\n'), text("a.h", "int x;\n"), "a.h appeared"),
    Swap("the code of a project", "cargo build", text("src/main.rs", ""), text("src/main.rs", "evil"), "src/main.rs"),
    Swap(
        "a lock file", "npm ci", text("package-lock.json", "{}"), text("package-lock.json", "[]"), "package-lock.json"
    ),
    Swap(
        "a list of a loop", "while read f; do rm -f $f; done < l", text("l", "a"), text("l", "../out/keep\n"), "l holds"
    ),
    Swap("a list of an archive", "tar cf a.tar -T l", text("l", "a"), text("l", "/etc/hostname\n"), "l holds"),
    Swap(
        "requirements",
        "pip install -r r.txt",
        several(text("r.txt", "-r b.txt\n"), text("b.txt", "")),
        text("b.txt", "evil\n"),
    ),
    Swap(
        "a branch that is merged",
        "git merge side",
        several(repository, lambda w: w.git("branch", "side")),
        with_commit("side"),
    ),
    Swap(
        "what a starter of hooks runs",
        f"{' '.join(GIT[:5])} commit -am x",
        several(
            repository,
            text(".husky/_/pre-commit", '#!/bin/sh\nsh "$(dirname "$0")/../$(basename "$0")"\n', 0o755),
            lambda w: w.git("config", "core.hooksPath", ".husky/_"),
            text(".husky/pre-commit", "true\n"),
        ),
        text(".husky/pre-commit", RUN),
        ".husky/pre-commit holds something else",
    ),
    Swap(
        "an alias",
        "git x",
        several(repository, lambda w: w.git("config", "alias.x", "!sh x.sh"), text("x.sh", "true\n")),
        text("x.sh", RUN),
        "x.sh holds something else",
    ),
    Swap(
        "a repository that is named",
        "git --git-dir=r/.git branch b",
        lambda w: w.repository("r"),
        marked("r/.git/hooks/reference-transaction"),
    ),
    Swap("a folder on PATH", "PATH=own:$PATH; frob", text("own/x", ""), marked("own/frob")),
    Swap("an exported PATH", "export PATH=$PWD/own:own:$PATH && frob", text("own/x", ""), marked("own/frob")),
    Swap("a program that is handed on", "env -u X nice frob", nothing, lambda w: w.write("frob", ""), ""),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "_"))
async def test_what_changed_since_it_was_shown_does_not_run(
    desk: OpenDesk, tmp_path: Path, rules: Rules, row: Swap
) -> None:
    rules(ASK)
    world = World(tmp_path)
    row.before(world)
    before, files = world.outside(), sorted(p for p in world.ws.rglob("*.log"))
    async with desk(tmp_path) as d:
        d.before = lambda ask: row.swap(world) and None
        refused = await d("bash", command=row.command, **row.more)
        assert len(d.asks) == 1, refused.summary
        assert (refused.ok, refused.code) == (False, "stale_file_baseline"), refused.summary
        assert "what was shown changed: " in refused.summary
        assert row.told in refused.summary
        assert "OUTSIDE SECRET" not in str(refused.content)
        assert d.events("tool.invocation.started") == []
    assert world.outside() == before
    assert world.ran() == []
    assert all(path.exists() for path in files)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "_"))
async def test_what_did_not_change_runs(desk: OpenDesk, tmp_path: Path, rules: Rules, row: Swap) -> None:
    rules(ASK)
    world = World(tmp_path)
    row.before(world)
    world.write("aside/notes.txt", "a\n")
    async with desk(tmp_path) as d:
        d.before = lambda ask: world.write("aside/notes.txt", "b\n") and None
        seen = await d("bash", command=row.command, timeout_s=20, **row.more)
        assert seen.code != "stale_file_baseline", seen.summary
        assert len(d.events("tool.invocation.started")) == 1
    assert "swapped" not in world.ran()


class TestPrograms:
    async def test_a_program_that_comes_first_on_path_is_not_run(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        for folder in ("a", "b"):
            (world.ws / folder).mkdir()
        world.script("b/tool", "shown")
        host = {"PATH": f"{world.ws}/a:{world.ws}/b:{os.environ['PATH']}"}
        async with desk(tmp_path, environment=host) as d:
            d.before = lambda ask: world.script("a/tool", "swapped") and None
            refused = await d("bash", command="tool --now")
            assert (refused.code, "tool leads to" in refused.summary) == ("stale_file_baseline", True)
            d.before = lambda ask: world.script("a/tool", "other") and None
            assert (await d("bash", command="true && sudo tool")).code == "stale_file_baseline"
            world.write("a/tool", "#!/usr/bin/env -S sh\n:\n", 0o755)
            d.before = lambda ask: world.script("a/sh", "swapped") and None
            assert "sh leads to" in (await d("bash", command="tool")).summary
        assert world.ran() == []

    async def test_a_program_that_appears_or_goes_is_told(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        (world.ws / "a").mkdir()
        async with desk(tmp_path, environment={"PATH": f"{world.ws}/a:{os.environ['PATH']}"}) as d:
            d.before = lambda ask: world.script("a/frobnicate", "swapped") and None
            refused = await d("bash", command="frobnicate")
            assert "frobnicate appeared" in refused.summary
        assert world.ran() == []


class TestTheDirectory:
    async def test_a_command_runs_in_the_very_folder_that_was_looked_at(self, desk: OpenDesk, tmp_path: Path) -> None:
        """The name is taken away after the last look, when nothing but the start itself is left."""
        world = World(tmp_path)
        folder_e(world)

        def confine(argv: list[str], cwd: str) -> list[str]:
            (world.ws / "e").rename(world.top / "moved")
            world.link("e", world.out)
            return argv

        async with desk(tmp_path, sandbox=Sandbox(no_sandbox().state, confine)) as d:
            seen = await d("bash", command="cat secret.txt; touch new", cwd="e")
            assert seen.content == "inside\n"
        assert (world.top / "moved/new").exists()
        assert not (world.out / "new").exists()


class TestOtherTools:
    async def test_a_file_tool_goes_where_it_was_shown_to_go(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        folder_e(world)
        async with desk(tmp_path) as d:
            d.before = lambda ask: to_outside("e")(world) and None
            refused = await d("write_file", path="e/new", content="x")
            assert (refused.ok, refused.code) == (False, "stale_file_baseline")
            world.remove("e")
            folder_e(world)
            d.before = lambda ask: replaced_folder("e")(world) and None
            refused = await d("write_file", path="e/new", content="x")
            assert (refused.ok, refused.code) == (False, "stale_file_baseline")
        assert world.outside() == {"keep": "kept\n", "secret.txt": "OUTSIDE SECRET\n"}
        assert not (world.ws / "e/new").exists()

    async def test_a_guarded_file_is_read_as_the_one_that_was_shown(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.write(".env", "KEY=1\n")
        async with desk(tmp_path) as d:

            def swap(ask: ToolPermission) -> None:
                world.remove(".env")
                os.link(world.out / "secret.txt", world.ws / ".env")

            d.before = swap
            refused = await d("read_file", path=".env")
            assert (refused.ok, refused.code) == (False, "stale_file_baseline")
            assert "OUTSIDE" not in str(refused.content)

    async def test_a_tool_that_is_no_longer_shown_does_not_run(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            registry = d.session.setting.registry

            def hide(ask: ToolPermission) -> None:
                registry._tools.pop("bash")

            d.before = hide
            refused = await d("bash", command="touch x")
            assert (refused.ok, refused.code) == (False, "unknown_tool")
            assert not (d.folder / "x").exists()


class TestWithoutAnAsk:
    @pytest.mark.parametrize("moment", ["tool.permission", "tool.scheduled"])
    async def test_what_a_rule_allowed_is_judged_anew_when_it_starts(
        self, desk: OpenDesk, tmp_path: Path, rules: Rules, moment: str
    ) -> None:
        rules(READS)
        world = World(tmp_path)
        folder_e(world)
        async with desk(tmp_path) as d:
            assert (await d("bash", command="cat e/secret.txt")).content == "inside\n"
            assert d.asks == []
            done: list[str] = []

            def swap(event: Any, line: bytes, offset: int) -> None:
                if event.type == moment and not done:
                    done.append(moment)
                    world.link("e", world.out)

            d.session.journal.subscribe(swap)
            d.answer = "deny"
            refused = await d("bash", command="cat e/secret.txt")
            assert (refused.code, len(d.asks)) == ("user_denied", 1)
            assert "what let this call pass holds no longer" in d.asks[0].reason

    async def test_a_change_while_the_start_is_recorded_is_seen_too(
        self, desk: OpenDesk, tmp_path: Path, rules: Rules
    ) -> None:
        rules(READS)
        world = World(tmp_path)
        folder_e(world)
        async with desk(tmp_path) as d:
            d.session.journal.subscribe(
                lambda event, line, offset: (
                    world.link("e", world.out) if event.type == "tool.invocation.started" else None
                )
            )
            refused = await d("bash", command="cat e/secret.txt")
            assert (refused.ok, refused.code, refused.content) == (False, "stale_file_baseline", None)
            assert d.events("tool.invocation.completed")[0]["exit"] == "error"

    async def test_what_an_earlier_call_changed_is_judged_as_it_is_then(
        self, desk: OpenDesk, tmp_path: Path, rules: Rules
    ) -> None:
        rules(READS)
        async with desk(tmp_path) as d:
            first = asyncio.create_task(d("bash", command="sleep 0.1; echo new > a.txt"))
            second = asyncio.create_task(d("bash", command="cat a.txt"))
            assert (await first).ok
            assert (await second).content == "new\n"
            allowed = [e for e in d.events("tool.permission") if e.get("decision") == "allow"]
            assert [e["facts"]["paths"][0]["kind"] for e in allowed] == ["missing", "file"]

    async def test_another_rule_that_asks_is_shown_before_it_runs(
        self, desk: OpenDesk, tmp_path: Path, rules: Rules
    ) -> None:
        rules("")
        async with desk(tmp_path) as d:

            def change(ask: ToolPermission) -> None:
                if len(d.asks) == 1:
                    rules('[[rule]]\nid = "careful"\neffect = "ask"\ncommand = "touch *"\nreason = "look twice"\n')

            d.before = change
            assert (await d("bash", command="touch x")).ok
            first, second = d.asks
            assert second.supersedes == first.ask_id
            assert "the rules changed since this was shown" in second.reason
            assert second.policy_ids == ("careful",)


class TestWhatIsNoChange:
    async def test_a_log_that_grows_is_still_the_log(self, desk: OpenDesk, tmp_path: Path, rules: Rules) -> None:
        rules(ASK)
        world = World(tmp_path)
        world.write("app.log", "one\n")

        def grow(ask: ToolPermission) -> None:
            with (world.ws / "app.log").open("a") as log:
                log.write("two\n")

        async with desk(tmp_path) as d:
            d.before = grow
            assert (await d("bash", command="cat app.log; tail -n1 app.log")).content == "one\ntwo\ntwo\n"
            assert (await d("bash", command="echo three >> app.log")).ok

    async def test_a_script_that_was_only_touched_is_the_same(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.write("run.sh", "echo ran\n")
        async with desk(tmp_path) as d:
            d.before = lambda ask: os.utime(world.ws / "run.sh", (1, 1))
            assert (await d("bash", command="sh run.sh")).content == "ran\n"


class TestByDefault:
    async def test_a_hook_that_a_reading_command_fires_is_asked_about(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.repository()
        async with desk(tmp_path) as d:
            d.answer = "deny"
            assert (await d("bash", command="git status")).ok
            world.script(".git/hooks/post-index-change", "swapped")
            assert (await d("bash", command="git status")).code == "user_denied"
            assert "post-index-change" in json.dumps(d.asks[0].facts) + d.asks[0].reason + str(d.asks[0].risks)
        assert world.ran() == []


class TestTheAsk:
    async def test_it_carries_what_the_call_stands_on(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.write("run.sh", "true\n")
        async with desk(tmp_path) as d:
            await d("bash", command="sh run.sh")
            await d("bash", command="sh run.sh")
            footing = [ask.facts["footing"] for ask in d.asks]
        assert footing[0]["digest"] == footing[1]["digest"]
        shown = {(item["what"], item["name"]): item for item in footing[0]["items"]}
        assert shown["order", "run.sh"]["content"]
        assert shown["program", "sh"]["real"] == os.path.realpath(str(shutil.which("sh")))

    async def test_names_that_are_no_text_and_very_many_names_can_be_recorded(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
        world = World(tmp_path)
        odd = os.fsdecode(b"n\xff.log")
        for name in (odd, *(f"long-name-of-a-file-{n}.log" for n in range(900))):
            world.write(name, "")
        async with desk(tmp_path) as d:
            d.before = lambda ask: world.write(odd, "other") and None
            refused = await d("bash", command="rm -f n*.log *.log")
            assert refused.code == "stale_file_baseline"
            assert "n\\udcff.log holds something else" in refused.summary
            [ask] = [e for e in d.events("tool.permission") if e["type"] == "tool.permission"]
            assert len(json.dumps(ask["facts"]["footing"])) < 30_000

    async def test_what_cannot_be_held_is_said(self, desk: OpenDesk, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.write("big.sh", "#\n" * 400_000)
        async with desk(tmp_path) as d:
            await d("bash", command="sh big.sh; cd $(pwd) && touch x")
            said = " ".join(d.asks[0].facts["footing"]["unbound"])
        assert "big.sh" in said
        assert "known only at run time" in said
