"""Bytes <-> events: one line an event, and no line that stops the reading. (spec EV-1, EV-2, EV-5)"""

from __future__ import annotations

import json

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.events.union import DamagedLine, UnknownEvent
from interlock.runtime.journal.chain import GENESIS
from interlock.runtime.journal.codec import LINE_LIMIT, decode_line, encode, split_glued
from interlock.runtime.journal.envelope import brief


def line_of(event) -> bytes:
    return encode(event, session="s", seq=0, ts="2026-01-10T09:00:00.000001Z", prev=GENESIS)


def test_an_event_comes_back_as_it_was_written() -> None:
    event = ToolIntent(intent_id="int_1", tool="bash", raw_input={"command": "echo 'a\nb\u2028c\u0085'"})
    line = line_of(event)
    back = decode_line(line[:-1])
    assert isinstance(back, ToolIntent)
    assert back.raw_input == event.raw_input
    assert (back.session, back.seq, back.prev) == ("s", 0, GENESIS)


def test_unknown_types_and_fields_are_kept() -> None:
    seen = decode_line(b'{"type":"tool.future","seq":3,"deep":{"x":[1]}}')
    assert isinstance(seen, UnknownEvent)
    assert seen.data["deep"] == {"x": [1]}
    known = decode_line(b'{"type":"message.user","messageId":"m","text":"hi","later":42}')
    assert isinstance(known, UserMessage)
    assert b'"later":42' in line_of(known)


def test_a_known_type_of_a_wrong_shape_is_shown_with_the_reason() -> None:
    seen = decode_line(b'{"type":"tool.permission.answered","askId":"a","answer":"maybe"}')
    assert isinstance(seen, UnknownEvent)
    assert seen.type == "tool.permission.answered"
    assert "intentId" in seen.reason


def test_half_surrogates_become_replacement_characters_and_the_line_says_so() -> None:
    line = line_of(UserMessage(message_id="m", text="cut \ud83c here"))
    assert json.loads(line)["text"] == "cut \ufffd here"
    assert json.loads(line)["repairedText"] is True
    read = decode_line(b'{"type":"message.user","messageId":"m","text":"videos \\ud83c..."}')
    assert isinstance(read, UserMessage)
    assert read.text == "videos \ufffd..."


def test_integers_over_64_bits_survive_both_ways() -> None:
    huge = 2**64 + 1
    back = decode_line(line_of(ToolIntent(intent_id="i", tool="t", raw_input={"n": huge, "m": -(2**70)}))[:-1])
    assert isinstance(back, ToolIntent)
    assert back.raw_input == {"n": huge, "m": -(2**70)}


def test_not_a_number_is_survived_and_written_as_null_on_both_roads() -> None:
    for extra in ({}, {"big": 2**70}):
        line = line_of(ToolIntent(intent_id="i", tool="t", raw_input={"x": float("nan"), **extra}))
        assert json.loads(line)["rawInput"]["x"] is None
    assert isinstance(decode_line(b'{"type":"tool.intent","intentId":"i","tool":"t","rawInput":NaN}'), ToolIntent)


@pytest.mark.parametrize("depth", [300, 5_000, 200_000])
def test_deep_nesting_is_survived(depth: int) -> None:
    line = b'{"type":"tool.intent","intentId":"i","tool":"t","rawInput":' + b"[" * depth + b"]" * depth + b"}"
    seen = decode_line(line)
    assert isinstance(seen, ToolIntent | UnknownEvent | DamagedLine)
    brief(line)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"seq":9,"ty', "not JSON"),
        (b'{"type":"message.user","text":"a\x00b"}', "not JSON"),
        (b'{"text":"\xff"}', "not UTF-8 at byte 9"),
        (b'{"text":"\xc0\xaf"}', "not UTF-8"),
        (b'{"text":"\xed\xa0\x80"}', "not UTF-8"),
        ('{"a":1}'.encode("utf-16"), "UTF-16"),
        ('{"a":1}'.encode("utf-16-le"), "UTF-16"),
        (b"[1,2]", "not a JSON object"),
        (b'{"type":"a"}{"type":"b"}', "two records on one line"),
        (b"\x80", "not UTF-8"),
    ],
)
def test_bytes_that_are_no_record_are_kept_with_the_reason(line: bytes, why: str) -> None:
    seen = decode_line(line)
    assert isinstance(seen, DamagedLine)
    assert why in seen.reason
    assert (seen.raw, seen.size) == (line, len(line))
    assert brief(line) is None


def test_one_trailing_carriage_return_and_a_byte_order_mark_are_no_damage() -> None:
    whole = b'{"type":"message.user","messageId":"m","text":"x"}'
    for line in (whole + b"\r", b"\xef\xbb\xbf" + whole):
        assert isinstance(decode_line(line), UserMessage)


def test_a_line_over_the_limit_is_told_by_size_and_digest() -> None:
    seen = decode_line(b'{"a":"' + b"x" * LINE_LIMIT + b'"}')
    assert isinstance(seen, DamagedLine)
    assert f"{LINE_LIMIT + 8:,}" in seen.reason
    assert "sha256" in seen.reason
    assert len(seen.raw) == 4096


def test_an_event_that_readers_would_refuse_is_not_encoded() -> None:
    with pytest.raises(ValueError, match="over the limit"):
        line_of(UserMessage(message_id="m", text="x" * LINE_LIMIT))
    with pytest.raises(ValueError, match=r"tool\.intent"):
        line_of(ToolIntent(intent_id="i", tool="t", raw_input={"x": {1, 2}}))


def test_glued_records_are_taken_apart_for_showing() -> None:
    one, two = b'{"type":"a","text":"}{\\""}', b'{"type":"b"}'
    assert split_glued(one + two) == [one, two]
    assert split_glued(b'{"type":"cut","text":"abc' + two) == [two]
    assert split_glued(b"no record") == [b"no record"]
