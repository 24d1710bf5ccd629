"""`connect` and `disconnect` over settings as people have them: nothing of theirs changes, undo is exact (AG-2)."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.gates.connect import file as connect_file
from interlock.runtime.gates.connect.act import connect, disconnect, settle
from interlock.runtime.gates.connect.agent import AGENTS, Choice, plan_for
from interlock.runtime.gates.connect.file import FileRefused
from interlock.runtime.gates.connect.plan import Plan, is_marked
from interlock.runtime.gates.connect.receipt import all_receipts, home, load
from interlock.runtime.gates.service.config import ServiceConfig, ensure_config
from interlock.runtime.gates.settings import jsonc

BOM = b"\xef\xbb\xbf"
HUGE = {f"key {number}": {"n": [number, {"deep": "x" * 40}]} for number in range(5000)}
JSON_FILES: dict[str, bytes] = {
    "plain": b'{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(npm test:*)"], "deny": []}\n}\n',
    "tabs": b'{\n\t"env": {\n\t\t"FOO": "1"\n\t},\n\t"theme": "dark"\n}\n',
    "four spaces, no final newline": b'{\n    "statusLine": {\n        "type": "command"\n    }\n}',
    "crlf": b'{\r\n  "model": "x",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    "bom": BOM + b'{\n  "a": 1\n}\n',
    "comments and trailing commas": b"""// my settings
{
  // what I like
  "model": "x", /* fast */
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}, // keep it
    ], // all of them
  },
}
// the end
""",
    "existing hooks": b"""{
  "hooks": {
    "PermissionRequest": [
      {
        "matcher": "Write",
        "hooks": [
          { "type": "command", "command": "logger" }
        ]
      }
    ],
    "BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "check"}]}],
    "SessionEnd": []
  },
  "z": null
}
""",
    "one line": b'{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"beep"}]}]}}',
    "an empty object": b"{}\n",
    "an empty file": b"",
    "only a comment": b"// nothing yet\n",
    "other alphabets and escapes": '{"name": "Zoë \\u00e9 \\"q\\" \\ud83d\\ude00 日本"}\n'.encode(),
    "huge": json.dumps(HUGE, indent=1).encode(),
}
TOML_FILES: dict[str, bytes] = {
    "plain": b'model = "gpt-5.5"\napproval_policy = "on-request"\n\n[projects."/home/u/p"]\ntrust_level = "trusted"\n',
    "comments": b'# mine\nmodel = "x" # fast\n\n# servers\n[mcp_servers.a]\ncommand = "a" # why\n# the end\n',
    "crlf": b'model = "x"\r\n\r\n[features]\r\nweb = true\r\n',
    "bom": BOM + b'model = "x"\n',
    "tabs, no final newline": b"[tui]\n\tnotifications = true",
    "nested inline tables": (
        b'a = { b = { c = [1, { d = "}" }] }, e = "#" }\nshell = { policy = { inherit = "all", set = { X = "1" } } }\n'
    ),
    "existing hooks": (
        b'[[hooks.PreToolUse]]\nmatcher = "Bash"\n\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "mine" # keep\n\n'
        b'[hooks.state."/x:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n\n[tui]\ntheme = "d"\n'
    ),
    "hooks in an inline table": (
        b'hooks = { PreToolUse = [{ hooks = [{ type = "command", command = "mine" }] }] } # mine\n[tui]\nx = 1\n'
    ),
    "hooks in an array": (
        b"[hooks]\nPermissionRequest = [\n  # first\n"
        b'  { matcher = "*", hooks = [ { type = "command", command = "m" } ] }, # one\n]\n'
    ),
    "dotted": b'hooks.Stop = [{ hooks = [] }]\ntools.web_search = true\nmodel.name = "x"\n',
    "long texts": b'instructions = """\n[[hooks.PreToolUse]]\n# no hook\n"""\nother = \'\'\'a "b" \\\'\'\'\n',
    "an empty file": b"",
    "only a comment": b"# nothing",
    "huge": b"".join(b'[projects."/p/%d"]\ntrust_level = "trusted"\n' % number for number in range(3000)),
}
CASES = [(agent, name, data) for agent in ("claude", "gemini", "opencode") for name, data in JSON_FILES.items()] + [
    ("codex", name, data) for name, data in TOML_FILES.items()
]


@pytest.fixture
def service(machine: Any) -> ServiceConfig:
    return ensure_config()


def env_of(machine: Any) -> dict[str, str]:
    return {"HOME": str(machine.root / "home")}


def plan(agent: str, machine: Any, service: ServiceConfig, **more: Any) -> Plan:
    return plan_for(agent, env_of(machine), service, choice=Choice(ask_first=True), **more)


def tree(root: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every file and folder with its mode and bytes."""
    found = {}
    for path in sorted(root.rglob("*")):
        found[str(path)] = (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
    return found


def undo(agent: str, path: Path) -> list[str]:
    receipt = load(agent, path)
    assert receipt is not None
    return disconnect(receipt)


@pytest.mark.parametrize(("agent", "name", "data"), CASES, ids=[f"{a}: {n}" for a, n, _ in CASES])
def test_connecting_keeps_all_that_is_there_and_disconnecting_is_exact(
    machine: Any, service: ServiceConfig, agent: str, name: str, data: bytes
) -> None:
    path = AGENTS[agent].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    path.chmod(0o640)
    before = tree(machine.root / "home")
    connect(plan(agent, machine, service))
    after = path.read_bytes()
    assert after.startswith(BOM) == data.startswith(BOM)
    assert (b"\r\n" in after) == (b"\r\n" in data)
    assert after.count(b"\n") == after.count(b"\r\n") or b"\r\n" not in data
    _all_there(data, after, toml=agent == "codex")
    assert path.stat().st_mode & 0o777 == 0o640
    assert not plan(agent, machine, service).needed
    undo(agent, path)
    assert tree(machine.root / "home") == before
    assert not home().exists()


def _all_there(data: bytes, after: bytes, *, toml: bool) -> None:
    """What was said is still said, and every line of it is still there in its order."""
    old_text, new_text = data.decode("utf-8-sig"), after.decode("utf-8-sig")
    if toml:
        old, new = tomllib.loads(old_text), tomllib.loads(new_text)
    else:
        old_node, new_node = jsonc.parse(old_text), jsonc.parse(new_text)
        assert new_node is not None
        old, new = (old_node.value if old_node else {}), new_node.value
    assert {key: value for key, value in new.items() if key in old and key not in ("hooks", "env")} == {
        key: value for key, value in old.items() if key not in ("hooks", "env")
    }
    for event, groups in old.get("hooks", {}).items():
        theirs = new["hooks"][event]
        assert theirs == groups or theirs[: len(groups)] == groups
    if not toml and old_text.count("\n") > 1:
        rest = iter(new_text.splitlines())
        for line in old_text.splitlines():
            told = line.strip().rstrip(",").rstrip("]} ")
            assert not told or any(told in one for one in rest), line


@pytest.mark.parametrize("agent", list(AGENTS))
def test_what_was_not_there_before_is_gone_again_with_its_folders(
    machine: Any, service: ServiceConfig, agent: str
) -> None:
    before = tree(machine.root / "home")
    connect(plan(agent, machine, service))
    assert tree(machine.root / "home") != before
    undo(agent, AGENTS[agent].config(env_of(machine)))
    assert tree(machine.root / "home") == before


@pytest.mark.parametrize(
    ("agent", "data", "edit"),
    [
        ("claude", JSON_FILES["comments and trailing commas"], (b'"x", /* fast */', b'"y", /* slow */')),
        ("claude", JSON_FILES["crlf"], (b'"model": "x"', b'"model": "y"')),
        ("gemini", JSON_FILES["existing hooks"], (b'"z": null', b'"z": 1, "more": []')),
        ("opencode", JSON_FILES["tabs"], (b"dark", b"light")),
        ("codex", TOML_FILES["existing hooks"], (b'theme = "d"', b'theme = "l" # now')),
        ("codex", TOML_FILES["hooks in an inline table"], (b"x = 1", b"x = 2")),
        ("codex", TOML_FILES["hooks in an array"], (b"# first", b"# changed")),
        ("codex", TOML_FILES["plain"], (b"on-request", b"never")),
    ],
)
def test_after_an_edit_of_the_user_only_our_entries_go(
    machine: Any, service: ServiceConfig, agent: str, data: bytes, edit: tuple[bytes, bytes]
) -> None:
    path = AGENTS[agent].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    connect(plan(agent, machine, service))
    path.write_bytes(path.read_bytes().replace(*edit))
    told = undo(agent, path)
    left = path.read_bytes()
    assert left == data.replace(*edit)
    assert any("your edits kept" in line for line in told)


def test_a_hook_that_the_user_put_into_our_group_stays(machine: Any, service: ServiceConfig) -> None:
    path = AGENTS["claude"].config(env_of(machine))
    connect(plan("claude", machine, service))
    value = json.loads(path.read_text())
    value["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "mine"})
    path.write_text(json.dumps(value, indent=2))
    undo("claude", path)
    assert json.loads(path.read_text()) == {
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "mine"}]}]}
    }


def test_a_file_made_by_us_and_filled_by_the_user_is_kept(machine: Any, service: ServiceConfig) -> None:
    path = AGENTS["codex"].config(env_of(machine))
    connect(plan("codex", machine, service))
    path.write_text('model = "x"\n\n' + path.read_text())
    undo("codex", path)
    assert path.read_text() == 'model = "x"\n'


def test_an_older_version_of_our_hooks_is_replaced_and_the_first_bytes_come_back(
    machine: Any, service: ServiceConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = AGENTS["claude"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    data = JSON_FILES["comments and trailing commas"]
    path.write_bytes(data)
    older = {"type": "http", "url": "http://127.0.0.1:4711/claude", "headers": {"X-Interlock-Key": "k"}, "timeout": 60}
    with monkeypatch.context() as before:
        hooks = {"PermissionRequest": [{"matcher": "*", "hooks": [older]}]}
        before.setattr("interlock.runtime.gates.claude.settings.claude_hooks", lambda: hooks)
        connect(plan("claude", machine, service))
    assert b"4711" in path.read_bytes()
    again = plan("claude", machine, service)
    assert len(again.needed) == 1
    connect(again)
    node = jsonc.parse(path.read_text())
    assert node is not None
    ours = [h for g in node.value["hooks"]["PermissionRequest"] for h in g["hooks"] if is_marked(h)]
    assert [hook["type"] for hook in ours] == ["command"]
    assert b"4711" not in path.read_bytes()
    undo("claude", path)
    assert path.read_bytes() == data
    assert not home().exists()


def test_without_a_receipt_our_hooks_are_known_again(machine: Any, service: ServiceConfig) -> None:
    connect(plan("gemini", machine, service))
    for kept in home().iterdir():
        kept.unlink()
    assert not plan("gemini", machine, service).needed


def test_a_linked_file_is_changed_where_it_lies_and_the_link_stays(machine: Any, service: ServiceConfig) -> None:
    path = AGENTS["claude"].config(env_of(machine))
    real = machine.root / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_bytes(JSON_FILES["plain"])
    path.parent.mkdir(parents=True)
    path.symlink_to(os.path.relpath(real, path.parent))
    connect(plan("claude", machine, service))
    assert path.is_symlink()
    assert b"PermissionRequest" in real.read_bytes()
    undo("claude", path)
    assert path.is_symlink()
    assert real.read_bytes() == JSON_FILES["plain"]


def _read_only(path: Path) -> None:
    path.write_bytes(b"{}\n")
    path.chmod(0o444)


def _read_only_folder(path: Path) -> None:
    path.parent.chmod(0o555)


def _dangling(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _two_names(path: Path) -> None:
    path.write_bytes(b"{}\n")
    os.link(path, path.with_name("other"))


def _fifo(path: Path) -> None:
    os.mkfifo(path)


UNUSABLE = {
    "read-only": (_read_only, "read-only"),
    "read-only folder": (_read_only_folder, "read-only"),
    "dangling": (_dangling, "does not exist"),
    "loop": (_loop, "circle"),
    "two names": (_two_names, "2 names"),
    "a folder": (lambda path: path.mkdir(), "Is a directory"),
    "a pipe": (_fifo, "no regular file"),
    "malformed": (lambda path: path.write_bytes(b'{"a": 1,\n  "b" 2}'), "line 2, column 7"),
    "cut off": (lambda path: path.write_bytes(b'{"a": ['), "the end of the file"),
    "no UTF-8": (lambda path: path.write_bytes(b'{"a": "\xff"}'), "byte 7"),
    "a list": (lambda path: path.write_bytes(b"[1]"), "must be an object"),
    "hooks are a text": (lambda path: path.write_bytes(b'{"hooks": "x"}'), "must be an object"),
    "a key twice": (lambda path: path.write_bytes(b'{"a": 1, "a": 2}'), "twice"),
    "too deep": (lambda path: path.write_bytes(b"[" * 5000), "deeper"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_cannot_be_used_is_told_and_nothing_is_changed(
    machine: Any, service: ServiceConfig, name: str
) -> None:
    spoil, word = UNUSABLE[name]
    path = AGENTS["claude"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    spoil(path)
    before = tree(machine.root / "home")
    try:
        with pytest.raises(FileRefused) as refused:
            connect(plan("claude", machine, service))
        assert str(path) in str(refused.value)
        assert word in str(refused.value)
        assert tree(machine.root / "home") == before
        assert load("claude", path) is None
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"model = \n", "line 1, column"),
        (b"a = 1\na = 2\n", "overwrite"),
        (b'hooks = "x"\n', "hooks"),
        (b"[hooks]\nPreToolUse = 1\n", "hooks"),
    ],
)
def test_a_malformed_toml_file_is_told(machine: Any, service: ServiceConfig, data: bytes, word: str) -> None:
    path = AGENTS["codex"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(FileRefused) as refused:
        plan("codex", machine, service)
    assert word in str(refused.value)
    assert path.read_bytes() == data


def test_a_file_that_changes_after_it_was_shown_is_not_replaced(machine: Any, service: ServiceConfig) -> None:
    path = AGENTS["claude"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}\n")
    shown = plan("claude", machine, service)
    path.write_bytes(b'{"new": 1}\n')
    with pytest.raises(FileRefused, match="changed by somebody else"):
        connect(shown)
    assert path.read_bytes() == b'{"new": 1}\n'
    assert load("claude", path) is None


def test_a_fault_at_the_second_file_puts_the_first_one_back(machine: Any, service: ServiceConfig) -> None:
    before = tree(machine.root / "home")
    shown = plan("gemini", machine, service)
    appeared = machine.root / "home" / ".gemini" / "policies" / "interlock.toml"
    appeared.parent.mkdir(parents=True)
    appeared.write_text("a file in the way")
    with pytest.raises(FileRefused, match="changed by somebody else"):
        connect(shown)
    assert appeared.read_text() == "a file in the way"
    appeared.unlink()
    appeared.parent.rmdir()
    appeared.parent.parent.rmdir()
    assert tree(machine.root / "home") == before
    assert all_receipts() == []


def test_the_agents_own_variables_say_where_its_settings_lie(machine: Any) -> None:
    root = str(machine.root)
    assert AGENTS["claude"].config({"CLAUDE_CONFIG_DIR": f"{root}/c"}) == machine.root / "c" / "settings.json"
    assert AGENTS["codex"].config({"CODEX_HOME": f"{root}/x"}) == machine.root / "x" / "config.toml"
    assert (
        AGENTS["opencode"].config({"XDG_CONFIG_HOME": f"{root}/g"}) == machine.root / "g" / "opencode" / "opencode.json"
    )
    (machine.root / "g" / "opencode").mkdir(parents=True)
    (machine.root / "g" / "opencode" / "opencode.jsonc").touch()
    assert AGENTS["opencode"].config({"XDG_CONFIG_HOME": f"{root}/g"}).suffix == ".jsonc"
    assert AGENTS["gemini"].config({"HOME": root}) == machine.root / ".gemini" / "settings.json"


def test_codex_hooks_go_where_its_hooks_are(machine: Any, service: ServiceConfig) -> None:
    beside = AGENTS["codex"].config(env_of(machine)).with_name("hooks.json")
    beside.parent.mkdir(parents=True)
    data = b'{"hooks": {"Stop": []}}\n'
    beside.write_bytes(data)
    connect(plan("codex", machine, service))
    assert not beside.with_name("config.toml").exists()
    assert json.loads(beside.read_bytes())["hooks"]["PermissionRequest"]
    undo("codex", AGENTS["codex"].config(env_of(machine)))
    assert beside.read_bytes() == data


@pytest.mark.parametrize("config", [None, b'model = "x"\n'])
def test_trust_that_codex_writes_beside_goes_with_our_hooks(
    machine: Any, service: ServiceConfig, config: bytes | None
) -> None:
    path = AGENTS["codex"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.with_name("hooks.json").write_bytes(b"{}")
    if config is not None:
        path.write_bytes(config)
    before = tree(machine.root / "home")
    receipt = connect(plan("codex", machine, service))
    path.write_bytes((config or b"") + b'[hooks.state."k:0"]\ntrusted_hash = "sha256:1"\n')
    path.chmod(0o644)
    settle(receipt, path, ("k:0",))
    assert not plan("codex", machine, service).needed
    undo("codex", path)
    assert tree(machine.root / "home") == before


def test_a_file_of_somebody_else_in_our_place_is_not_touched(machine: Any, service: ServiceConfig) -> None:
    place = machine.root / "home" / ".gemini" / "policies" / "interlock.toml"
    place.parent.mkdir(parents=True)
    place.write_text("# mine\n")
    with pytest.raises(FileRefused, match="not ours"):
        plan("gemini", machine, service)


def test_opencode_settings_that_name_permissions_are_left_alone(machine: Any, service: ServiceConfig) -> None:
    path = AGENTS["opencode"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_text('{"permission": {"bash": "deny"}}')
    changed = [change.target.path for change in plan("opencode", machine, service).needed]
    assert changed == [path.parent / "plugin" / "interlock.js"]


def test_a_file_above_the_bound_is_refused(
    machine: Any, service: ServiceConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect_file, "MOST_BYTES", 10)
    path = AGENTS["claude"].config(env_of(machine))
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"a": "bcdefgh"}')
    with pytest.raises(FileRefused, match="larger"):
        plan("claude", machine, service)
