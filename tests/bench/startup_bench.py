"""How long the program takes to begin: whole processes, run in turn, the median of the ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent / "interlock"
ROUNDS = 15


def cpu_and_wall(argv: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds of one whole process."""
    before = os.times()
    began = time.perf_counter()
    subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - began
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system,
        wall,
    )


def paired(argv: list[str], other: list[str], environment: dict[str, str], rounds: int = ROUNDS) -> tuple[float, float]:
    """(median ratio of wall times, median wall seconds of `argv`), the two run in turn."""
    ratios, walls = [], []
    for _ in range(rounds):
        _, mine = cpu_and_wall(argv, environment)
        _, theirs = cpu_and_wall(other, environment)
        ratios.append(mine / theirs)
        walls.append(mine)
    return statistics.median(ratios), statistics.median(walls)


def run() -> list[tuple[str, str, str]]:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "HOME": home,
            "PATH": os.environ["PATH"],
            "INTERLOCK_STATE_DIR": f"{home}/state",
            "INTERLOCK_RUN_DIR": f"{home}/run",
        }
        bare = [sys.executable, "-c", "pass"]
        version, wall = paired([str(BIN), "--version"], bare, environment)
        listing, listing_wall = paired([str(BIN), "sessions"], bare, environment, 5)
    return [
        ("interlock --version / python -c pass (wall)", f"{version:.2f}x ({wall * 1000:.0f} ms)", "< 3x"),
        ("interlock sessions, none on disk / python -c pass", f"{listing:.1f}x ({listing_wall * 1000:.0f} ms)", ""),
    ]
