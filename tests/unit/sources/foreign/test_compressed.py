"""Rollouts that were compressed with zstd."""

from __future__ import annotations

import json
import zipfile
import zlib
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interlock.runtime.events.foreign import ForeignDamaged
from interlock.runtime.sources.foreign import compressed
from interlock.runtime.sources.foreign.reading import all_events, facts_of, open_log
from interlock.runtime.sources.foreign.registry import UnknownFormat

LOG = b"".join(
    json.dumps(record).encode() + b"\n"
    for record in (
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/w"}},
        {"timestamp": "2026-01-01T00:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "x"}},
    )
)


def frame(content: bytes) -> bytes:
    """A frame of one block that is not compressed: RFC 8878, 3.1.1."""
    head = b"\xa0" + len(content).to_bytes(4, "little")
    return compressed.MAGIC + head + ((len(content) << 3) | 1).to_bytes(3, "little") + content


@pytest.fixture
def unpacker(monkeypatch: pytest.MonkeyPatch) -> None:
    """zstd where this Python has it; else zlib's objects, which have the same methods, behind zstd's mark."""
    try:
        compressed._unpacker(Path("x"))
    except compressed.CannotUnpack:
        monkeypatch.setattr(compressed, "_unpacker", lambda path: _Marked)


class _Marked:
    """Frames of `frame`, unpacked as the libraries do."""

    def __init__(self) -> None:
        self.eof, self.unused_data, self._held = False, b"", b""

    def decompress(self, packed: bytes) -> bytes:
        self._held += packed
        size = int.from_bytes(self._held[5:9], "little")
        if len(self._held) >= 9 and self._held[:5] != compressed.MAGIC + b"\xa0":
            raise zlib.error("no frame")
        if len(self._held) < 12 + size:
            return b""
        self.eof, self.unused_data = True, self._held[12 + size :]
        return self._held[12 : 12 + size]


@pytest.mark.usefixtures("unpacker")
@pytest.mark.parametrize("parts", [(LOG,), (LOG[:70], LOG[70:])])
def test_a_compressed_rollout_comes_to_what_it_held(tmp_path: Path, parts: tuple[bytes, ...]) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(b"".join(map(frame, parts)))
    facts = facts_of(path)
    assert (facts["format"], facts["session"], facts["userTurns"], facts["records"]) == ("codex", "s1", 1, 2)
    assert facts["bytes"] == path.stat().st_size


@pytest.mark.usefixtures("unpacker")
def test_the_unpacked_log_goes_away_when_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    path = tmp_path / "a.zst"
    path.write_bytes(frame(LOG))
    facts_of(path)
    path.write_bytes(frame(b"no log\n"))
    with pytest.raises(UnknownFormat, match=r"a\.zst is no log that can be read"):
        facts_of(path)
    assert list((tmp_path / "t").iterdir()) == []


@pytest.mark.usefixtures("unpacker")
@pytest.mark.parametrize("data", [frame(LOG)[:-1], compressed.MAGIC + b"\xff" * 40])
def test_a_compressed_log_that_is_torn_or_bent_is_refused_whole(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(data)
    with pytest.raises(compressed.CannotUnpack, match="cannot be unpacked"):
        facts_of(path)


@pytest.mark.usefixtures("unpacker")
def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "UNPACKED_LIMIT", 100)
    path = tmp_path / "a.zst"
    path.write_bytes(frame(LOG))
    with pytest.raises(compressed.CannotUnpack, match="more than 100 bytes"):
        facts_of(path)


def archive(path: Path, name: str, value: Any) -> Path:
    """An archive whose only member was compressed with zstd: method 93, in both heads of it."""
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(name, frame(json.dumps(value).encode()))
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.index(mark) + place
        data[at : at + 2] = (93).to_bytes(2, "little")
    path.write_bytes(data)
    return path


@pytest.mark.usefixtures("unpacker")
def test_a_member_of_an_archive_that_zstd_compressed_is_read(tmp_path: Path) -> None:
    """Inspect's logs, as 0.3.285 writes them."""
    spec = {"run_id": "r1", "created": "2026-01-01T00:00:00Z", "packages": {"inspect_ai": "0.3.285"}}
    facts = facts_of(archive(tmp_path / "log.eval", "header.json", {"eval": spec}))
    assert (facts["format"], facts["session"], facts["damagedLines"]) == ("inspect_eval", "r1", 0)


@pytest.mark.usefixtures("unpacker")
def test_a_member_that_is_torn_is_damage_and_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", "header.json", {"eval": {"run_id": "r1"}})
    path.write_bytes(path.read_bytes().replace(compressed.MAGIC, b"torn"))
    with closing(open_log(path)) as log:
        (damaged,) = all_events(log)
    assert isinstance(damaged, ForeignDamaged)
    assert "header.json" in damaged.reason


def test_a_python_without_zstd_says_what_an_archive_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(compressed, "importlib", SimpleNamespace(import_module=absent))
    with pytest.raises(compressed.CannotUnpack, match="install the package zstandard"):
        facts_of(archive(tmp_path / "log.eval", "header.json", {}))


def test_a_python_without_zstd_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(compressed, "importlib", SimpleNamespace(import_module=absent))
    path = tmp_path / "a.zst"
    path.write_bytes(frame(LOG))
    with pytest.raises(compressed.CannotUnpack, match="install the package zstandard"):
        facts_of(path)
