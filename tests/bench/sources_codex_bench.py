"""How fast Codex rollouts are found, looked at and translated."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from interlock.runtime.sources.codex.format import FORMAT
from interlock.runtime.sources.codex.places import CodexHome
from interlock.runtime.sources.foreign.translation import Translation

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "codex"
ROUNDS = 5


def translated(path: Path) -> float:
    """Seconds to turn a whole rollout into lines of ours."""
    translation = Translation(path, FORMAT, "lines", session="bench")
    began = time.perf_counter()
    more = True
    while more:
        translation.read()
        more = translation.more
    took = time.perf_counter() - began
    translation.close()
    return took


def listed(sessions: int) -> tuple[float, float]:
    """Seconds to list that many rollouts, and to look which of them a process has open."""
    with tempfile.TemporaryDirectory() as folder:
        head = {"timestamp": "2026-06-01T10:00:00.000Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}}
        for number in range(sessions):
            day = Path(folder) / "sessions" / "2026" / "06" / f"{number % 28 + 1:02}"
            day.mkdir(parents=True, exist_ok=True)
            name = f"rollout-2026-06-01T10-00-00-01990000-0000-7000-8000-{number:012}.jsonl"
            (day / name).write_text(json.dumps(head) + "\n")
        home = CodexHome(Path(folder))
        home.logs()
        began = time.perf_counter()
        home.logs()
        between = time.perf_counter()
        home.refresh()
        return between - began, time.perf_counter() - between


def run() -> list[tuple[str, str, str]]:
    rows = []
    for name in ("eg-b2d2a0.jsonl", "eg-54fb8b.jsonl", "acmd-20-12.jsonl"):
        path = SAMPLES / name
        best = min(translated(path) for _ in range(ROUNDS))
        size = path.stat().st_size
        rows.append((f"Codex rollout {name} ({size / 1e6:.1f} MB) to lines", f"{size / best / 1e6:.1f} MB/s", ""))
    listing, opened = listed(5000)
    rows.append(("listing 5,000 Codex rollouts", f"{listing * 1000:.0f} ms", ""))
    rows.append(("which of them a process has open", f"{opened * 1000:.0f} ms", ""))
    return rows


if __name__ == "__main__":
    for row in run():
        print(row)
