"""Read a whole journal for a command: every line, also those that are no events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.runtime.cli.fault import CommandFault
from interlock.runtime.events.union import DamagedLine, Decoded
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.tail import Line, TailReader

STEP = 4 * 1024 * 1024


def decoded_lines(path: Path) -> Iterator[tuple[Line, Decoded]]:
    """Each complete line with what it says. Raises CommandFault where the journal cannot be read."""
    reader = TailReader(path)
    try:
        while True:
            batch = reader.read(limit_bytes=STEP)
            for line in batch.lines:
                yield line, _decode(line)
            if not batch.more:
                return
    except OSError as error:
        raise CommandFault(f"cannot read {path}: {error.strerror}.") from None
    finally:
        reader.close()


def _decode(line: Line) -> Decoded:
    if line.sha256 is not None:
        return DamagedLine(f"line of {line.size:,} bytes is over the limit; sha256 {line.sha256}", line.raw, line.size)
    return decode_line(line.raw)
