"""`make bench`: every measurement of this folder in one table.

Each module `*_bench.py` has `run() -> list[tuple[name, measured, target]]`, all three as text for a person.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"interlock_bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main(wanted: list[str]) -> int:
    print(
        f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    rows: list[tuple[str, str, str]] = []
    failed = 0
    for path in sorted(HERE.glob("*_bench.py")):
        if wanted and not any(w in path.stem for w in wanted):
            continue
        began = time.perf_counter()
        print(f"… {path.stem}", file=sys.stderr, flush=True)
        try:
            rows += load(path).run()
        except Exception as error:
            failed += 1
            rows.append((path.stem, f"failed: {type(error).__name__}: {error}", ""))
        print(f"  {path.stem} took {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    widths = [max(len(r[i]) for r in [("what", "measured", "target"), *rows]) for i in range(3)]
    print("| " + " | ".join(t.ljust(w) for t, w in zip(("what", "measured", "target"), widths, strict=True)) + " |")
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for row in rows:
        print("| " + " | ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)) + " |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
