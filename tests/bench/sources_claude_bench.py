"""How fast transcripts of Claude Code's become events and lines, and what a list of many sessions costs."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from interlock.runtime.sources.claude_code.adapter import FORMAT
from interlock.runtime.sources.claude_code.places import transcripts
from interlock.runtime.sources.claude_code.summary import summary
from interlock.runtime.sources.foreign.translation import Translation

_SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "claude-code"
_LOGS = ("omp-750203", "omp-22523a", "ent-37995e", "omp-239b63")
_SESSIONS = 5000


def _translate(path: Path, *, lines: bool) -> tuple[float, int]:
    translation = Translation(path, FORMAT, "lines", session="s")
    began, made, more = time.perf_counter(), 0, True
    while more:
        made += len(translation.read()) if lines else sum(1 for _ in translation.events())
        more = translation.more
    translation.close()
    return time.perf_counter() - began, made


def _speed(path: Path, *, lines: bool) -> str:
    seconds, made = min(_translate(path, lines=lines) for _ in range(3))
    return f"{path.stat().st_size / seconds / 1e6:.0f} MB/s, {made / seconds / 1000:.0f}k events/s"


def run() -> list[tuple[str, str, str]]:
    """(name, measured, target) for each figure."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_bytes(b"".join((_SAMPLES / f"{name}.jsonl").read_bytes().rstrip(b"\n") + b"\n" for name in _LOGS) * 4)
        size = log.stat().st_size / 1e6
        rows.append((f"claude code: events of {size:.0f} MB", _speed(log, lines=False), ""))
        rows.append((f"claude code: lines of {size:.0f} MB", _speed(log, lines=True), ""))
        rows += _listed(Path(folder) / "config")
    return rows


def _listed(config: Path) -> list[tuple[str, str, str]]:
    for number in range(_SESSIONS):
        project = config / "projects" / f"-p{number % 50}"
        project.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_SAMPLES / "omp-9cb8c8.jsonl", project / f"{number}.jsonl")
    began = time.perf_counter()
    found = transcripts(config)
    listed = time.perf_counter() - began
    began = time.perf_counter()
    for log in found[:200]:
        summary(log.path)
    each = (time.perf_counter() - began) / 200
    return [
        (f"claude code: list {len(found):,} sessions", f"{listed * 1000:.0f} ms", "< 100 ms"),
        ("claude code: summary of one session (51 KB)", f"{each * 1000:.2f} ms", "< 5 ms"),
    ]


if __name__ == "__main__":
    for row in run():
        print("  ".join(row))
