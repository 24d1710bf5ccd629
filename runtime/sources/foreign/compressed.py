"""Logs that were compressed with zstd, as Codex does with old rollouts: unpacked into a private file beside.

Promises: the file goes away when it is left; a log that cannot be unpacked whole is none, and the error says why and what
to do. Python has zstd in its own library from 3.14 on; before that the package `zstandard` is used where it is installed.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MAGIC = b"\x28\xb5\x2f\xfd"
"""RFC 8878, section 3.1.1."""
UNPACKED_LIMIT = 4 * 1024 * 1024 * 1024
"""Bytes. A log that unpacks to more is refused: a small file can be made that unpacks to any size."""
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


def _parts(path: Path, unpacker: Callable[[], Any]) -> Iterator[bytes]:
    frame = unpacker()
    with open(path, "rb") as file:
        while packed := file.read(_STEP):
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
            f"{path} is compressed with zstd, which this Python cannot unpack: install the package zstandard, use Python "
            f"3.14 or newer, or unpack it first (zstd -d)"
        ) from None
