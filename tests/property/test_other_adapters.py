"""Logs of the other agents, cut, torn and bent: the same events in whatever steps they come, and never a fault."""

from __future__ import annotations

import copy
import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.sources.foreign.adapter import Sample
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.framing import frame_document
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.registry import by_kind, formats
from interlock.runtime.sources.foreign.translation import Translation

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
LINES = {
    "acp": "acp/claude.jsonl",
    "antigravity": "antigravity/ja-antigravity.jsonl",
    "copilot_cli": "copilot-cli/ja-copilot.jsonl",
    "gemini": "gemini-cli/run-headless.jsonl",
    "kimi": "kimi-cli/ja-kimi-tools.jsonl",
    "opencode": "opencode/five-steps.stream.jsonl",
    "pi": "pi/pi-large.jsonl",
    "qwen": "qwen-code/ja-qwen-4.jsonl",
    "vs_copilot": "vs-copilot/av-vs4.jsonl",
}
DOCUMENTS = {
    "gemini": "gemini-cli/ent-9c5378.jsonl",
    "mini_swe_agent": "mini-swe-agent/mswe-issue.json",
    "opencode": "opencode/denied.export.json",
    "swe_agent": "swe-agent/swea-fc.traj",
}
KEPT = {"foreign.record", "foreign.unknown"}
ATIF = {
    "schema_version": "ATIF-v1.6",
    "session_id": "a",
    "agent": {"name": "x", "version": "1", "model_name": "m"},
    "steps": [
        {"step_id": 1, "timestamp": "2026-01-10T09:00:00Z", "source": "user", "message": "do"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "so",
            "tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}}],
            "observation": {
                "results": [{"source_call_id": "c", "content": "ok", "subagent_trajectory_ref": [{"session_id": "k"}]}]
            },
            "metrics": {"prompt_tokens": 1, "completion_tokens": 2, "cached_tokens": 1, "cost_usd": 0.1},
        },
    ],
    "final_metrics": {"total_prompt_tokens": 1},
}
INSPECT = {
    "member": "samples/1_epoch_1.json",
    "value": {
        "id": 1,
        "epoch": 1,
        "messages": [
            {"role": "user", "content": "do", "source": "input"},
            {
                "role": "assistant",
                "content": "so",
                "tool_calls": [{"id": "c", "function": "bash", "arguments": {"cmd": "ls"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "no", "error": {"type": "timeout", "message": "late"}},
        ],
        "events": [{"event": "tool", "id": "c", "timestamp": "2026-01-10T09:00:00+00:00", "working_time": 1.5}],
        "model_usage": {"m": {"input_tokens": 1}},
    },
}


CLINE = [
    {"ts": 1768035600000, "type": "say", "say": "task", "text": "do"},
    {"ts": 1768035600001, "type": "say", "say": "api_req_started", "text": '{"tokensIn": 1}'},
    {"ts": 1768035600002, "type": "ask", "ask": "command", "text": "ls", "modelInfo": {"modelId": "m"}},
    {"ts": 1768035600003, "type": "say", "say": "command_output", "text": "x"},
    {"ts": 1768035600004, "type": "say", "say": "text", "text": "so"},
]


def piece(name: str, size: int = 40_000) -> bytes:
    data = (SAMPLES / name).read_bytes()
    return data[: data[:size].rindex(b"\n") + 1] if len(data) > size else data


def records(kind: str) -> list[Any]:
    """Records of every form of one format."""
    found: list[Any] = []
    if kind in LINES:
        for line in piece(LINES[kind]).splitlines():
            found.append(json.loads(line))
    if kind in DOCUMENTS:
        found += [
            r.value for r in frame_document((SAMPLES / DOCUMENTS[kind]).read_bytes()) if isinstance(r, ForeignRecord)
        ]
    if kind == "opencode":
        rows = [json.loads(line) for line in (SAMPLES / "opencode/sub-agent.rows.jsonl").read_text().splitlines()]
        found += [
            {"type": r["row"]["type"], "data": json.loads(r["row"]["data"])} for r in rows if r["table"] == "event"
        ]
    return found + {"atif": [ATIF], "inspect_eval": [INSPECT], "cline": [CLINE]}.get(kind, [])


RECORDS = {kind: records(kind) for kind in sorted({*LINES, *DOCUMENTS, "atif", "cline", "inspect_eval"})}


def lines_of(kind: str, chunks: list[bytes], limit: int) -> tuple[list[bytes], Translation]:
    """What a log becomes that grows by these chunks, read after each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.touch()
        translation = Translation(path, by_kind(kind), "lines", session="s")
        told: list[bytes] = []
        with open(path, "ab", buffering=0) as file:
            for chunk in chunks:
                file.write(chunk)
                more = True
                while more:
                    told += translation.read(limit)
                    more = translation.more
        told += [line for event in translation.end() for line in translation.encode(event)]
        translation.close()
        return told, translation


def at_cuts(data: bytes, cuts: list[float]) -> list[bytes]:
    places = [0, *sorted(int(cut * len(data)) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(places)]


@pytest.mark.parametrize("kind", sorted(LINES))
@settings(max_examples=8, deadline=None)
@given(cuts=st.lists(st.floats(0, 1), max_size=12), limit=st.sampled_from([1, 700, 1 << 20]))
def test_the_same_events_come_in_whatever_steps_a_log_is_read(kind: str, cuts: list[float], limit: int) -> None:
    data = piece(LINES[kind])
    assert lines_of(kind, at_cuts(data, cuts), limit)[0] == lines_of(kind, [data], 1 << 30)[0]


@pytest.mark.parametrize("kind", sorted(LINES))
@settings(max_examples=8, deadline=None)
@given(cut=st.floats(0, 1))
def test_a_cut_at_any_byte_costs_the_cut_record_at_most(kind: str, cut: float) -> None:
    data = piece(LINES[kind])
    place = int(cut * len(data))
    _, translation = lines_of(kind, [data[:place]], 1 << 30)
    whole = data[:place].count(b"\n")
    assert whole <= translation.tally.records + translation.tally.damaged <= whole + 1


def paths(value: Any, here: tuple[Any, ...] = (), depth: int = 8) -> Iterator[tuple[Any, ...]]:
    if depth and isinstance(value, dict):
        for name, item in value.items():
            yield (*here, name)
            yield from paths(item, (*here, name), depth - 1)
    elif depth and isinstance(value, list):
        for n, item in enumerate(value[:4]):
            yield (*here, n)
            yield from paths(item, (*here, n), depth - 1)


def deep(levels: int, kind: type) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value] if kind is list else {"content": value}
    return value


JUNK: list[Any] = [
    None, True, 0, -1, 3, 2**80, -(2**70), 1.5, 1e308, "", "x", "2026-01-10T09:00:00Z", "[trimmed for fixture]", [], {}, [1],
    [[]],
    [None, "x", {"type": "text", "text": 3}], {"type": 3}, {"text": {"text": []}}, {"id": {}}, "{", '{"a": 1}', "\ufffd\x00",
    deep(400, list), deep(400, dict),
]  # fmt: skip


def bent(value: Any, path: tuple[Any, ...], junk: Any, delete: bool) -> Any:
    made = copy.deepcopy(value)
    here = made
    for step in path[:-1]:
        here = here[step]
    if delete:
        del here[path[-1]]
    else:
        here[path[-1]] = junk
    return made


def translated(kind: str, values: list[Any]) -> SessionFacts:
    """Every record gives an event at least, and every event can be folded."""
    adapter, facts = by_kind(kind).adapter(), SessionFacts()
    for n, value in enumerate(values):
        told = list(adapter.take(ForeignRecord(value, n, 1)))
        assert told
        assert all(event.origin is not None for event in told)
        for event in told:
            facts.add(event)
    for event in adapter.end():
        facts.add(event)
    return facts


@pytest.mark.parametrize("kind", sorted(RECORDS))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_no_record_of_any_shape_is_too_much_for_an_adapter(kind: str, data: st.DataObject) -> None:
    known = RECORDS[kind]
    values = []
    for n in data.draw(st.lists(st.integers(0, len(known) - 1), min_size=1, max_size=8)):
        ways = list(paths(known[n]))
        path = data.draw(st.sampled_from(ways))
        values.append(bent(known[n], path, data.draw(st.sampled_from(JUNK)), data.draw(st.booleans())))
    translated(kind, [*known[:3], *values])


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_values_that_are_no_record_at_all_are_kept_and_said_to_be_unknown_or_known(kind: str) -> None:
    translated(kind, JUNK)
    for value in JUNK:
        told = list(by_kind(kind).adapter().take(ForeignRecord(value, 0, 1)))
        assert {event.type for event in told} & KEPT


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_finding_the_format_of_any_values_never_fails(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(RECORDS)))
    values: list[Any] = []
    for value in RECORDS[kind][:6]:
        path = data.draw(st.sampled_from(list(paths(value))))
        values.append(bent(value, path, data.draw(st.sampled_from(JUNK)), False))
    for known in formats():
        for framing in known.framing:
            assert 0 <= known.claims(Sample((*values, *JUNK), framing, b"")) <= 100


@pytest.mark.parametrize("kind", sorted({*DOCUMENTS, "atif", "cline", "inspect_eval"}))
def test_a_document_that_is_given_again_tells_nothing_twice(kind: str) -> None:
    (value,) = RECORDS[kind][-1:] if kind in ("atif", "cline", "inspect_eval") else documents(kind)
    adapter = by_kind(kind).adapter()
    first = list(adapter.take(ForeignRecord(value, 0, 1)))
    again = list(adapter.take(ForeignRecord(value, 0, 1)))
    assert {event.type for event in first} - KEPT
    assert not {event.type for event in again} - KEPT


def documents(kind: str) -> list[Any]:
    data = (SAMPLES / DOCUMENTS[kind]).read_bytes()
    return [r.value for r in frame_document(data) if isinstance(r, ForeignRecord)]
