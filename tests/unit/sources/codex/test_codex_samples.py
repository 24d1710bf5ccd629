"""Recorded rollouts: no record lost, and facts as counted by a script that knows nothing of Interlock."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.union import DamagedLine, UnknownEvent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.sources.codex.format import FORMAT
from interlock.runtime.sources.foreign.reading import all_events, facts_of
from interlock.runtime.sources.foreign.registry import detect
from interlock.runtime.sources.foreign.translation import Translation

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples" / "codex"
FILES = sorted(SAMPLES.glob("*.jsonl"))
GOLDEN: dict[str, Any] = json.loads((SAMPLES / "facts.json").read_text())
BY_HAND = {"ja-codex-050.jsonl", "ja-codex-small.jsonl", "os-websearch.jsonl"}
"""Fixtures that were written or trimmed by hand: their shapes are not those that the script counts."""


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def sample(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_sample_is_known_as_codex_s_from_its_content(sample: Path) -> None:
    found, framing = detect(sample)
    assert (found.kind, framing) == ("codex", "lines")


def test_every_sample_has_its_golden_facts(sample: Path) -> None:
    assert facts_of(sample) == GOLDEN[sample.name]


def test_no_record_of_a_sample_is_lost(sample: Path, read_path) -> None:
    found = read_path(sample)
    lines = sum(bool(line.strip()) for line in sample.read_bytes().split(b"\n"))
    tally = found.tally
    assert tally.records == lines
    assert tally.records == tally.eventful + tally.kept + tally.unknown
    assert (tally.damaged, tally.unknown) == (0, 0)
    told = {event.origin.offset for event in found.events if event.origin is not None}
    assert len(told) == lines, "every record leaves an event that says where it stands"


def test_every_line_that_a_sample_becomes_is_an_event_of_ours(sample: Path) -> None:
    translation = Translation(sample, FORMAT, "lines", session="s")
    lines = [line for event in all_events(translation) for line in translation.encode(event)]
    translation.close()
    decoded = [decode_line(line.rstrip(b"\n")) for line in lines]
    assert not [d for d in decoded if isinstance(d, UnknownEvent | DamagedLine)]
    assert [d.seq for d in decoded if not isinstance(d, UnknownEvent | DamagedLine)] == list(range(len(lines)))


def test_an_independent_count_comes_to_the_same(sample: Path) -> None:
    spec = importlib.util.spec_from_file_location("codex_count", SAMPLES / "count.py")
    assert spec is not None
    assert spec.loader is not None
    counting = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(counting)
    counted, ours = counting.count(str(sample)), facts_of(sample)
    same = ["versions", "userTurns", "interrupted", "records", "longestLine"]
    if sample.name not in BY_HAND:
        same += ["toolCalls", "failed", "assistantMessages"]
        models = {
            name: [usage[kind] for kind in ("input", "output", "cacheRead", "reasoning")]
            for name, usage in ours["tokensByModel"].items()
        }
        assert models == counted["tokensByModel"]
    assert {name: ours[name] for name in same} == {name: counted[name] for name in same}
    assert [ours[n][:23] + "Z" for n in ("firstTime", "lastTime")] == [counted["firstTime"], counted["lastTime"]]


def test_a_rollout_that_was_stored_as_documents_has_the_same_facts(tmp_path: Path) -> None:
    source = SAMPLES / "eg-34f7ca.jsonl"
    path = tmp_path / "full.jsonl"
    path.write_text("\n".join(json.dumps(json.loads(line), indent=2) for line in source.read_text().splitlines()))
    found, framing = detect(path)
    assert (found.kind, framing) == ("codex", "document")
    sizes = {"bytes", "longestLine"}
    ours, golden = facts_of(path), GOLDEN[source.name]
    assert {k: v for k, v in ours.items() if k not in sizes} == {k: v for k, v in golden.items() if k not in sizes}
