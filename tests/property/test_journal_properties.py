"""What holds for any bytes and any cuts of them. (style: properties worth having)"""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.events.union import DamagedLine, UnknownEvent
from interlock.runtime.journal.chain import GENESIS
from interlock.runtime.journal.codec import decode_line, encode, split_glued
from interlock.runtime.journal.columns import EventColumns
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.tail import TailReader
from interlock.runtime.sources.follower import SessionFollower

QUICK = settings(max_examples=60, deadline=None)
EVENT = b'{"v":1,"seq":%d,"ts":"2026-01-10T09:00:00.000001Z","session":"s1","type":"message.user","messageId":"m","text":"x"}'
LINES = st.lists(
    st.one_of(
        st.integers(0, 6).map(lambda n: EVENT % n),
        st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")),
        st.sampled_from([b"", b"  \r", b"\r", b'{"type":"x"}', b'{"a":1}{"b":2}', '{"t":"\u2028\u0085"}'.encode()]),
    ),
    max_size=12,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=200) | JSON.map(lambda v: repr(v).encode("utf-8", "surrogatepass")))
@example(b'{"type":"tool.intent","intentId":' + b"[" * 3000)
@example(b'{"type":["a"]}')
@example(b'{"type":"message.user","seq":1e999}')
@settings(max_examples=300, deadline=None)
def test_decoding_never_raises(line: bytes) -> None:
    seen = decode_line(line)
    assert isinstance(seen, DamagedLine | UnknownEvent) or seen.type
    if isinstance(seen, DamagedLine):
        assert brief(line) is None
    split_glued(line)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_input_is_one_physical_line_and_comes_back(value: object) -> None:
    event = ToolIntent(intent_id="int_1", tool="t", raw_input={"v": value})
    line = encode(event, session="s", seq=0, ts="t", prev=GENESIS)
    assert line.count(b"\n") == 1
    back = decode_line(line[:-1])
    assert isinstance(back, ToolIntent)
    again = encode(back, session="s", seq=0, ts="t", prev=GENESIS)
    assert again == line
    text = repr(value)
    if not any("\ud800" <= c <= "\udfff" or c == "\\" for c in text):
        assert back.raw_input == {"v": value}


@given(LINES, st.booleans(), st.lists(st.integers(0, 400), max_size=8))
@QUICK
def test_any_chunking_of_the_writes_gives_the_same_lines_and_folds(
    lines: list[bytes], ends: bool, cuts: list[int]
) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "s1"
        folder.mkdir()
        path = folder / "events.jsonl"
        path.write_bytes(data)
        whole = TailReader(path)
        expected = [(line.offset, line.raw) for line in whole.read().lines]
        replay = SessionFollower(folder)
        replay.catch_up()
        path.write_bytes(b"")
        reader, live, got = TailReader(path), SessionFollower(folder), []
        points = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
        with open(path, "ab", buffering=0) as file:
            for start, end in pairwise(points):
                file.write(data[start:end])
                got += [(line.offset, line.raw) for line in reader.read().lines]
                live.poll()
        assert got == expected
        assert live.state == replay.state
        assert rows(live) == rows(replay)
        assert live.tally == replay.tally
        assert live.tally.lines == len(expected)
        for follower in (whole, reader, replay, live):
            follower.close()


def rows(follower: SessionFollower) -> list:
    columns = follower.columns
    return [follower.timeline.row(i) for i in range(len(follower.timeline))] + [
        columns.row(i) for i in range(len(columns))
    ]


@given(LINES)
@QUICK
def test_every_line_that_is_not_blank_has_a_row_in_the_index_and_can_be_read_back(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "events.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        reader, columns = TailReader(path), EventColumns()
        batch = reader.read()
        columns.extend(batch.lines)
        assert len(columns) + batch.blank == len(lines)
        for index, line in enumerate(batch.lines):
            assert columns.find_offset(line.offset) == index
            if not (line.offset == 0 and "bom" in batch.notes):
                assert columns.raw(path, index) == line.raw
        reader.close()
