"""Routing between an ACP client and agent: bytes, ids, options (AG-5 and the public case about a deny over ACP)."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.gates.acp.call import call_of, merged
from interlock.runtime.gates.acp.frame import Lines
from interlock.runtime.gates.acp.option import Options
from interlock.runtime.gates.acp.relay import Relay
from interlock.runtime.policy.facts.foreign import make_call

CASES = Path(__file__).parents[2] / "data" / "cases" / "bug-cases.jsonl"
ACP_CASES = [case for case in map(json.loads, CASES.read_text().splitlines()) if case["input"].get("t") == "acp"]
OPTIONS = [
    {"optionId": "x1", "name": "Allow", "kind": "allow_once"},
    {"optionId": "x2", "name": "Always", "kind": "allow_always"},
    {"optionId": "x3", "name": "Reject", "kind": "reject_once"},
    {"optionId": "x4", "name": "Never", "kind": "reject_always"},
]
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def ask(number: Any = 5, options: Any = None, **params: Any) -> bytes:
    told = {"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": OPTIONS if options is None else options}
    message = {"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": told | params}
    return json.dumps(message).encode() + b"\n"


def reply(number: Any, option: str = "x1") -> bytes:
    result = {"outcome": {"outcome": "selected", "optionId": option}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n"


@pytest.mark.parametrize("case", ACP_CASES, ids=lambda case: case["id"])
def test_a_deny_is_the_reject_option_and_never_ends_the_turn(case: dict[str, Any]) -> None:
    relay = Relay()
    request = relay.from_agent(json.dumps(case["input"]["request"]).encode() + b"\n").permission
    assert request is not None
    result = request.options.result("deny")
    assert result is not None
    assert result["outcome"] == {"outcome": "selected", "optionId": "x3"}
    line, _ = relay.answer(request, result)
    assert json.loads(line) == {"jsonrpc": "2.0", "id": case["input"]["request"]["id"], "result": result}


def test_without_a_reject_option_a_deny_is_cancelled_and_never_a_standing_reject_or_an_allow() -> None:
    without = [option for option in OPTIONS if option["optionId"] != "x3"]
    assert Options(without).result("deny") == CANCELLED
    assert Options([option for option in without if option["optionId"] != "x4"]).result("deny") == CANCELLED
    assert Options([]).result("deny") == CANCELLED
    assert Options(None).result("deny") == CANCELLED


def test_an_allow_is_the_allow_once_option_or_cannot_be_said() -> None:
    assert Options(OPTIONS).result("allow") == {"outcome": {"outcome": "selected", "optionId": "x1"}}
    assert Options([option for option in OPTIONS if option["optionId"] != "x1"]).result("allow") is None


def test_several_options_of_one_kind_are_a_question_with_nothing_to_answer_here() -> None:
    options = Options([*OPTIONS, {"optionId": "x5", "name": "Blue", "kind": "allow_once"}])
    assert "question" in options.question
    assert options.result("allow") is None
    call = call_of({"toolCallId": "t", "title": "Which colour?"}, "/p", options)
    assert call.choices == ()
    assert call.question == options.question
    assert call.facts["acp"]["options"] == ["Allow", "Always", "Reject", "Never", "Blue"]


@pytest.mark.parametrize(
    "options",
    [
        [{"optionId": "a", "name": "x", "kind": "allow_maybe"}, *OPTIONS],
        [{"optionId": "x3", "name": "twice", "kind": "allow_once"}, OPTIONS[2]],
        [{"optionId": 7, "name": "x", "kind": "allow_once"}],
        ["allow"],
        {"allow": True},
    ],
)
def test_options_that_cannot_be_told_apart_are_left_to_the_editor(options: Any) -> None:
    assert Options(options).question
    assert Options(options).result("allow") is None


def test_standing_options_of_several_kinds_still_make_a_permission() -> None:
    assert not Options(
        [*OPTIONS, {"optionId": "x6", "name": "Always for this folder", "kind": "allow_always"}]
    ).question


def test_a_request_waits_for_the_gate_and_reaches_the_editor_byte_for_byte() -> None:
    relay = Relay()
    line = ask().replace(b'"id": 5', b'"id":  5 ')
    request = relay.from_agent(line).permission
    assert request is not None
    assert relay.show(request) == line
    answer = reply(5, "x2")
    answered = relay.from_editor(answer).answered
    assert answered is not None
    assert (answered.said, answered.line) == ("allow", answer)
    assert relay.settle(request)
    assert not relay.settle(request)


def test_an_answer_of_the_editor_that_comes_too_late_is_swallowed_once() -> None:
    relay = Relay()
    request = relay.from_agent(ask()).permission
    assert request is not None
    relay.show(request)
    assert relay.settle(request)
    _, told = relay.answer(request, {"outcome": {}})
    assert json.loads(told or b"")["params"] == {"requestId": 5}
    assert relay.from_editor(reply(5)).forward is None
    # the next response with this number is to something else
    assert relay.from_editor(reply(5)).forward == reply(5)


def test_equal_ids_of_both_sides_are_kept_apart() -> None:
    relay = Relay()
    request = relay.from_agent(ask(1)).permission
    assert request is not None
    relay.show(request)
    prompt = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1"}}\n'
    assert relay.from_editor(prompt).forward == prompt
    over = b'{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}\n'
    assert relay.from_agent(over).forward == over
    assert relay.from_editor(reply(1)).answered is not None


def test_a_number_and_a_text_are_two_ids_and_one_number_is_one() -> None:
    relay = Relay()
    for number in (1, "1"):
        request = relay.from_agent(ask(number)).permission
        assert request is not None
        relay.show(request)
    answered = relay.from_editor(reply("1")).answered
    assert answered is not None
    assert answered.request.id == "1"
    answered = relay.from_editor(reply(1.0)).answered
    assert answered is not None
    assert answered.request.id == 1


def test_an_id_that_is_used_again_while_the_editor_still_owes_an_answer_gets_another_name_there() -> None:
    relay = Relay()
    first = relay.from_agent(ask(5)).permission
    assert first is not None
    relay.show(first)
    relay.settle(first)
    second = relay.from_agent(ask(5)).permission
    assert second is not None
    shown = json.loads(relay.show(second))
    assert shown["id"] != 5
    assert relay.from_editor(reply(5, "x1")).answered is None
    answered = relay.from_editor(reply(shown["id"], "x3")).answered
    assert answered is not None
    assert answered.request is second
    assert json.loads(answered.line) == json.loads(reply(5, "x3"))


def test_two_open_questions_under_one_id_leave_only_the_second() -> None:
    relay = Relay()
    first = relay.from_agent(ask(5)).permission
    assert first is not None
    relay.show(first)
    out = relay.from_agent(ask(5))
    assert out.withdrawn == [first]
    assert not relay.settle(first)


def test_a_request_that_the_agent_takes_back_is_told() -> None:
    relay = Relay()
    request = relay.from_agent(ask("a")).permission
    assert request is not None
    relay.show(request)
    line = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}\n'
    out = relay.from_agent(line)
    assert (out.forward, out.withdrawn) == (line, [request])


@pytest.mark.parametrize(
    "line",
    [
        b"Debugger attached.\n",
        b"\n",
        b"[1,2]\n",
        b'{"jsonrpc":"2.0","id":true,"method":"session/request_permission","params":{}}\n',
        b'{"jsonrpc":"2.0","id":5,"id":6,"method":"session/request_permission","params":{"options":[]}}\n',
        b'{"jsonrpc":"2.0","method":"session/request_permission","params":{}}\n',
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
        b'{"a":' + b"1" * 5000 + b"}\n",
    ],
)
def test_what_cannot_be_read_goes_on_as_it_is(line: bytes) -> None:
    assert Relay().from_agent(line).forward == line
    assert Relay().from_editor(line).forward == line


@settings(max_examples=200)
@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8), st.integers(1, 50))
def test_any_chunking_hands_the_same_bytes_on(data: bytes, cuts: list[int], limit: int) -> None:
    lines = Lines(limit)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [piece for a, b in pairwise(edges) for piece in lines.feed(data[a:b])]
    pieces += lines.rest()
    assert b"".join(piece.data for piece in pieces) == data
    whole = Lines(1 << 20)
    expected = {piece.data for piece in [*whole.feed(data), *whole.rest()]}
    assert all(piece.data in expected for piece in pieces if piece.is_line)


def judged(told: dict[str, Any]) -> Any:
    call = call_of(told, "/p")
    return make_call("acp", call.tool, call.input, cwd="/p", workspace=("/p",), home="/h")


def test_a_command_is_judged_as_a_shell_command() -> None:
    found = judged({"kind": "execute", "title": "run", "rawInput": {"command": "rm -rf x", "description": "d"}})
    assert (found.tool, found.input["command"], found.unclear) == ("bash", "rm -rf x", "")
    found = judged({"kind": "execute", "rawInput": {"command": ["bash", "-lc", "ls"], "cwd": "/p/q", "call_id": "1"}})
    assert (found.input["command"], found.cwd, found.unclear) == ("bash -lc ls", "/p/q", "")


def test_a_command_that_stands_only_in_the_title_can_be_denied_but_never_allowed() -> None:
    found = judged({"kind": "execute", "title": "rm -rf x"})
    assert found.input["command"] == "rm -rf x"
    assert found.unclear


def test_every_path_that_is_named_anywhere_is_judged() -> None:
    told = {
        "kind": "edit",
        "title": "Edit a",
        "rawInput": {"file_path": "/p/a", "changes": {"/etc/passwd": {"move_path": "/p/c"}}},
        "locations": [{"path": "/p/b"}],
        "content": [{"type": "diff", "path": "/p/d", "oldText": "x\n", "newText": "y\n"}],
    }
    assert set(judged(told).input["paths"]) == {"/p/a", "/etc/passwd", "/p/c", "/p/b", "/p/d"}
    assert "-x\n+y" in (call_of(told, "/p").diff or "")


def test_a_kind_that_is_not_known_is_a_tool_of_its_own() -> None:
    assert judged({"kind": "switch_mode", "title": "Leave plan mode"}).tool == "switch_mode"
    assert judged({}).tool == "other"


def test_updates_add_up_and_take_nothing_away() -> None:
    first = {"toolCallId": "t", "kind": "edit", "rawInput": {"a": 1}}
    kept = copy.deepcopy(first)
    assert merged(first, {"toolCallId": "t", "kind": None, "title": "x"}) == first | {"title": "x"}
    assert first == kept
