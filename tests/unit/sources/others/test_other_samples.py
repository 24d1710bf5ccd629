"""Recorded logs of the other agents: no record lost, and facts as counted by scripts that know nothing of Interlock."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.union import DamagedLine, UnknownEvent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.sources.foreign.narrator import stamp
from interlock.runtime.sources.foreign.reading import all_events, facts_of, open_log

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
KINDS = {
    "acp": "acp",
    "antigravity": "antigravity",
    "copilot-cli": "copilot_cli",
    "gemini-cli": "gemini",
    "inspect-eval": "inspect_eval",
    "kimi-cli": "kimi",
    "mini-swe-agent": "mini_swe_agent",
    "opencode": "opencode",
    "pi": "pi",
    "qwen-code": "qwen",
    "swe-agent": "swe_agent",
    "vs-copilot": "vs_copilot",
}
FILES = [
    path
    for folder in KINDS
    for path in sorted((SAMPLES / folder).iterdir())
    if path.suffix in (".jsonl", ".json", ".traj", ".eval") and path.name != "facts.json" and ".rows." not in path.name
]


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def sample(request: pytest.FixtureRequest) -> Path:
    return request.param


def golden(sample: Path) -> dict[str, Any]:
    return json.loads((sample.parent / "facts.json").read_text())[sample.name]


def test_every_sample_is_known_from_its_content(sample: Path, tmp_path: Path) -> None:
    nameless = tmp_path / "x"
    nameless.write_bytes(sample.read_bytes())
    assert open_log(nameless).format.kind == KINDS[sample.parent.name]


def test_every_sample_has_its_golden_facts(sample: Path) -> None:
    assert facts_of(sample) == golden(sample)


def test_no_record_of_a_sample_is_lost(sample: Path, read_path) -> None:
    found = read_path(sample)
    tally = found.tally
    assert tally.records == tally.eventful + tally.kept + tally.unknown
    if open_log(sample).framing == "lines":
        lines = sum(bool(line.strip()) for line in sample.read_bytes().split(b"\n"))
        assert tally.records + tally.damaged == lines
        told = {event.origin.offset for event in found.events if event.origin is not None}
        assert len(told) == lines, "every record leaves an event that says where it stands"


def test_every_line_that_a_sample_becomes_is_an_event_of_ours(sample: Path) -> None:
    translation = open_log(sample, session="s")
    lines = [line for event in all_events(translation) for line in translation.encode(event)]
    translation.close()
    decoded = [decode_line(line.rstrip(b"\n")) for line in lines]
    assert not [d for d in decoded if isinstance(d, UnknownEvent | DamagedLine)]
    assert [d.seq for d in decoded if not isinstance(d, UnknownEvent | DamagedLine)] == list(range(len(lines)))


@pytest.mark.parametrize("folder", sorted(set(KINDS) - {"acp", "opencode"}))
def test_an_independent_count_comes_to_the_same(folder: str) -> None:
    count = runpy.run_path(str(SAMPLES / folder / "count.py"))["count"]
    for path in (p for p in FILES if p.parent.name == folder):
        facts, counted = facts_of(path), count(path)
        times = counted.pop("times", None)
        if times is not None:
            assert [facts["firstTime"], facts["lastTime"]] == [stamp(time) for time in times], path.name
        tokens = counted.pop("tokens", None)
        if tokens is not None:
            assert _some(facts["tokensByModel"]) == _some(tokens), path.name
        assert {name: facts[name] for name in counted} == counted, path.name


def _some(tokens: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {model: {kind: n for kind, n in kinds.items() if n} for model, kinds in tokens.items()}


def test_commands_print_a_sample_s_facts_and_events(tmp_path: Path) -> None:
    path = SAMPLES / "kimi-cli" / "ja-kimi-sub.jsonl"
    for words in (["show", str(path), "--facts", "--json"], ["events", str(path), "--json"], ["events", str(path)]):
        done = subprocess.run(
            [str(Path(sys.executable).parent / "interlock"), *words],
            capture_output=True,
            timeout=60,
            cwd=tmp_path,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.strip()
