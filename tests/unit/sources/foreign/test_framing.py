"""Bytes of a foreign log become records, and no byte is lost on the way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.foreign.framing import frame_document, frame_line
from interlock.runtime.sources.foreign.record import DamagedRecord, ForeignRecord

USER = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": 'one {"a": 1}'}}
REPLY = {"type": "assistant", "uuid": "a1", "message": {"id": "msg_1", "content": [{"type": "text", "text": "two"}]}}


def line(raw: bytes, offset: int = 100) -> list[ForeignRecord | DamagedRecord]:
    return list(frame_line(Line(offset, raw, len(raw))))


def wire(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def test_two_records_on_one_line_are_both_recovered_with_their_places() -> None:
    one, two = wire(USER), wire(REPLY)
    first, second = line(one + two)
    assert isinstance(first, ForeignRecord)
    assert isinstance(second, ForeignRecord)
    assert (first.value, first.offset, first.size, first.glued) == (USER, 100, len(one), True)
    assert (second.value, second.offset, second.size) == (REPLY, 100 + len(one), len(two))


@pytest.mark.parametrize("cut", range(1, len(wire(REPLY)) - 1))
def test_a_record_behind_a_torn_one_is_recovered_wherever_the_cut_is(cut: int) -> None:
    torn, whole = wire(REPLY)[:cut], wire(USER)
    found = line(torn + whole)
    assert [r.value for r in found if isinstance(r, ForeignRecord)] == [USER]
    (damage,) = [r for r in found if isinstance(r, DamagedRecord)]
    assert (damage.offset, damage.size) == (100, len(torn))


def test_text_that_looks_like_a_record_inside_a_record_stays_text() -> None:
    quoted = {**USER, "message": {"role": "user", "content": json.dumps(REPLY) + json.dumps(USER)}}
    (found,) = line(wire(quoted))
    assert isinstance(found, ForeignRecord)
    assert found.value == quoted
    assert not found.glued


def test_bytes_that_are_no_record_are_damage_with_their_head() -> None:
    (damage,) = line(b"\xff\xfe not json")
    assert isinstance(damage, DamagedRecord)
    assert damage.size == 11
    assert damage.reason


def test_a_line_over_the_limit_is_damage_that_keeps_its_digest() -> None:
    (damage,) = frame_line(Line(7, b"{", 9_000_000, sha256="ab" * 32))
    assert isinstance(damage, DamagedRecord)
    assert "ab" * 32 in damage.reason
    assert damage.size == 9_000_000


def test_a_line_of_brackets_without_end_is_looked_at_in_bounded_time() -> None:
    (damage,) = line(b'{"type":"x","a":' * 20_000)
    assert isinstance(damage, DamagedRecord)


def test_documents_behind_one_another_are_taken_apart_and_a_bad_one_between_them_is_damage() -> None:
    data = json.dumps(USER, indent=2).encode() + b"\n{ broken \n" + json.dumps(REPLY, indent=2).encode() + b"\n"
    first, bad, second = frame_document(data)
    assert isinstance(first, ForeignRecord)
    assert first.value == USER
    assert first.offset == 0
    assert isinstance(bad, DamagedRecord)
    assert isinstance(second, ForeignRecord)
    assert second.value == REPLY
    assert data[second.offset : second.offset + second.size] == json.dumps(REPLY, indent=2).encode()


@given(
    st.lists(st.one_of(st.just(USER), st.just(REPLY), st.text(max_size=8), st.integers()), max_size=6), st.booleans()
)
def test_every_byte_of_a_document_that_is_not_blank_is_in_one_record(values: list[object], broken: bool) -> None:
    parts = [json.dumps(v, ensure_ascii=False, indent=1).encode() for v in values]
    data = b"\n\n".join(parts) + (b"\n{oops" if broken else b"")
    covered = bytearray(len(data))
    for found in frame_document(data):
        for place in range(found.offset, found.offset + found.size):
            assert not covered[place]
            covered[place] = 1
    assert all(covered[i] for i, byte in enumerate(data) if not bytes([byte]).isspace())
