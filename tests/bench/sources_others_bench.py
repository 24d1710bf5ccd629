"""How fast logs of the other agents are translated: a long pi session, and everyday ones of the rest."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from interlock.runtime.sources.foreign.reading import all_events, open_log

_SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
_FILES = {
    "pi": ("pi/pi-large.jsonl", 4),
    "kimi": ("kimi-cli/ja-kimi-tools.jsonl", 40),
    "gemini": ("gemini-cli/run-headless.jsonl", 200),
    "acp": ("acp/claude.jsonl", 300),
}


def _rate(sample: Path, times: int) -> float:
    """MB a second of processor time, of one log that holds the sample so often."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        data = sample.read_bytes()
        path.write_bytes((data if data.endswith(b"\n") else data + b"\n") * times)
        translation = open_log(path)
        start = time.process_time()
        for _ in all_events(translation):
            pass
        spent = time.process_time() - start
        translation.close()
        return path.stat().st_size / spent / 1e6


def run() -> list[tuple[str, str, str]]:
    """(name, measured, target) for each figure."""
    return [
        (f"sources: {kind} translated", f"{max(_rate(_SAMPLES / name, times) for _ in range(2)):.1f} MB/s", "> 5 MB/s")
        for kind, (name, times) in _FILES.items()
    ]


if __name__ == "__main__":
    for row in run():
        print("  ".join(row))
