"""The look at the real machine: links, hard links, loops, patterns, repositories. (spec, RT-8; cases PA-005, PA-020, PA-022)"""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.tool import tool_kind
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide
from interlock.runtime.tools.git_place import find_git_place, program_settings
from interlock.runtime.tools.world import PosixWorld

NOW = datetime(2026, 1, 10, tzinfo=UTC)
READS = '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n'


@pytest.fixture
def proj(tmp_path: Path) -> Path:
    """A workspace with something beside it."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("key")
    (tmp_path / "proj" / "src").mkdir(parents=True)
    (tmp_path / "proj" / "a.txt").write_text("a")
    return tmp_path / "proj"


def judged(proj: Path, command: str = "", *, rules: str = READS, root: Path | None = None, **given: str) -> Decision:
    tool = given.pop("tool", "bash")
    kind = tool_kind(tool)
    arguments = {"command": command} if tool == "bash" else given
    cwd, home = str(root or proj), str(proj.parent / "home")
    call = Call(tool, arguments, cwd, (cwd,), home, kind.risks, kind.read_only)
    layer = load_layer(rules, file="r.toml", layer="user")
    assert layer.problems == ()
    return decide(call, with_built_in([layer]), PosixWorld(), (), NOW)


def test_a_link_inside_that_leads_out_is_outside(proj: Path) -> None:
    (proj / "out").symlink_to(proj.parent / "home")
    for command in ("cat out/.ssh/id_rsa", "ls out/", "cd out && cat x", "cat src/../out/x"):
        assert judged(proj, command).effect == "ask", command
    assert judged(proj, "cat a.txt src/../a.txt").effect == "allow"
    assert judged(proj, tool="write_file", path="out/new/deep/file").paths[0].inside is False


def test_a_pattern_is_what_it_stands_for(proj: Path) -> None:
    assert judged(proj, "cat *.txt").effect == "allow"
    (proj / "b.txt").symlink_to(proj.parent / "home" / ".ssh" / "id_rsa")
    assert judged(proj, "cat *.txt").effect == "ask"
    assert judged(proj, "cat a*").effect == "allow"


def test_a_root_that_is_itself_a_link_is_a_root(proj: Path) -> None:
    (proj.parent / "link").symlink_to(proj)
    assert judged(proj, "cat a.txt", root=proj.parent / "link").effect == "allow"
    assert judged(proj, f"cat {proj}/a.txt", root=proj.parent / "link").effect == "allow"


def test_a_file_with_two_names_is_flagged_when_it_would_be_changed(proj: Path) -> None:
    """PA-005."""
    os.link(proj.parent / "home" / ".ssh" / "id_rsa", proj / "h")
    seen = judged(proj, tool="edit_file", path="h")
    assert seen.effect == "ask"
    assert "2 names" in seen.reason
    assert "2 names" in " ".join(judged(proj, "echo x > h").risks)


def test_a_loop_of_links_asks_and_says_so(proj: Path) -> None:
    """PA-020."""
    (proj / "a").symlink_to("b")
    (proj / "b").symlink_to("a")
    seen = judged(proj, tool="read_file", path="a")
    assert (seen.effect, "too many links" in seen.reason) == ("ask", True)


def test_a_pipe_or_a_name_too_long_holds_nothing_up(proj: Path) -> None:
    os.mkfifo(proj / "pipe")
    assert judged(proj, tool="read_file", path="pipe").paths[0].kind == "other"
    assert judged(proj, tool="read_file", path="x" * 5000).effect == "ask"


def git(folder: Path, *words: str) -> None:
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, env=own, check=True, capture_output=True, timeout=60)


def test_a_plain_repository_is_the_workspaces_own(proj: Path) -> None:
    git(proj, "init", "-q")
    assert judged(proj, "git status && git log -3").effect == "allow"
    assert judged(proj, "cd src && git status").effect == "allow"


def test_a_git_file_that_names_another_repository_asks(proj: Path) -> None:
    """PA-022: nothing is trusted because of what the file says."""
    trusted = proj.parent / "trusted"
    trusted.mkdir()
    git(trusted, "init", "-q")
    (proj / ".git").write_text(f"gitdir: {trusted}/.git\n")
    seen = judged(proj, "git status")
    assert (seen.effect, seen.source) == ("ask", "path boundary")
    assert str(trusted) in seen.reason
    assert judged(proj, "git commit -m x", rules='allow = ["git *"]\n').effect == "ask"


def test_a_worktree_asks_for_its_common_directory_too(proj: Path) -> None:
    main = proj.parent / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", str(proj / "tree"))
    place = find_git_place(str(proj / "tree"))
    assert place is not None
    assert len(place.folders) == 2
    assert judged(proj, "cd tree && git status").effect == "ask"
    assert judged(proj, "git -C tree status").effect == "ask"


def test_a_folder_that_looks_like_a_repository_asks(proj: Path) -> None:
    """A checked-in bare repository brings its own settings."""
    (proj / "sub").mkdir()
    git(proj / "sub", "init", "-q", "--bare")
    seen = judged(proj, "cd sub && git status")
    assert seen.effect == "ask"
    assert "checked in" in seen.reason


@pytest.mark.parametrize(
    "setting",
    ["core.fsmonitor=./x", "diff.a.textconv=./x", "core.pager=./x", "filter.a.clean=./x", "include.path=../x"],
)
def test_settings_that_start_a_program_ask_and_are_named(proj: Path, setting: str) -> None:
    git(proj, "init", "-q")
    name, _, value = setting.partition("=")
    git(proj, "config", name, value)
    seen = judged(proj, "git status")
    assert seen.effect == "ask"
    assert name.lower() in seen.reason.lower()
    assert judged(proj, "git status", rules='allow = ["git *"]\n').effect == "ask"


def test_settings_of_everyday_do_not_ask(proj: Path) -> None:
    text = '[core]\n\tbare = false\n\tfsmonitor = true\n[remote "o"]\n\turl = x\n'
    text += '[filter "lfs"]\n\tprocess = git-lfs filter-process\n'
    assert program_settings(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "[core] fsmonitor = ./x",
        "[CORE]\nFsMonitor=./x",
        '[core]\nfsmonitor = "./x"',
        "[core]\nfsmon\\\nitor = x\n[core]\nfsmonitor = ./\\\nx",
        '[diff "a b"]\n  command = ./x',
        "[alias]\n[core]\n;c\npager = evil",
        '[filter "lfs"]\nprocess = git-lfs x; ./y',
    ],
)
def test_a_setting_is_found_however_it_is_written(text: str) -> None:
    assert program_settings(text)


def test_what_cannot_be_read_asks(proj: Path) -> None:
    (proj / ".git").write_text("no pointer\n")
    assert judged(proj, "git status").effect == "ask"
    (proj / ".git").unlink()
    os.mkfifo(proj / ".git")
    assert judged(proj, "git status").effect == "ask"


def test_one_decision_sees_one_machine(proj: Path) -> None:
    class Changing(PosixWorld):
        looks = 0

        def resolve(self, path: str):
            if path.endswith("a.txt"):
                self.looks += 1
            return super().resolve(path)

        def resolve_in(self, folder: str, name: str):
            self.looks += name == "a.txt"
            return super().resolve_in(folder, name)

    world = Changing()
    call = Call(
        "bash", {"command": "cat a.txt; cat a.txt a.txt"}, str(proj), (str(proj),), "/h", frozenset(("execute",))
    )
    decide(call, with_built_in([]), world, (), NOW)
    assert world.looks == 1


def test_one_step_from_a_folder_says_what_the_whole_way_says(proj: Path) -> None:
    """ours: a decision takes the short way where no link is, and no other."""
    (proj / "folder").mkdir()
    (proj / "file").write_text("x")
    os.link(proj / "file", proj / "second")
    os.mkfifo(proj / "pipe")
    (proj / "link").symlink_to("/etc")
    (proj / "loop").symlink_to("loop")
    world, root = PosixWorld(), os.path.realpath(proj)
    for name in ("folder", "file", "second", "pipe", "missing"):
        assert world.resolve_in(root, name) == world.resolve(f"{root}/{name}")
    assert world.resolve_in(root, "link") is None
    assert world.resolve_in(root, "loop") is None
    assert world.resolve_in(root, "x" * 5_000) is None
    assert judged(proj, "cat link/passwd").effect == "ask"


def test_an_empty_git_folder_is_passed_over_as_git_does(proj: Path) -> None:
    """ours: the repository above is the one that git would work on."""
    git(proj, "init", "-q")
    inner = proj / "inner"
    (inner / ".git").mkdir(parents=True)
    place = find_git_place(os.path.realpath(inner))
    assert place is not None
    assert place.folders == (f"{os.path.realpath(proj)}/.git",)
    (inner / ".git" / "commondir").write_text("../../.git\n")
    place = find_git_place(os.path.realpath(inner))
    assert place is not None
    assert place.folders[0] == f"{os.path.realpath(inner)}/.git"
