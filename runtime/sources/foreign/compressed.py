"""Logs that were compressed with zstd, as Codex does with old rollouts, unpacked into a private file beside; and members of
archives that were, as Inspect's are.

Promises: the file goes away when it is left; a log that cannot be unpacked whole is none, and the error says why and what
to do. Python has zstd in its own library from 3.14 on; before that the package `zstandard` is used where it is installed.
"""

from __future__ import annotations

import importlib
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MAGIC = b"\x28\xb5\x2f\xfd"
"""RFC 8878, section 3.1.1."""
UNPACKED_LIMIT = 4 * 1024 * 1024 * 1024
"""Bytes. A log that unpacks to more is refused: a small file can be made that unpacks to any size."""
_ZIP_ZSTD = 93
"""The method's number in archives: APPNOTE 6.3.10, section 4.4.5."""
_LOCAL = struct.Struct("<4s5H3I2H")
"""The head of a member: APPNOTE, section 4.3.7."""
_STEP = 4096
"""Compressed bytes that are unpacked at a time: at most about 128 MiB come out of so many."""


class CannotUnpack(OSError):
    """The log is compressed and cannot be unpacked; the message says why."""


def is_compressed(path: Path) -> bool:
    """Whether the file begins as one of zstd's. Raises OSError."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The log, unpacked for as long as it is looked at. Raises CannotUnpack, OSError."""
    unpacker = _unpacker(path)
    with tempfile.NamedTemporaryFile(prefix="interlock-", suffix=".jsonl") as plain:
        size = 0
        for part in _parts(path, unpacker):
            size += len(part)
            if size > UNPACKED_LIMIT:
                raise CannotUnpack(f"{path} unpacks to more than {UNPACKED_LIMIT:,} bytes")
            plain.write(part)
        plain.flush()
        yield Path(plain.name)


def member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    """A member of an archive, of at most `limit` bytes: also one that zstd compressed, as Inspect's are (seen in 0.3.285).

    Raises CannotUnpack, and what `zipfile` raises.
    """
    if info.compress_type != _ZIP_ZSTD:
        return archive.read(info)
    unpacker, found = _unpacker(path), bytearray()
    for part in _parts(path, unpacker, *_place_of(path, info)):
        found += part
        if len(found) > limit:
            raise CannotUnpack(f"{info.filename} unpacks to more than {limit:,} bytes")
    return bytes(found)


def check_members(path: Path) -> None:
    """Whether this Python can unpack all members of an archive. Raises CannotUnpack where not."""
    try:
        with zipfile.ZipFile(path) as archive:
            needed = any(info.compress_type == _ZIP_ZSTD for info in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError):
        return
    if needed:
        _unpacker(path)


def _place_of(path: Path, info: zipfile.ZipInfo) -> tuple[int, int]:
    """(offset, bytes) of a member as it stands in its archive."""
    with open(path, "rb") as file:
        file.seek(info.header_offset)
        head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size:
        raise CannotUnpack(f"{info.filename} cannot be unpacked: it is not where the archive says")
    *_, name, extra = _LOCAL.unpack(head)
    return info.header_offset + _LOCAL.size + name + extra, info.compress_size


def _parts(path: Path, unpacker: Callable[[], Any], start: int = 0, size: int | None = None) -> Iterator[bytes]:
    frame = unpacker()
    with open(path, "rb") as file:
        file.seek(start)
        while packed := file.read(_STEP if size is None else min(_STEP, start + size - file.tell())):
            while packed:
                if frame.eof:
                    frame = unpacker()
                try:
                    yield frame.decompress(packed)
                except Exception as error:
                    # each library has an error of its own
                    raise CannotUnpack(f"{path} cannot be unpacked: {error}") from None
                packed = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise CannotUnpack(f"{path} cannot be unpacked: its end is missing")


def _unpacker(path: Path) -> Callable[[], Any]:
    """What makes an object that unpacks one frame."""
    try:
        return importlib.import_module("compression.zstd").ZstdDecompressor
    except ModuleNotFoundError:
        pass
    try:
        return importlib.import_module("zstandard").ZstdDecompressor().decompressobj
    except ModuleNotFoundError:
        raise CannotUnpack(
            f"{path} is compressed with zstd, which this Python cannot unpack: install the package zstandard or use Python "
            f"3.14 or newer"
        ) from None
