"""Options that programs of this machine tell of themselves: what `--help` prints, with a guess at each value's kind.

Promises: the same for the same machine; each program is asked once, behind the walls that commands run behind.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache

from tests.oracle.sandbox import walls

_ASK = r"""
case $1 in
  git\ *) told=$(timeout 1 $1 -h 2>&1 </dev/null) ;;
  curl) told=$(curl --help all 2>&1 </dev/null) ;;
  *) told=$(timeout 1 "$1" --help 2>&1 </dev/null) ;;
esac
printf '\001%s\002%s' "$1" "${told:0:60000}"
"""
_LINE = re.compile(
    r"^ {1,12}(-\w)?(?:[ =]?(<[^>]+>|[A-Z][A-Za-z_-]*))?(?:, *)?(--[a-z][\w-]+)?(\[?[ =]\[?(?:<[^>]+>|[A-Z][A-Z_-]*)\]?)?(?:\s|$)"
)
_KINDS = (
    (re.compile(r"DIR|FOLDER", re.I), "DIR"),
    (re.compile(r"OUT", re.I), "OUT"),
    (re.compile(r"FILE|PATH|^F$|ARCHIVE", re.I), "ANYFILE"),
    (re.compile(r"PROG|CMD|COMMAND|EXEC|SHELL", re.I), "PROG"),
    (re.compile(r"URL", re.I), "URL"),
    (re.compile(r"HOST|ADDR|PROXY", re.I), "HOST"),
    (re.compile(r"PATTERN|GLOB|^RE$|REGEX", re.I), "GLOB"),
    (re.compile(r"NUM|^N+$|SIZE|BYTES|COLS|LEVEL|WIDTH|COUNT|LINES|SEC", re.I), "N"),
    (re.compile(r"MODE|PERM", re.I), "MODE"),
    (re.compile(r"DATE|TIME", re.I), "DATE"),
)  # fmt: skip


@cache
def options_told(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Name -> its options, written as in programs.toml."""
    done = subprocess.run(
        [*walls(), "xargs", "-0", "-n1", "-P4", "bash", "-c", _ASK, "ask"],
        input="\0".join(names),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    told = (part.partition("\2") for part in done.stdout.split("\1")[1:])
    return {name: tuple(dict.fromkeys(_options(text.splitlines()))) for name, _, text in told}


def _options(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        # rsync gives the long name first
        line = re.sub(r"^(--[\w-]+)(?:, (-\w))?(=\S+)?", r" \2, \1\3", line)
        match = _LINE.match(line)
        if match is None:
            continue
        short, short_value, long, long_value = match.groups()
        value = long_value or short_value or ""
        kind = _kind(value.strip(" =[]<>")) if value else ""
        sign = "?=" if value.startswith("[") else "="
        for name in (short, long):
            if name and name not in ("--help", "--version", "-h"):
                yield f"{name}{sign}{kind}" if kind else name


def _kind(text: str) -> str:
    return next((kind for pattern, kind in _KINDS if pattern.search(text)), "ANY")
