"""Send text to the terminal's clipboard, or to a file when it is too long for that.

Promises: the source text goes, not the pixels; inside tmux the sequence is wrapped so that tmux hands it on; a half
character is sent as U+FFFD and does not fail; the wording says what is known: sent to the terminal. Nobody can know
whether the terminal took it, so nothing here says "copied".
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LIMIT = 74_994
"""Bytes of text sent at most: 100,000 bytes of sequence, the least that common terminals take (xterm's default is more)."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What to write to the terminal, and what to tell the person."""

    sequence: str
    """To be written to the terminal as it is; empty when the text went to a file."""
    message: str
    """Our own words, with a path of ours when there is a file."""
    file: Path | None = None


def copy(text: str, *, environ: Mapping[str, str], folder: Path | None = None, limit: int = LIMIT) -> Copied:
    """Make a copy of a text ready. Writes a private file in `folder` (the temporary folder) over the limit.

    Raises OSError when that file cannot be written.
    """
    data = encoded(text)
    if not data:
        return Copied("", "Nothing to copy here.")
    if len(data) > limit:
        path = _to_file(data, folder)
        return Copied("", f"{len(data):,} bytes are too many for the terminal's clipboard: written to {path}", path)
    sequence = osc52(data, environ=environ)
    through = " through tmux" if environ.get("TMUX") else ""
    return Copied(sequence, f"Sent to the terminal{through}: {len(data):,} {'byte' if len(data) == 1 else 'bytes'}.")


def encoded(text: str) -> bytes:
    """UTF-8; halves of one character that stand together are joined, a lone half becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def osc52(data: bytes, *, environ: Mapping[str, str]) -> str:
    """The sequence that asks a terminal to take `data`; wrapped for tmux or GNU screen when they stand between."""
    bare = f"\x1b]52;c;{b64encode(data).decode('ascii')}\x07"
    if environ.get("TMUX"):
        return "\x1bPtmux;" + bare.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environ.get("STY"):
        return "".join(f"\x1bP{bare[at : at + 500]}\x1b\\" for at in range(0, len(bare), 500))
    return bare


def _to_file(data: bytes, folder: Path | None) -> Path:
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="interlock-copy-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return Path(name)
