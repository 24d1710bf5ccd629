"""Read a whole journal for a command: every line, also those that are no events.

Promises: what could not be told is counted, so that a command can say so and end with exit code 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.runtime.cli.fault import CommandFault
from interlock.runtime.events.union import DamagedLine, Decoded
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.tail import Line, TailReader
from interlock.runtime.journal.writer import writer_alive

STEP = 4 * 1024 * 1024


class Reading:
    """One pass over a journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        self.damaged = 0
        self.unfinished = 0
        """Bytes of a last line without its end."""

    def decoded(self) -> Iterator[tuple[Line, Decoded]]:
        """Each complete line with what it says. Raises CommandFault where the journal cannot be read."""
        reader = TailReader(self.path)
        try:
            more = True
            while more:
                batch = reader.read(limit_bytes=STEP)
                for line in batch.lines:
                    event = _decode(line)
                    self.lines += 1
                    self.damaged += isinstance(event, DamagedLine)
                    yield line, event
                more, self.unfinished = batch.more, batch.pending_bytes
        except OSError as error:
            raise unreadable(self.path, error) from None
        finally:
            reader.close()

    def close(self) -> None:
        """Raise CommandFault when something of the journal could not be told. For the end of a command."""
        faults = []
        if not self.lines and not self.unfinished:
            faults.append("it is empty: nothing was recorded, or all was taken away")
        if self.damaged:
            faults.append(f"{self.damaged} of {self.lines} lines could not be read")
        if self.unfinished and not writer_alive(self.path.parent):
            faults.append(
                f"the last line is unfinished ({self.unfinished} bytes): its writer ended there, or it was cut"
            )
        if faults:
            name = self.path.parent.name
            raise CommandFault(f"{self.path}: {'; '.join(faults)}. 'interlock verify {name}' says where it breaks.")


def unreadable(path: Path, error: OSError) -> CommandFault:
    """The fault of a journal that the system does not let us read."""
    return CommandFault(f"cannot read {path}: {error.strerror}. Check who owns it and its mode (ls -l).")


def _decode(line: Line) -> Decoded:
    if line.sha256 is not None:
        return DamagedLine(f"line of {line.size:,} bytes is over the limit; sha256 {line.sha256}", line.raw, line.size)
    return decode_line(line.raw)
