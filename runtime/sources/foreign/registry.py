"""All formats that can be read, and which of them a log is. Names of files are not looked at.

Promises: the format is found from at most the first 256 KiB or the first line; a log that no format claims is said to be
unknown, with what was looked for.
"""

from __future__ import annotations

import importlib
import stat
import zipfile
from functools import cache
from itertools import islice
from pathlib import Path

from interlock.runtime.journal.codec import LINE_LIMIT
from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.foreign.adapter import Format, Framing, Sample
from interlock.runtime.sources.foreign.framing import frame_document, frame_line
from interlock.runtime.sources.foreign.record import ForeignRecord

HEAD_BYTES = 256 * 1024
DOCUMENT_LIMIT = 512 * 1024 * 1024
"""Bytes of a log that is read whole; a longer one is damaged, and says so."""
_SURE = 20
"""Least claim that is believed."""
_FORMATS = (
    "claude_code",
    "codex",
    "gemini",
    "opencode",
    "pi",
    "copilot_cli",
    "kimi",
    "qwen",
    "iflow",
    "antigravity",
    "vs_copilot",
    "mini_swe_agent",
    "swe_agent",
    "inspect_eval",
    "atif",
    "acp",
    "cline",
)
"""Every name is a module or package `interlock.runtime.sources.<name>` with `FORMAT`."""


class UnknownFormat(Exception):
    """No format claims the log; the message says what it looks like and what can be read."""


@cache
def formats() -> tuple[Format, ...]:
    """All formats, each once."""
    return tuple(importlib.import_module(f"interlock.runtime.sources.{name}").FORMAT for name in _FORMATS)


def by_kind(kind: str) -> Format:
    """The format of this name. Raises KeyError."""
    for known in formats():
        if known.kind == kind:
            return known
    raise KeyError(f"no format is called {kind!r}; there are {', '.join(f.kind for f in formats())}")


def detect(path: Path) -> tuple[Format, Framing]:
    """Whose log it is and how its bytes are taken apart. Raises UnknownFormat, OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        # a pipe would be waited for, a device read without an end
        raise UnknownFormat(f"{path} is no log that can be read: it is no file of its own but {_kind(path)}.")
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
        if b"\n" not in head:
            # a pasted picture makes a first record longer than that
            head += file.readline(LINE_LIMIT)
        whole = not file.read(1)
    samples = list(_samples(path, head, whole))
    claims: list[tuple[int, Format, Framing]] = [
        (known.claims(sample), known, sample.framing)
        for sample in samples
        for known in formats()
        if sample.framing in known.framing
    ]
    best = max(claims, key=lambda claim: claim[0], default=None)
    if best is None or best[0] < _SURE:
        names = ", ".join(f.agent for f in formats())
        raise UnknownFormat(f"{path} is no log that can be read: {_looks(samples, head)}. What can be read: {names}.")
    return best[1], best[2]


def _kind(path: Path) -> str:
    mode = path.stat().st_mode
    names = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe: write it to a file first"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in names if test(mode)), "a device")


def _samples(path: Path, head: bytes, whole: bool) -> list[Sample]:
    if head.startswith(b"SQLite format 3\x00"):
        return [Sample((), "rows", head[:65536])]
    if head.startswith(b"PK\x03\x04") and zipfile.is_zipfile(path):
        return [Sample((), "archive", head[:65536])]
    found = []
    lines = _first_lines(head, whole)
    if any(isinstance(value, dict) for value in lines):
        found.append(Sample(tuple(lines), "lines", head[:65536]))
    # a long log is not read whole for its second line's sake: where its first is a record, it is a log of lines
    is_lines = not whole and bool(lines) and _is_record(head)
    if not is_lines and (len(lines) <= 1 or (b"\n" in head.strip() and not _one_a_line(head))):
        found.append(Sample(tuple(_first_documents(path, head, whole)), "document", head[:65536]))
    return found


def _one_a_line(head: bytes) -> bool:
    """Whether the first two lines are an object each: then it is no document, however long it is."""
    first = [line for line in head.split(b"\n", 3)[:2] if line.strip()]
    found = [list(frame_line(Line(0, raw, len(raw)))) for raw in first]
    whole = [f[0] for f in found if len(f) == 1 and isinstance(f[0], ForeignRecord) and not f[0].glued]
    return len(whole) == 2 and all(isinstance(r.value, dict) for r in whole)


def _is_record(head: bytes) -> bool:
    """Whether the first line that is not blank is one whole object."""
    raw = next((line for line in head.split(b"\n", 50) if line.strip()), b"")
    found = list(frame_line(Line(0, raw, len(raw))))
    return len(found) == 1 and isinstance(found[0], ForeignRecord) and isinstance(found[0].value, dict)


def _first_lines(head: bytes, whole: bool) -> list[object]:
    parts = head.split(b"\n")
    if not whole:
        parts = parts[:-1] or parts
    found: list[object] = []
    for raw in parts[:50]:
        if raw.strip():
            found += [r.value for r in frame_line(Line(0, raw, len(raw))) if isinstance(r, ForeignRecord)]
    return found[:50]


def _first_documents(path: Path, head: bytes, whole: bool) -> list[object]:
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return []
    if not whole and path.stat().st_size > DOCUMENT_LIMIT:
        return []
    data = head if whole else path.read_bytes()
    return list(islice((r.value for r in frame_document(data) if isinstance(r, ForeignRecord)), 50))


def _looks(samples: list[Sample], head: bytes) -> str:
    if not head:
        return "it is empty"
    if not any(sample.records for sample in samples):
        return "it holds no JSON, no archive and no database"
    first = next((r for s in samples for r in s.records if isinstance(r, dict)), {})
    return f"its first record has the fields {', '.join(sorted(map(str, first))[:12]) or '(none)'}"
