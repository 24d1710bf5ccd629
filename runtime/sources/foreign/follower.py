"""A foreign session, followed as if it were one of ours: translated into a spool that the usual follower reads.

Promises: all that is known of a journal of ours (columns, timeline, state, lines by offset) is known of a foreign log
too; memory does not grow with the log; what a gate recorded of the same session stands among its calls. The spool is a
private file that goes away with the follower, or with the next process's first one after a crash: the log stays the
record.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from interlock.runtime.journal.alive import is_running
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.envelope import EnvelopeBrief, brief
from interlock.runtime.journal.place import PlaceError, private_folder
from interlock.runtime.journal.tail import Batch, read_line_at
from interlock.runtime.sources.follower import SessionFollower
from interlock.runtime.sources.foreign.adapter import Framing
from interlock.runtime.sources.foreign.gated import GateRecord
from interlock.runtime.sources.foreign.home import AgentHome, Judged, LogRef
from interlock.runtime.sources.foreign.prices import Prices
from interlock.runtime.sources.foreign.registry import UnknownFormat, by_kind, detect
from interlock.runtime.sources.foreign.translation import Translation
from interlock.runtime.state.session import SessionState, Status

RECORD_SHOWN = 1024 * 1024
"""Bytes of one record of a foreign log that are shown."""

END_BYTES = 1024 * 1024
"""Bytes at the end of a log that are translated before the rest, for a first picture."""
END_BASE = 1 << 60
"""Offsets of the lines of that first picture begin here, above those of every file."""


class ForeignFollower(SessionFollower):
    """Follows one log of an agent's. Not safe for use by two threads at once."""

    def __init__(
        self, ref: LogRef, home: AgentHome | None = None, *, gates: Sequence[Path] = (), prices: Prices | None = None
    ) -> None:
        """`gates`: the journals of the gates that answered for this session. Raises OSError."""
        spools = spool_home()
        _swept(spools)
        folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=spools))
        super().__init__(folder)
        self.id = ref.id
        self.state = SessionState(id=ref.id)
        self.ref = ref
        self.log = ref.path
        self._home = home
        self._framing: Framing = _framing(ref)
        self._translation = Translation(
            ref.path, by_kind(ref.kind), self._framing, session=ref.id, part=ref.part, prices=prices
        )
        self._end_path = folder / "end.jsonl"
        self._gate = GateRecord()
        for gate in gates:
            self.attach(gate)
        self._unwritten = b""
        """Lines that the spool has not taken yet."""
        self._spool = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def attach(self, gate: Path) -> None:
        """Tell what this gate's journal records too, now and as it grows."""
        self._gate.attach(gate)
        self.artifacts_home = gate.parent

    @property
    def translation(self) -> Translation:
        """For its tally."""
        return self._translation

    def end(self) -> list[tuple[EnvelopeBrief | None, int]]:
        """The events of the last records, translated on their own: what stands before them is not known to them.

        Their lines are kept in a spool beside, at offsets from `END_BASE` on.
        """
        translation = Translation(
            self.log, self._translation.format, self._framing, session=self.id, part=self.ref.part
        )
        found: list[tuple[EnvelopeBrief | None, int]] = []
        with open(self._end_path, "wb") as spool:
            for event in translation.end_events(END_BYTES):
                for line in translation.encode(event):
                    found.append((brief(line[:-1]), END_BASE + spool.tell()))
                    spool.write(line)
        translation.close()
        return found

    def raw(self, offset: int, generation: int | None = None) -> bytes | None:
        """The line at a byte offset, also of the end that was shown first."""
        if offset < END_BASE:
            return super().raw(offset, generation)
        try:
            return read_line_at(self._end_path, offset - END_BASE)
        except OSError:
            return None

    def poll(self, limit_bytes: int = 4 * 1024 * 1024) -> Batch:
        """Translate what has come, up to about `limit_bytes` of the log, and fold it."""
        self._flush()
        translation = self._translation
        lines: list[bytes] = []
        for event in translation.events(limit_bytes):
            lines += [line for e in self._gate.merged(event) for line in translation.encode(e)]
        lines += [line for e in self._gate.late() for line in translation.encode(e)]
        self._unwritten += b"".join(lines)
        self._flush()
        batch = super().poll(1 << 62)
        batch.more = translation.more
        self.read_bytes = translation.read_bytes
        return batch

    def _flush(self) -> None:
        """Write what waits for the spool; what a full disk does not take waits on, and nothing more is translated."""
        try:
            if os.fstat(self._spool).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "it was taken away; open the session again")
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self._spool, self._unwritten) :]
        except OSError as error:
            raise OSError(error.errno, f"the spool {self.path} cannot be written: {error.strerror}") from None

    def record_of(self, line: bytes, offset: int) -> tuple[int, bytes]:
        """(byte offset, bytes) of the agent's own record, at most `RECORD_SHOWN`; a gate's line as it is."""
        origin = getattr(decode_line(line), "origin", None)
        if origin is None or self._translation.framing in ("rows", "archive"):
            return offset, line
        with contextlib.suppress(OSError), open(origin.log or self.log, "rb") as file:
            file.seek(origin.offset)
            return origin.offset, file.read(min(origin.size, RECORD_SHOWN))
        return offset, line

    def judge(self, now: int = 0) -> Judged:
        """What the session is doing, and how we know. `now`: microseconds since 1970, 0 for this machine's time."""
        now = now or time.time_ns() // 1000
        if self.state.asks:
            count = len(self.state.asks)
            return Judged("waiting", f"{count} open ask{'s' if count > 1 else ''} at its gate", live=True)
        if self._home is None:
            return Judged("gone", "a log on its own: what its process does is not known", guessed=True)
        # half a log tells of calls whose results are not read yet
        return self._home.judge(self.ref, None, None if self._translation.more else self.state, now)

    def is_alive(self) -> bool:
        """Whether the agent is at work on this session, as far as is known."""
        return self.judge().status in ("waiting", "running", "idle")

    def status(self, now: int = 0) -> tuple[Status, str]:
        """What the session is doing, and the evidence for it."""
        judged = self.judge(now)
        return judged.status, judged.evidence + (" (guessed)" if judged.guessed else "")

    def close(self) -> None:
        """Give the files back; the spool goes away."""
        super().close()
        self._translation.close()
        self._gate.close()
        if self._spool >= 0:
            os.close(self._spool)
            self._spool = -1
        shutil.rmtree(self.folder, ignore_errors=True)


def _framing(ref: LogRef) -> Framing:
    """How the log is taken apart. A log that says nothing yet is taken for the first way of its format."""
    known = by_kind(ref.kind)
    with contextlib.suppress(UnknownFormat, OSError):
        found, framing = detect(ref.path)
        if found is known:
            return framing
    return known.framing[0]


def spool_home() -> Path:
    """The private folder of spools. Raises OSError."""
    place = Path(tempfile.gettempdir()) / f"interlock-spool-{os.getuid()}"
    try:
        return private_folder(place)
    except PlaceError as error:
        why = (
            f"{place}, which holds what is read of other agents' logs, cannot be used ({error}); set TMPDIR to another"
        )
        raise OSError(errno.EACCES, why) from None


@cache
def _swept(home: Path) -> None:
    """Take away the spools of processes that are gone: once a process, which may follow thousands of logs itself, and
    in a thread of its own: a process that was killed leaves thousands, and nobody is to wait for that.
    """
    threading.Thread(target=_sweep, args=(home,), name="sweep spools", daemon=True).start()


def _sweep(home: Path) -> None:
    with contextlib.suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            pid = entry.name.partition("-")[0]
            if pid.isdigit() and int(pid) != os.getpid() and not is_running(int(pid)):
                shutil.rmtree(entry.path, ignore_errors=True)
