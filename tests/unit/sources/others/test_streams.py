"""Recorded streams come to what the logs of the same runs came to."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.runtime.sources.foreign.reading import facts_of

STREAMS = Path(__file__).resolve().parents[3] / "data" / "streams"
GEMINI = "gemini-2.5-flash"


@pytest.mark.parametrize(
    ("name", "kind", "calls", "ends", "answers", "model", "tokens"),
    [
        ("codex-patch2", "codex", {"apply_patch": 2}, (2, 0, 0), 3, "unknown", (29542, 270, 14770)),
        ("codex-err", "codex", {"exec_command": 1}, (1, 1, 0), 2, "unknown", (19507, 142, 9753)),
        # the stream of Codex has nothing of a command that a rule forbade
        ("codex-bash2", "codex", {"exec_command": 1}, (1, 0, 0), 3, "unknown", (29520, 243, 14759)),
        ("gemini-bash2", "gemini", {"run_shell_command": 2}, (2, 0, 1), 3, GEMINI, (31595, 120, 15797)),
        ("gemini-edit1", "gemini", {"replace": 1}, (1, 0, 0), 2, GEMINI, (20963, 76, 10481)),
        ("gemini-err", "gemini", {"read_file": 1}, (1, 1, 0), 2, GEMINI, (20910, 49, 10455)),
    ],
)
def test_a_recorded_stream_comes_to_what_the_run_was(
    name: str,
    kind: str,
    calls: dict[str, int],
    ends: tuple[int, int, int],
    answers: int,
    model: str,
    tokens: tuple[int, int, int],
) -> None:
    facts = facts_of(STREAMS / f"{name}.jsonl")
    assert (facts["format"], facts["toolCalls"], facts["assistantMessages"]) == (kind, calls, answers)
    assert (facts["toolResults"], facts["failed"], facts["denied"]) == ends
    used = facts["tokensByModel"][model]
    assert (used["input"], used["output"], used["cacheRead"]) == tokens
    assert (facts["unknownRecords"], facts["damagedLines"]) == (0, 0)
    assert facts["records"] == facts["eventRecords"] + facts["keptRecords"]
