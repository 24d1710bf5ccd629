"""`python -m tests.oracle --count 20000 --from 0 --program git`: run generated commands and print what was missed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.oracle.fixture import make_fixture
from tests.oracle.generate import load_entries
from tests.oracle.hunt import Catch, hunt, report, smallest_each
from tests.oracle.sandbox import why_not


def main() -> int:
    """Print the misses by program, most frequent first."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--program", default="", help="only entries whose name begins so")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=60, help="kinds of misses that are made small")
    parser.add_argument("--report", type=Path, help="also write the page there")
    given = parser.parse_args()
    if reason := why_not():
        print(f"cannot run: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        base = Path(folder).resolve()
        root = base / "fix"
        make_fixture(root)
        load_entries()  # once, in front of the children
        began = time.monotonic()
        catch = _hunt_all(range(given.first, given.first + given.count), root, base, given.program, given.jobs)
        seconds = time.monotonic() - began
        found = smallest_each(catch.misses, root, base / "shrink", given.most)
        page = report(catch, found, root)
        print(page)
        if given.report:
            given.report.write_text(page)
        print(f"{sum(catch.ran.values())} commands in {seconds:.0f} s ({sum(catch.ran.values()) / seconds:.0f}/s), "
              f"{len(catch.ran)} programs, touched {dict(catch.touched)}, {len(catch.misses)} missed")  # fmt: skip
    return 1 if catch.misses else 0


def _hunt_all(seeds: range, root: Path, base: Path, only: str, jobs: int) -> Catch:
    whole = Catch()
    size = max(1, min(2000, len(seeds) // jobs + 1))
    parts = [seeds[at : at + size] for at in range(0, len(seeds), size)]
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(hunt, part, root, base / f"s{at}", only) for at, part in enumerate(parts)]
        for done in waiting:
            catch = done.result()
            whole.ran += catch.ran
            whole.touched += catch.touched
            whole.misses += catch.misses
    return whole


if __name__ == "__main__":
    sys.exit(main())
