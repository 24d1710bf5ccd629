"""Following a file: every line once, half lines wait, a file that is cut or replaced is noticed. (spec EV-5)"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.runtime.journal.tail import Batch, TailReader, last_lines, read_line_at

CASES = Path(__file__).resolve().parents[2] / "data/cases/bug-cases.jsonl"


def case(case_id: str) -> dict:
    return next(c for line in CASES.read_bytes().split(b"\n") if line and (c := json.loads(line))["id"] == case_id)


def raws(batch: Batch) -> list[bytes]:
    return [line.raw for line in batch.lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ev.jsonl"


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def test_a_half_line_waits_and_is_joined_before_it_is_looked_at(path: Path) -> None:
    """BC-070, once with the same reader and once with a new one between the halves."""
    steps = case("BC-070")["input"]["steps"]
    halves = [
        s["text"].encode() if "append_raw" in s else base64.b64decode(s["b64"])
        for s in steps
        if "append_raw" in s or "append_bytes_b64" in s
    ]
    for restarts in (False, True):
        path.unlink(missing_ok=True)
        reader, seen, counts = TailReader(path), [], []
        for half in halves:
            append(path, half)
            batch = reader.read()
            seen += raws(batch)
            counts.append(len(seen))
            if restarts:
                reader.close()
                reader = TailReader(path, batch.cursor)
        assert counts == [0, 1, 1, 2]
        assert json.loads(seen[1])["text"] == "日本"
        reader.close()


def test_truncation_replacement_and_deletion_are_noticed_and_no_line_comes_twice(path: Path) -> None:
    """BC-052: rows 1 to 6 once each, with a note at each change of the file."""
    reader, rows, notes = TailReader(path), [], []
    for step in case("BC-052")["input"]["steps"]:
        match step:
            case {"append_to": name, "lines": lines}:
                append(path.with_name(name), "".join(line + "\n" for line in lines).encode())
            case {"truncate": name}:
                os.truncate(path.with_name(name), 0)
            case {"rename": [old, new]}:
                os.rename(path.with_name(old), path.with_name(new))
            case {"delete": name}:
                os.unlink(path.with_name(name))
        batch = reader.read()
        rows += [json.loads(line.raw)["inv"] for line in batch.lines]
        notes += batch.notes
    assert rows == ["i1", "i2", "i3", "i4", "i5", "i6"]
    assert next(n for n in notes if n != "missing") == "truncated"
    assert len(notes) >= 3
    reader.close()


def test_a_file_that_was_cut_and_has_grown_past_the_old_end_is_noticed(path: Path) -> None:
    append(path, b'{"n":1}\n')
    reader = TailReader(path)
    reader.read()
    path.write_bytes(b'{"n":"another, longer record"}\n{"n":3}\n')
    batch = reader.read()
    assert batch.notes == ["truncated"]
    assert raws(batch) == [b'{"n":"another, longer record"}', b'{"n":3}']
    assert {line.generation for line in batch.lines} == {1}
    reader.close()


def test_an_atomic_replacement_by_a_shorter_file_is_another_generation(path: Path) -> None:
    """ST-022"""
    append(path, b'{"n":1}\n{"n":2}\n')
    reader = TailReader(path)
    reader.read()
    other = path.with_name("new")
    other.write_bytes(b'{"n":9}\n')
    os.replace(other, path)
    batch = reader.read()
    assert batch.notes == ["replaced"]
    assert [(line.raw, line.generation) for line in batch.lines] == [(b'{"n":9}', 1)]
    assert reader.line_at(0, 0) == b'{"n":1}'
    assert reader.line_at(0, 1) == b'{"n":9}'
    reader.close()


@pytest.mark.parametrize("changed", ["replaced", "truncated", "same"])
def test_a_cursor_from_an_earlier_run_is_honoured_only_for_the_same_file(path: Path, changed: str) -> None:
    append(path, b'{"n":1}\n{"n":2}\n')
    first = TailReader(path)
    cursor = first.read().cursor
    if changed == "replaced":
        path.with_name("new").write_bytes(b'{"n":7}\n' * 9)
        os.replace(path.with_name("new"), path)
    elif changed == "truncated":
        path.write_bytes(b'{"n":70}\n')
    first.close()
    append(path, b'{"n":3}\n')
    reader = TailReader(path)
    batch = reader.read(cursor)
    assert batch.notes == ([] if changed == "same" else [changed])
    assert raws(batch)[0] == {"same": b'{"n":3}', "truncated": b'{"n":70}', "replaced": b'{"n":7}'}[changed]
    assert reader.read().lines == []
    reader.close()


def test_lines_are_split_at_line_feeds_alone(path: Path) -> None:
    """ST-013, BC-006: CR, U+2028, U+2029, U+0085, vertical tab and form feed are text."""
    odd = '{"t":"left\u2028right\u0085end\u2029.\x0b\x0c\x1c\r"}'.encode()
    append(path, odd + b"\r\n" + b'{"n":2}\r\n')
    reader = TailReader(path)
    batch = reader.read()
    assert raws(batch) == [odd, b'{"n":2}']
    assert batch.cursor.offset == path.stat().st_size
    reader.close()


def test_blank_lines_are_counted_and_a_byte_order_mark_is_noted(path: Path) -> None:
    """ST-012, ST-015"""
    append(path, b'\xef\xbb\xbf{"n":1}\n\n   \n\r\n{"n":2}\n')
    reader = TailReader(path)
    batch = reader.read()
    assert raws(batch) == [b'{"n":1}', b'{"n":2}']
    assert (batch.blank, batch.notes) == (3, ["bom"])
    reader.close()


def test_a_missing_file_is_an_empty_batch_and_is_read_once_it_is_there(path: Path) -> None:
    reader = TailReader(path)
    assert reader.read().notes == ["missing"]
    assert reader.read().notes == []
    append(path, b'{"n":1}\n')
    assert raws(reader.read()) == [b'{"n":1}']
    reader.close()


def test_the_limit_stops_a_read_and_says_so(path: Path) -> None:
    append(path, (b'{"n":"' + b"y" * 1000 + b'"}\n') * 2000)
    reader = TailReader(path)
    total, reads = 0, 0
    while True:
        batch = reader.read(limit_bytes=1 << 18)
        total, reads = total + len(batch.lines), reads + 1
        if not batch.more:
            break
    assert total == 2000
    assert reads > 3
    reader.close()


def test_the_last_lines_are_had_without_reading_the_rest(path: Path) -> None:
    append(path, b"".join(b'{"n":%d}\n' % n for n in range(100_000)) + b'{"n":"unfin')
    lines = last_lines(path, 4096)
    assert lines[-1].raw == b'{"n":99999}'
    assert 300 < len(lines) < 500
    assert all(read_line_at(path, line.offset) == line.raw for line in lines)
    assert TailReader(path).last(4096) == lines


BIG = """
import resource, sys, hashlib
from pathlib import Path
from interlock.runtime.journal.columns import build
from interlock.runtime.journal.tail import TailReader, read_line_at
from interlock.runtime.sources.follower import SessionFollower
folder = Path(sys.argv[1])
def peak() -> int:
    # ru_maxrss begins at the size of the process that started this one; VmHWM begins anew
    try:
        status = open("/proc/self/status").read()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
follower = SessionFollower(folder)
follower.catch_up()
read_line_at(folder / "events.jsonl", follower.damage[0].offset)
print(peak() - before, follower.tally.lines, follower.damage[0].size, follower.damage[0].reason)
"""


def test_a_line_of_100_megabytes_costs_bounded_memory(tmp_path: Path) -> None:
    """ST-008: size and digest are told, the lines around it are read."""
    folder = tmp_path / "s1"
    folder.mkdir()
    small = b'{"type":"message.user","seq":%d,"session":"s1","messageId":"m","text":"x"}\n'
    hasher = hashlib.sha256(b'{"a":"')
    with open(folder / "events.jsonl", "wb") as file:
        file.write(small % 0 + b'{"a":"')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
            hasher.update(b"x" * 1_000_000)
        file.write(b'"}\n' + small % 1)
    hasher.update(b'"}')
    done = subprocess.run(
        [sys.executable, "-c", BIG, str(folder)], capture_output=True, text=True, timeout=120, check=True
    )
    growth, lines, size, reason = done.stdout.split(maxsplit=3)
    assert (int(lines), int(size)) == (3, 100_000_008)
    assert hasher.hexdigest() in reason
    assert int(growth) < 64 * 1024 * 1024
