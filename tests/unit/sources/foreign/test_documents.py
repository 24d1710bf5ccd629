"""Logs of lines that somebody stored as documents, one behind another over many lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.runtime.sources.foreign.reading import facts_of, open_log

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
LOGS = [
    "codex/eg-a6d0e6.jsonl",
    "claude-code/omp-9cb8c8.jsonl",
    "pi/ja-pi-small.jsonl",
    "copilot-cli/ja-copilot.jsonl",
    "kimi-cli/ja-kimi-sub.jsonl",
    "qwen-code/ja-qwen-4.jsonl",
    "iflow/av-iflow.jsonl",
    "antigravity/ja-antigravity.jsonl",
]
OF_THE_BYTES = {"bytes", "longestLine"}


def spread(path: Path) -> list[str]:
    return [json.dumps(json.loads(line), indent=2) for line in path.read_bytes().split(b"\n") if line.strip()]


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_was_stored_as_documents_comes_to_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / "full.jsonl"
    path.write_text("\n".join(spread(SAMPLES / name)))
    lines, documents = facts_of(SAMPLES / name), facts_of(path)
    assert {k: v for k, v in documents.items() if k not in OF_THE_BYTES} == {
        k: v for k, v in lines.items() if k not in OF_THE_BYTES
    }


def test_documents_that_are_added_to_are_told_once(tmp_path: Path) -> None:
    parts, path = spread(SAMPLES / "codex/eg-a6d0e6.jsonl"), tmp_path / "full.jsonl"
    path.write_text("\n".join(parts))
    whole = open_log(path, session="s")
    wanted = [event.model_dump() for event in whole.events()]
    path.write_text("\n".join(parts[:40]))
    grown = open_log(path, session="s")
    found = [event.model_dump() for event in grown.events()]
    for end in (90, len(parts)):
        path.write_text("\n".join(parts[:end]))
        found += [event.model_dump() for event in grown.events()]
    assert found == wanted
    assert grown.tally.records == len(parts)


def test_documents_that_were_replaced_are_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "full.jsonl"
    path.write_text('{\n"type": "thread.started",\n"thread_id": "a"\n}\n{"type": "turn.started"}')
    log = open_log(path, session="s")
    list(log.events())
    path.write_text('{\n"type": "thread.started",\n"thread_id": "b"\n}\n{"type": "turn.started"}\n')
    (started,) = [event for event in log.events() if event.type == "session.started"]
    assert started.foreign is not None
    assert started.foreign.session == "b"
