"""What binds an agent is out of its reach, and what a person answered before stands in for no managed ask."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call, GitPlace, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import LayerName
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide
from interlock.runtime.tools.world import PosixWorld

NOW = datetime(2026, 1, 10, tzinfo=UTC)
ALL = '[[rule]]\nid = "a"\neffect = "allow"\nprogram = "*"\noutside_too = true\nguarded_too = true\n'
READS = '[[rule]]\nid = "r"\neffect = "allow"\nread_only = true\ninside = true\n'
READS += '[[rule]]\nid = "s"\neffect = "deny"\npath = "secrets/**"\n'
OWN = ("/home/u/.local/state/interlock", "/home/u/.config/interlock", "/run/user/1000/interlock")


def judged(
    command: str, rules: str = ALL, world: MemoryWorld | PosixWorld | None = None, root: str = "/w/proj"
) -> Decision:
    layer = load_layer(rules, file="r.toml", layer="user")
    assert layer.problems == ()
    risks = frozenset(("execute",))
    call = Call("bash", {"command": command}, root, (root,), "/home/u", risks, protected=OWN)
    return decide(call, with_built_in([layer]), world or MemoryWorld(), (), NOW)


@pytest.mark.parametrize(
    "command",
    [
        "interlock answer ab12 allow", "interlock answer --message x ab12 allow", "interlock -s x answer a allow",
        "/usr/local/bin/interlock answer a allow", "sudo -u u interlock answer a allow", "env A=b interlock answer a allow",
        "sh -c 'interlock answer a allow'", "interlock policy trust", "interlock policy trust --yes",
        "yes | interlock policy trust",
        "interlock policy revoke g_1", "interlock connect claude", "interlock disconnect claude", "interlock screen",
        "python -m interlock.runtime.cli answer a allow", "python3.12 -m interlock.runtime.cli.main policy trust",
        "uv run interlock answer a allow", "uvx interlock@latest answer a allow", "pipx run interlock policy trust",
        "echo a | xargs -I{} interlock answer {} allow", "$(which interlock) answer a allow; interlock answer a deny",
        "nohup interlock answer a allow &", "timeout 5 interlock disconnect codex", "f() { interlock answer a allow; }; f",
    ],
)  # fmt: skip
def test_an_agent_answers_and_trusts_nothing_itself(command: str) -> None:
    seen = judged(command)
    assert seen.effect == "deny"
    assert "own-commands" in seen.policy_ids


@pytest.mark.parametrize(
    "command",
    ["interlock sessions", "interlock policy check ls", "interlock asks", "interlock policy grants", "interlock --help"],
)  # fmt: skip
def test_commands_of_ours_that_only_read_follow_the_rules(command: str) -> None:
    assert judged(command).effect == "allow"
    assert judged(command, rules="").effect == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "socat - UNIX-CONNECT:/run/user/1000/interlock/a.sock", "nc -U /run/user/1000/interlock/a.sock",
        "curl --unix-socket /run/user/1000/interlock/a.sock http://x/", "ls /run/user/1000/interlock",
        "python3 -c 'import socket; s = socket.socket(1); s.connect(\"/run/user/1000/interlock/a.sock\")'",
        "python3 <<'E'\nopen('/home/u/.local/state/interlock/x', 'w')\nE", "echo x > ~/.config/interlock/policy.toml",
    ],
)  # fmt: skip
def test_our_folders_and_sockets_are_denied_however_they_are_named(command: str) -> None:
    seen = judged(command)
    assert (seen.effect, seen.policy_ids[0]) == ("deny", "own-files")


@pytest.mark.parametrize(
    "path", ["interlock-policy.toml", ".interlock/policy.toml", "Interlock-Policy.TOML", "interlock.toml"]
)
def test_a_projects_rules_are_changed_by_a_person_alone(path: str) -> None:
    """PA-017: from the agent's side always denied, whatever the mode and the rules."""
    rules = 'mode = "accept-edits"\n[[rule]]\nid = "w"\neffect = "allow"\npath = "**"\nguarded_too = true\n'
    layer = load_layer(rules, file="r.toml", layer="user")
    for tool in ("write_file", "edit_file"):
        risks = frozenset(("write",))
        call = Call(tool, {"path": path}, "/w/proj", ("/w/proj",), "/home/u", risks, protected=OWN)
        grant = Grant("g", tool, "path", f"/w/proj/{path}", "/w/proj")
        seen = decide(call, with_built_in([layer]), MemoryWorld(), (grant,), NOW)
        assert (seen.effect, seen.policy_ids) == ("deny", ("own-rules",))
    for command in (f"echo x >> {path}", f"cp a {path}", f"sed -i s/a/b/ {path}", f"rm {path}", f"tee {path}"):
        assert judged(command).effect == "deny", command
    assert judged(f"cat {path}", rules=READS).effect == "allow"


def _granted(command: str, files: dict[LayerName, str]) -> str:
    layers = [load_layer(text, file=f"{name}.toml", layer=name) for name, text in files.items()]
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    grant = Grant("g", "bash", "command", command, "/w/proj")
    return decide(call, with_built_in(layers), MemoryWorld(), (grant,), NOW).effect


def test_an_answer_for_this_very_command_answers_a_users_ask_but_no_managed_one_and_no_deny() -> None:
    """PO-1, in every order of layers and parts."""
    assert _granted("npm publish", {"user": 'ask = ["npm publish"]'}) == "allow"
    assert _granted("npm publish", {"project": 'ask = ["npm publish"]'}) == "allow"
    assert _granted("npm publish", {"user": 'ask = ["npm publish"]', "managed": 'ask = ["npm *"]'}) == "ask"
    assert _granted("make; npm publish", {"user": 'ask = ["make"]', "managed": 'ask = ["npm *"]'}) == "ask"
    assert _granted("npm publish; make", {"project": 'ask = ["npm *"]', "managed": 'ask = ["make"]'}) == "ask"
    assert _granted("make; npm publish", {"user": 'ask = ["make"]', "project": 'deny = ["npm *"]'}) == "deny"


# -- a workspace in a part of a repository


def _sub(**more: object) -> MemoryWorld:
    kinds = {"/w/proj": "folder", "/w/proj/part": "folder", "/w/proj/part/a": "file", "/w/proj/other": "folder"}
    return MemoryWorld(kinds=kinds, git={"/w/proj": GitPlace(("/w/proj/.git",), **more)})  # type: ignore[arg-type]


def test_git_may_read_the_repository_that_holds_the_workspace() -> None:
    for command in (
        "git status",
        "git diff --stat",
        "git log --oneline -5",
        "git show HEAD:part/a",
        "git log -- a",
        "git diff a",
    ):
        seen = judged(command, READS, _sub(), "/w/proj/part")
        assert seen.effect == "allow", (command, seen.reason)


@pytest.mark.parametrize(
    "command",
    ["git show HEAD:other/x", "git log -p -- ../other", "git diff -- :/other", "git diff ':(top)other'", "git -C .. status",
     "git commit -m x", "git show HEAD:../other/x"],
)  # fmt: skip
def test_what_git_names_outside_the_workspace_asks(command: str) -> None:
    assert judged(command, READS, _sub(), "/w/proj/part").effect == "ask"


def test_git_asks_where_the_repository_starts_programs_or_is_not_the_workspaces() -> None:
    assert judged("git status", READS, _sub(programs=("core.fsmonitor = x",)), "/w/proj/part").effect == "ask"
    assert judged("git status", READS, _sub(bare=True), "/w/proj/part").effect == "ask"
    spoofed = MemoryWorld(git={"/w/proj/part": GitPlace(("/elsewhere/.git",))})
    assert judged("git status", READS, spoofed, "/w/proj/part").effect == "ask"
    tree = MemoryWorld(git={"/w/proj/part": GitPlace(("/w/proj/.git/worktrees/x", "/w/proj/.git"))})
    assert judged("git status", READS, tree, "/w/proj/part").effect == "ask"
    home = MemoryWorld(git={"/home": GitPlace(("/home/u/.git",))})
    assert judged("git status", READS, home, "/home/u/proj").effect == "ask"


@pytest.mark.parametrize(
    "command",
    ["git show HEAD:secrets/key", "git diff -- secrets/key", "git log -p -- secrets/key", "git show v1:secrets/key | head",
     "cd src && git show HEAD:secrets/key", "cd src && git show HEAD:./../secrets/key", "git diff ':(top)secrets/key'"],
)  # fmt: skip
def test_a_deny_of_files_also_holds_for_what_git_has_of_them(command: str) -> None:
    world = MemoryWorld(kinds={"/w/proj": "folder"}, git={"/w/proj": GitPlace(("/w/proj/.git",))})
    assert judged(command, READS, world).effect == "deny"


def test_a_part_of_a_real_repository_is_read_without_a_question(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path)) / "top"
    (top / "part").mkdir(parents=True)
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q"], cwd=top, env=own, check=True, timeout=60)
    part = str(top / "part")
    assert judged("git status && git diff --stat", READS, PosixWorld(), part).effect == "allow"
    subprocess.run(["git", "config", "core.fsmonitor", "./x"], cwd=top, env=own, check=True, timeout=60)
    assert judged("git status", READS, PosixWorld(), part).effect == "ask"
