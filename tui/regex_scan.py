"""The process in which a regular expression runs over a file: it may take its time, and it may be killed.

`python -m interlock.tui.regex_scan PATH START forwards|backwards PATTERN` prints the start and end of the hit; exit 1
when there is none, 2 when the pattern is none. `^` and `$` are the ends of lines.
"""

from __future__ import annotations

import mmap
import re
import sys


def main(arguments: list[str]) -> int:
    """Run one search. Returns the exit code."""
    path, start, direction, pattern = arguments
    try:
        wanted = re.compile(pattern.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        print(error, file=sys.stderr)
        return 2
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            return 1
        hit = _last_before(wanted, data, int(start)) if direction == "backwards" else wanted.search(data, int(start))
    if hit is None:
        return 1
    print(hit.start(), hit.end())
    return 0


def _last_before(wanted: re.Pattern[bytes], data: mmap.mmap, end: int) -> re.Match[bytes] | None:
    """The last hit before a place, from ever larger stretches before it, so that a near hit is quick."""
    reach = 1 << 16
    while True:
        last = None
        for last in wanted.finditer(data, max(end - reach, 0), end):  # noqa: B007 - the last one is wanted
            pass
        if last is not None or reach >= end:
            return last
        reach *= 16


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
