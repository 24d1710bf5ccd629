"""The shell programs of hooks as files: written whole, for their owner alone, and only where they are not as they should be."""

from __future__ import annotations

import os
from pathlib import Path

from interlock.runtime.journal.place import make_closed


def write_program(place: Path, text: str) -> Path:
    """Put the program there, at once and whole, or leave it when it is as it should be. Raises OSError."""
    make_closed(place.parent)
    if holds_program(place, text):
        return place
    new = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o700)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(new, place)
    finally:
        new.unlink(missing_ok=True)
    return place


def holds_program(place: Path, text: str) -> bool:
    """Whether the program is there and is this one."""
    try:
        return place.read_text() == text
    except (OSError, UnicodeDecodeError):
        return False
