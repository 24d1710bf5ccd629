"""Input of a call and a manifest that cannot be taken."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "must be a JSON object, not list"),
        ("null", "must be a JSON object"),
        ('{"command": NaN}', "NaN is no JSON value"),
        ('{"command": "ls", "command": "rm -rf x"}', "'command' stands twice"),
        ('{"a": ' + "[" * 100_000, "not JSON"),
        ('{"timeout_s": ' + "9" * 5000 + "}", "not JSON"),
        ("{'command': 'ls'}", "single quotes"),
    ],
)
def test_input_that_is_not_json_is_a_mistake_of_the_command_line(
    text: str, words: str, house: House, interlock: Interlock
) -> None:
    interlock.call("bash", text, "--answer", "allow").fails(words, code=2)
    assert house.ids() == []


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("no_such_tool", {}, "no_such_tool"),
        ("bash", {}, "command"),
        ("bash", {"command": 3}, "command"),
        ("bash", {"command": "ls", "more": 1}, "more"),
        ("bash", {"command": "echo \ud800"}, "command"),
        ("read_file", {"path": json.loads("[" * 400 + "]" * 400)}, "path"),
        ("read_file", {"path": "x" * 4000}, "x"),
        ("write_file", {"path": "x" * 4000, "content": ""}, "x"),
        ("edit_file", {"path": "a\0b", "old_string": "a", "new_string": "b"}, "path"),
        ("read_artifact", {"artifact": "art_99"}, "art_99"),
        ("grep", {"pattern": "("}, "pattern"),
    ],
)
def test_input_that_does_not_fit_the_tool_is_an_observation_on_record(
    tool: str, arguments: dict[str, Any], words: str, house: House, interlock: Interlock
) -> None:
    text = json.dumps(arguments)
    said = interlock.call(tool, text, "--answer", "allow").is_calm()
    assert said.code == 1
    assert words in said.out
    events = house.events(house.ids()[0])
    assert [e["ok"] for e in events if e["type"] == "tool.observation"] == [False]
    assert not [e for e in events if e["type"] == "tool.invocation.started" and tool != "grep"]


@pytest.mark.parametrize("decision", ["allow", "deny"])
@pytest.mark.parametrize(
    ("tool", "arguments", "asks"),
    [
        ("read_file", {"path": "given.txt"}, False),
        ("glob", {"pattern": "*.txt"}, False),
        ("grep", {"pattern": "given"}, False),
        ("read_artifact", {"artifact": "art_1"}, False),
        ("bash", {"command": "touch made.txt"}, True),
        ("write_file", {"path": "made.txt", "content": "made"}, True),
        ("edit_file", {"path": "given.txt", "old_string": "given", "new_string": "changed"}, True),
    ],
)
def test_every_tool_can_be_called_and_a_deny_changes_nothing(
    tool: str, arguments: dict[str, Any], asks: bool, decision: str, house: House, interlock: Interlock
) -> None:
    (house.work / "given.txt").write_text("given\n")
    said = interlock.call(tool, arguments, "--answer", decision, "--json").is_calm()
    observation = json.loads(said.out)
    events = house.events(house.ids()[0])
    assert len([e for e in events if e["type"] == "tool.permission.answered"]) == int(asks)
    if asks and decision == "deny":
        assert (said.code, observation["code"], observation["phase"]) == (1, "user_denied", "permission")
        assert {path.name: path.read_text() for path in house.work.iterdir()} == {"given.txt": "given\n"}
    else:
        assert observation["ok"] is (tool != "read_artifact"), observation
        assert said.code == (0 if observation["ok"] else 1)
    assert events[-1]["type"] == "session.ended"


def test_a_workspace_that_is_no_folder_is_a_mistake_of_the_command_line(house: House, interlock: Interlock) -> None:
    interlock("call", "glob", "{}", "-w", str(house.root / "nowhere")).fails("nowhere", "not a folder", code=2)


HEAD = "[worker.tool_output]\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[worker.tool_output\n", "interlock.toml:1: no valid TOML: Expected"),
        (b"a = 1\na = 2\n", "interlock.toml:2: no valid TOML"),
        (HEAD.encode() + b"\ndefault_max_bytes = 'x'\n", "interlock.toml:3: default_max_bytes must be a whole number"),
        (HEAD.encode() + b"per_tool = 3\n", "interlock.toml:2: per_tool must be the table"),
        (b"[worker.tool_output.per_tool]\nbash = -1\n", "interlock.toml:2: bash must be a whole number"),
        (b"\n[worker]\ntool_output = {default_max_bytes = -3}\n", "interlock.toml:3: default_max_bytes must be"),
        (HEAD.encode() + b"default_max_byte = 1\n", "interlock.toml:2: unknown key 'default_max_byte'; expected"),
        (HEAD.encode() + b"# \xff\n", "interlock.toml:2: byte 23 is not UTF-8; expected TOML"),
        (b"a = " + b"[" * 5000, "interlock.toml: cannot be read as TOML"),
        (b"a = " + b"9" * 5000, "interlock.toml: cannot be read as TOML"),
        (b"#" * (2 << 20), "larger than 1,048,576 bytes; expected"),
    ],
)
def test_a_wrong_manifest_is_told_with_file_line_and_what_was_expected(
    data: bytes, words: str, house: House, interlock: Interlock
) -> None:
    (house.work / "interlock.toml").write_bytes(data)
    interlock.call("bash", {"command": "touch made"}, "--answer", "allow").fails(words)
    assert not (house.work / "made").exists()
    assert house.ids() == [], "a session that cannot begin leaves nothing behind"


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop"])
def test_what_is_no_plain_file_is_not_read_as_a_manifest(kind: str, house: House, interlock: Interlock) -> None:
    path = house.work / "interlock.toml"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.symlink_to(path)
    interlock.call("glob", {"pattern": "*"}).fails(str(path), "cannot be read")
