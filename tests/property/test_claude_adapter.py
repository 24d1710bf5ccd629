"""The adapter of Claude Code under attack: mutated records, any cut of the bytes, any size of the steps."""

from __future__ import annotations

import copy
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.runtime.journal.codec import decode_line, encode, loads
from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.claude_code.adapter import FORMAT, ClaudeAdapter
from interlock.runtime.sources.foreign.framing import frame_line
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.translation import Translation
from interlock.runtime.sources.iflow import IflowAdapter

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
SMALL = ("happy-perm-abort", "ja-claude-drift", "av-pending", "av-queued", "av-truncated", "happy-ratelimit")
RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


@cache
def pool() -> tuple[str, ...]:
    """Records of every kind in the samples, as JSON."""
    kinds: Counter[str] = Counter()
    found = []
    for path in sorted(SAMPLES.glob("[ci][lf]*/*.jsonl")):
        for raw in path.read_bytes().split(b"\n"):
            for framed in frame_line(Line(0, raw, len(raw))) if raw.strip() and len(raw) < 12_000 else ():
                if not isinstance(framed, ForeignRecord):
                    continue
                value = framed.value
                kind = str([value.get("type"), value.get("subtype"), sorted(value)])
                kinds[kind] += 1
                if kinds[kind] <= 3:
                    found.append(json.dumps(value))
    return tuple(found)


def deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"content": value, "text": [value] if level % 5 == 0 else value}
    return value


SCALARS = st.sampled_from(
    [None, True, False, 0, -1, 7, 2**70, 1e300, float("nan"), "", "x", "\x00\x1b[2J", "\ud83c", "9" * 40, [], {}]
)
SHAPES = st.one_of(
    SCALARS,
    st.just(deep(300)),
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["type", "text", "id", "content", "usage"]), SCALARS, max_size=3),
    st.sampled_from(["user", "assistant", "tool_use", "tool_result", "thinking", "<task-notification>", "denied"]),
)
MUTATIONS = st.lists(
    st.tuples(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.sampled_from(["set", "drop", "twice"]), SHAPES),
    max_size=4,
)


def mutated(text: str, mutations: list[tuple[list[int], str, Any]]) -> Any:
    value = json.loads(text)
    for path, how, new in mutations:
        node = value
        for step, choice in enumerate(path):
            keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
            if not keys:
                break
            key = keys[choice % len(keys)]
            if step < len(path) - 1 and isinstance(node[key], dict | list) and node[key]:
                node = node[key]
                continue
            if how == "drop":
                del node[key]
            elif how == "twice" and isinstance(node, list):
                node.append(copy.deepcopy(node[key]))
            else:
                node[key] = copy.deepcopy(new)
            break
    return value


@settings(max_examples=250, deadline=None, suppress_health_check=RELAXED)
@given(st.lists(st.tuples(st.integers(0, 10_000), MUTATIONS), min_size=1, max_size=8), st.booleans())
def test_no_shape_of_any_record_raises_and_each_gives_an_event_that_can_be_written(
    picks: list[tuple[int, list[tuple[list[int], str, Any]]]], iflow: bool
) -> None:
    adapter = IflowAdapter() if iflow else ClaudeAdapter()
    observed: Counter[str] = Counter()
    for number, (pick, mutations) in enumerate(picks):
        value = mutated(pool()[pick % len(pool())], mutations)
        events = list(adapter.take(ForeignRecord(value, number, 1)))
        assert events
        for event in events:
            assert event.origin is not None
            again = decode_line(encode(event, session="s", seq=0, ts=event.ts, prev="").rstrip(b"\n"))
            assert type(again) is type(event)
            if event.type == "tool.observation":
                observed[event.intent_id] += 1
    list(adapter.end())
    assert all(count == 1 for count in observed.values())


@settings(max_examples=100, deadline=None)
@given(st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)))
def test_what_is_no_record_at_all_is_kept_as_unknown(value: Any) -> None:
    events = list(ClaudeAdapter().take(ForeignRecord(value, 0, 1)))
    assert [event.type for event in events] == ["foreign.unknown"]


def lines_of(path: Path, limit: int) -> list[bytes]:
    translation = Translation(path, FORMAT, "lines", session="s")
    lines, more = [], True
    while more:
        lines += translation.read(limit)
        more = translation.more
    lines += [line for event in translation.end() for line in translation.encode(event)]
    translation.close()
    return lines


@settings(max_examples=25, deadline=None, suppress_health_check=RELAXED)
@given(st.sampled_from([*SMALL, "ent-510c10", "ja-claude-small", "omp-5f7d11"]), st.integers(1, 60_000))
def test_steps_of_any_size_give_the_same_lines(name: str, limit: int) -> None:
    path = SAMPLES / "claude-code" / f"{name}.jsonl"
    assert lines_of(path, limit) == lines_of(path, 1 << 30)


@settings(max_examples=25, deadline=None, suppress_health_check=RELAXED)
@given(st.sampled_from([*SMALL, "ja-claude-small"]), st.lists(st.integers(0, 60_000), max_size=6))
def test_a_log_that_grows_byte_by_byte_gives_the_lines_of_the_whole(
    tmp_path_factory: Any, name: str, cuts: list[int]
) -> None:
    data = (SAMPLES / "claude-code" / f"{name}.jsonl").read_bytes()
    path = tmp_path_factory.mktemp("grows") / "log"
    path.write_bytes(b"")
    translation = Translation(path, FORMAT, "lines", session="s")
    lines: list[bytes] = []
    at = 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        with open(path, "ab") as file:
            file.write(data[at:cut])
        at = cut
        lines += translation.read()
    lines += [line for event in translation.end() for line in translation.encode(event)]
    translation.close()
    path.write_bytes(data)
    assert lines == lines_of(path, 1 << 30)


@settings(max_examples=60, deadline=None, suppress_health_check=RELAXED)
@given(st.sampled_from([*SMALL, "ja-claude-small"]), st.floats(0, 1))
def test_a_cut_at_any_byte_loses_at_most_the_record_that_was_cut(
    tmp_path_factory: Any, name: str, share: float
) -> None:
    data = (SAMPLES / "claude-code" / f"{name}.jsonl").read_bytes()
    data = data[: int(len(data) * share)]
    path = tmp_path_factory.mktemp("cut") / "log"
    path.write_bytes(data)
    translation = Translation(path, FORMAT, "lines", session="s")
    list(translation.events())
    list(translation.end())
    whole = [raw for raw in data.split(b"\n")[:-1] if raw.strip()]
    readable = sum(not loads(raw)[1] for raw in whole)
    assert translation.tally.records >= readable
    assert translation.tally.records + translation.tally.damaged >= len(whole)
    translation.close()
