"""Codex rollouts, cut, torn and bent: the same events in whatever steps they come, and never a fault."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.sources.codex.ends import ends_of
from interlock.runtime.sources.codex.format import FORMAT
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.translation import Translation

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "codex"
NAMES = sorted(path.name for path in SAMPLES.glob("*.jsonl"))
KNOWN = {"foreign.record", "foreign.unknown"}


def piece(name: str, size: int = 60_000) -> bytes:
    """The beginning of a sample, whole lines."""
    data = (SAMPLES / name).read_bytes()[:size]
    return data[: data.rindex(b"\n") + 1] if b"\n" in data else data + b"\n"


PIECES = {name: piece(name) for name in NAMES}


def lines_of(chunks: list[bytes], limit: int, *, end: bool = True) -> tuple[list[bytes], Translation]:
    """What a rollout becomes that grows by these chunks, read after each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout.jsonl"
        path.touch()
        translation = Translation(path, FORMAT, "lines", session="s")
        told: list[bytes] = []
        with open(path, "ab", buffering=0) as file:
            for chunk in chunks:
                file.write(chunk)
                more = True
                while more:
                    told += translation.read(limit)
                    more = translation.more
        if end:
            told += [line for event in translation.end() for line in translation.encode(event)]
        translation.close()
        return told, translation


WHOLE = {name: lines_of([data], 1 << 30)[0] for name, data in PIECES.items()}


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    cuts=st.lists(st.floats(0, 1), max_size=12),
    limit=st.sampled_from([1, 1000, 50_000, 1 << 30]),
)
def test_any_chunking_gives_the_same_events(name: str, cuts: list[float], limit: int) -> None:
    data = PIECES[name]
    at = sorted({0, len(data), *(int(cut * len(data)) for cut in cuts)})
    chunks = [data[a:b] for a, b in itertools.pairwise(at)]
    assert lines_of(chunks, limit)[0] == WHOLE[name]


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), cut=st.floats(0, 1))
def test_a_cut_at_any_byte_loses_at_most_the_record_it_goes_through(name: str, cut: float) -> None:
    data = PIECES[name][: int(cut * len(PIECES[name]))]
    _, translation = lines_of([data], 1 << 30)
    whole = data.count(b"\n")
    torn = bool(data.rpartition(b"\n")[2])
    assert translation.tally.records + translation.tally.damaged == whole + torn
    assert translation.tally.damaged <= torn


RECORDS = [json.loads(line) for data in PIECES.values() for line in data.splitlines()[:40]]
SMALL = [json.loads(line) for line in (SAMPLES / "ja-codex-small.jsonl").read_bytes().splitlines()]


def deep(levels: int) -> Any:
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"text": value, "type": "x", "content": value if level < 3 else None}
    return value


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=True),
    st.text(max_size=12),
    st.sampled_from(
        ["\x00", "{", '{"output":1,"metadata":{}}', "Script failed", "exec-1", "*** Begin Patch", "…", "rollout"]
    ),
    st.just([]),
    st.just({}),
    st.just([[[]]]),
    st.just({"type": {"type": []}}),
    st.builds(deep, st.sampled_from([1, 5, 300, 900])),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a value, from the outside in."""
    if len(path) > 5:
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from places(inner, (*path, key))


def bent(value: Any, path: tuple[Any, ...], to: Any, gone: bool) -> Any:
    """The value with another one at the place, or with nothing there."""
    if not path:
        return to
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        if gone and not rest:
            return {k: v for k, v in value.items() if k != key}
        return {k: bent(v, rest, to, gone) if k == key else v for k, v in value.items()}
    return [bent(v, rest, to, gone) if n == key else v for n, v in enumerate(value)]


@st.composite
def bent_record(draw: st.DrawFn) -> Any:
    record = draw(st.sampled_from(SMALL + RECORDS))
    for _ in range(draw(st.integers(1, 3))):
        where = list(places(record))
        if where:
            record = bent(record, draw(st.sampled_from(where)), draw(ODD), draw(st.booleans()))
    return record


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(bent_record(), ODD), min_size=1, max_size=12))
def test_no_value_makes_the_adapter_fail_and_each_leaves_an_event(values: list[Any]) -> None:
    adapter = FORMAT.adapter()
    translation = Translation(SAMPLES / NAMES[0], FORMAT, "lines", session="s")
    for number, value in enumerate(values):
        told = list(adapter.take(ForeignRecord(value, number, 1)))
        assert told
        for event in told:
            for line in translation.encode(event):
                assert line.endswith(b"\n")
    list(adapter.end())
    translation.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(bent_record(), min_size=1, max_size=6))
def test_no_log_makes_its_ends_fail(values: list[Any]) -> None:
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(b"\n".join(json.dumps(value).encode("utf-8", "replace") for value in values))
        file.flush()
        found = ends_of(file.name)
    assert found.turn in ("open", "over", "")
    assert not found.summary.fault
