"""`interlock verify`: the chain, the artifacts' digests and the sealed head of one journal. Reads only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.journal.artifacts import ArtifactError, inside
from interlock.runtime.journal.chain import GENESIS, FirstBad, Head, VerifyReport, digest, read_head
from interlock.runtime.journal.codec import loads


@dataclass(slots=True)
class _Walk:
    number: int = 0
    offset: int = 0
    last: str = GENESIS
    before_last: str = GENESIS
    seq: int = -1
    sealed: tuple[str, int] | None = None
    """Digest and end of the line up to which the head has sealed the journal, once it was passed."""


def check_journal(folder: Path, head_file: Path) -> VerifyReport:
    """Check the journal in a session's folder against itself, its artifacts and its sealed head.

    Raises OSError when the journal cannot be read.
    """
    report = VerifyReport(ok=True, lines=0)
    head = read_head(head_file)
    walk = _Walk()
    damaged: tuple[int, int, str] | None = None
    with open(folder / "events.jsonl", "rb") as file:
        for line in file:
            walk.number += 1
            if not line.endswith(b"\n"):
                _unfinished(report, walk, line)
                break
            value, why = loads(line[:-1])
            if not isinstance(value, dict):
                damaged = damaged or (walk.number, walk.offset, why or "not a JSON object")
            else:
                if damaged:
                    damaged = _excused(report, value, damaged)
                if damaged:
                    break
                bad = _check_line(walk, value, folder.name) or _check_artifacts(folder, value, report)
                if bad:
                    report.first_bad = FirstBad(walk.number, walk.offset, bad)
                    break
            walk.last = digest(line)
            walk.offset += len(line)
            report.lines += 1
            if head is not None and isinstance(value, dict) and walk.seq + 1 == head.count:
                walk.sealed = (walk.last, walk.offset)
    if damaged and not report.first_bad:
        report.first_bad = FirstBad(*damaged)
    _check_head(report, walk, head, head_file)
    if not walk.number and not report.first_bad:
        report.first_bad = FirstBad(1, 0, "the journal is empty: no event was recorded, or all were taken away")
    report.ok = report.first_bad is None
    return report


def _excused(report: VerifyReport, value: dict[str, Any], damaged: tuple[int, int, str]) -> tuple[int, int, str] | None:
    number, offset, _ = damaged
    if value.get("type") == "journal.repaired" and value.get("offset") == offset:
        report.notes.append(
            f"line {number} at byte {offset} was torn when its writer ended, and closed off by the next"
        )
        return None
    return damaged


def _check_line(walk: _Walk, value: dict[str, Any], session: str) -> str | None:
    if value.get("session") != session:
        return f"this is a line of session {value.get('session')!r}, in the journal of {session!r}"
    if value.get("prev") != walk.last:
        return "the digest of the line before does not match: this line or the one before was changed, added or removed"
    seq = value.get("seq")
    if seq != walk.seq + 1:
        return f"seq is {seq!r}, expected {walk.seq + 1}"
    walk.seq += 1
    return None


def _check_artifacts(folder: Path, value: dict[str, Any], report: VerifyReport) -> str | None:
    for ref in _references(value):
        try:
            path = inside(folder, str(ref["path"]))
            seen, size = _file_digest(path)
        except (ArtifactError, OSError) as error:
            return f"artifact {ref.get('id')}: {getattr(error, 'strerror', None) or error}"
        if seen != ref["sha256"] or size != ref.get("bytes"):
            return f"artifact {ref.get('id')} ({ref['path']}) is not what was recorded"
        report.artifacts += 1
    return None


def _references(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for ref in value.get("artifacts") or ():
        if isinstance(ref, dict) and "path" in ref and "sha256" in ref:
            yield ref


def _file_digest(path: Path) -> tuple[str, int]:
    hasher, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            hasher.update(chunk)
            size += len(chunk)
    return hasher.hexdigest(), size


def _unfinished(report: VerifyReport, walk: _Walk, line: bytes) -> None:
    report.notes.append(f"unfinished last line at byte {walk.offset} ({len(line)} bytes)")


def _check_head(report: VerifyReport, walk: _Walk, head: Head | None, path: Path) -> None:
    if head is None:
        report.anchor = f"none: there is no sealed head at {path}, so lines cut from the end would not be seen"
        return
    report.anchor = f"sealed head at {path}: {head.count} lines"
    if report.first_bad:
        return
    # a killed writer may have written a line and not yet its head, never the other way round
    if walk.seq + 1 < head.count or walk.offset < head.size:
        missing = head.count - walk.seq - 1
        why = f"the sealed head knows {head.count} events; {missing} are missing from the end"
        report.first_bad = FirstBad(report.lines + 1, walk.offset, why)
    elif head.count and walk.sealed != (head.last, head.size):
        why = f"line {head.count} is not the one that was sealed: another journal stands here"
        report.first_bad = FirstBad(head.count, walk.sealed[1] if walk.sealed else 0, why)
