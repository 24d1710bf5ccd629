"""Search results, from ripgrep's JSON lines.

Promises: files come in the order of their paths, whichever program searched; binary files are counted, not shown.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.tools.output import decode


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file."""

    number: int
    text: str
    hit: bool
    """False: context of a hit."""


@dataclass(slots=True)
class FileHits:
    """What was found in one file."""

    path: str
    lines: list[Line] = field(default_factory=list)
    binary: bool = False

    @property
    def count(self) -> int:
        """Lines that match."""
        return sum(line.hit for line in self.lines)


def parse(lines: Iterable[bytes]) -> list[FileHits]:
    """The hits, file by file. A line that was cut off (the search was stopped) is left out."""
    files: dict[str, FileHits] = {}
    for raw in lines:
        try:
            record = json.loads(raw)
        except ValueError:
            continue
        kind, data = record["type"], record["data"]
        if kind not in ("match", "context", "end"):
            continue
        path = _text(data["path"])
        hits = files.setdefault(path, FileHits(path))
        if kind == "end":
            hits.binary = data.get("binary_offset") is not None
        else:
            text = _text(data["lines"]).removesuffix("\n").removesuffix("\r")
            hits.lines.append(Line(data["line_number"], text, kind == "match"))
    return sorted((f for f in files.values() if f.count), key=lambda f: f.path.split("/"))


def _text(value: dict[str, Any]) -> str:
    return decode(b64decode(value["bytes"])).text if "bytes" in value else str(value["text"])
