"""The one writer of a session's journal.

Promises: one `write` an event; what was appended as durable is on disk before `append` returns; one writer a journal,
held by a lock for the writer's life; an unfinished last line of a killed writer is closed off and told; a write that
fails leaves no partial record and stops all further ones.
Does not promise: that events which were not durable survive a power loss (they survive a killed process).
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from interlock.runtime.events.ids import Ids
from interlock.runtime.events.session import JournalRepaired
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.journal import chain, place
from interlock.runtime.journal.artifacts import ArtifactStore
from interlock.runtime.journal.codec import decode_line, encode
from interlock.runtime.journal.scan import JournalScan, scan

Clock = Callable[[], datetime]
"""Gives the time in UTC."""
Listener = Callable[[AnyEvent, bytes, int], None]
"""Called with each event after it was written: the event, its line, the byte offset of the line. Its faults are logged."""

_log = logging.getLogger(__name__)


def system_clock() -> datetime:
    """The time of this machine, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as it stands in `ts`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class JournalWriteError(Exception):
    """An event could not be recorded, so what it would have recorded must not happen."""


class JournalLocked(Exception):
    """Another process writes this journal; the message names it."""


class JournalWriter:
    """Appends events to `<session folder>/events.jsonl`. Make one with `create` or `open`."""

    def __init__(self, session: str, folder: Path, clock: Clock, lock: int, state: JournalScan) -> None:
        self.session = session
        self.folder = folder
        self.path = folder / "events.jsonl"
        self.ids = Ids(state.highest_ids)
        self.artifacts = ArtifactStore(folder, self.ids)
        self._clock = clock
        self._lock = lock
        self._seq = state.next_seq
        self._prev = state.last_digest
        self._size = state.size
        self._failed: str | None = None
        self._listeners: list[Listener] = []
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o600)
        try:
            self._head = self._open_head()
        except BaseException:
            os.close(self._file)
            raise

    def _open_head(self) -> int:
        heads = place.kept_folder(place.heads_home())
        head = os.open(heads / self.session, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not os.fstat(head).st_size:
                # its room on the disk is taken before the first event, so that a full disk cannot part event and head
                os.pwrite(head, chain.head_line(self._seq, self._prev, self._size), 0)
        except OSError:
            os.close(head)
            raise
        return head

    @classmethod
    def create(cls, session: str, clock: Clock = system_clock) -> JournalWriter:
        """Begin a new journal.

        Raises JournalWriteError if there is one already or the folder cannot be made, PlaceError where others may
        write to the folder of all sessions.
        """
        folder = place.session_folder(session)
        try:
            place.kept_folder(place.sessions_home())
            folder.mkdir(mode=0o700)
            return cls._first(session, folder, clock)
        except OSError as error:
            advice = "Make room or set INTERLOCK_STATE_DIR to a folder that can be written."
            raise JournalWriteError(f"cannot begin the journal in {folder}: {error.strerror}. {advice}") from None

    @classmethod
    def _first(cls, session: str, folder: Path, clock: Clock) -> JournalWriter:
        lock = -1
        try:
            lock = _take_lock(folder)
            return cls(session, folder, clock, lock, JournalScan())
        except BaseException:
            if lock >= 0:
                os.close(lock)
            # what could not begin must not be listed as a session
            for name in ("events.jsonl", "writer.lock"):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
            raise

    @classmethod
    def open(cls, session: str, clock: Clock = system_clock) -> JournalWriter:
        """Go on with a journal, closing off a torn last line.

        Raises JournalLocked when its writer lives, JournalWriteError when it cannot be read or written.
        """
        folder = place.session_folder(session)
        if not folder.is_dir():
            raise JournalWriteError(f"there is no session {session} in {folder.parent}")
        lock = _take_lock(folder)
        try:
            state = scan(folder / "events.jsonl")
            writer = cls(session, folder, clock, lock, state)
        except (OSError, place.PlaceError) as error:
            os.close(lock)
            why = getattr(error, "strerror", None) or error
            raise JournalWriteError(f"cannot open {folder / 'events.jsonl'}: {why}") from None
        try:
            if state.torn:
                writer._close_off(state)
        except JournalWriteError:
            writer.close()
            raise
        return writer

    def _close_off(self, state: JournalScan) -> None:
        self._write(b"\n")
        self._prev = chain.digest(state.torn + b"\n")
        self.append(
            JournalRepaired(
                offset=state.size - len(state.torn),
                torn_bytes=len(state.torn),
                message="the writer before this one ended in the middle of this line",
            ),
            durable=True,
        )

    def now(self) -> datetime:
        """The writer's clock."""
        return self._clock()

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` after each event that was written."""
        self._listeners.append(listener)

    def append(self, event: AnyEvent, durable: bool = False) -> AnyEvent:
        """Record one event and return it with its envelope filled in.

        Raises JournalWriteError when it is not recorded; then nothing that it would have recorded may happen.
        """
        if self._failed:
            raise JournalWriteError(f"the journal {self.path} stopped: {self._failed}")
        ts = stamp(self._clock())
        try:
            line = encode(event, session=self.session, seq=self._seq, ts=ts, prev=self._prev)
        except ValueError as error:
            # nothing was written, so the writer can go on with other events
            raise JournalWriteError(f"cannot record in {self.path}: {error}") from None
        offset = self._size
        if durable:
            self._look()
        self._write(line)
        try:
            if durable:
                self._sync()
            self._seal(self._seq + 1, chain.digest(line), durable)
        except JournalWriteError as error:
            self._cut_back(offset, error)
        written = event.model_copy(update={"session": self.session, "seq": self._seq, "ts": ts, "prev": self._prev})
        self._seq += 1
        self._prev = chain.digest(line)
        for listener in self._listeners:
            try:
                listener(written, line, offset)
            except Exception:
                # the event is on record: to raise here would say that it is not, and an answer would be asked again
                _log.exception("a listener of %s failed on %s", self.path, event.type)
        return written

    @property
    def failed(self) -> bool:
        """Whether a write has failed and `recover` has not succeeded since."""
        return self._failed is not None

    def _look(self) -> None:
        # what is acknowledged must be found by whoever opens the path, not only by who holds the old file open
        try:
            mine, there = os.fstat(self._file), os.stat(self.path)
        except OSError as error:
            self._refuse(f"the file is gone: {error.strerror}")
        if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
            self._refuse("another file has been put in its place")
        if mine.st_size != self._size:
            self._refuse(f"it has {mine.st_size} bytes where this writer left {self._size}: somebody else changed it")

    def _refuse(self, why: str) -> NoReturn:
        self._failed = why
        raise JournalWriteError(f"cannot record in {self.path}: {why}. Nothing more is run until it is put back.")

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
        except OSError as error:
            self._stop(f"{error.strerror} (nothing was recorded)")
        if written != len(data):
            self._stop("the disk took only a part of the record; it was cut back")
        self._size += written

    def _stop(self, why: str) -> NoReturn:
        # a partial record is cut back before anything else can be written behind it
        try:
            os.ftruncate(self._file, self._size)
        except OSError as error:
            why += f"; cutting it back failed too: {error.strerror}"
        self._failed = why
        raise JournalWriteError(f"cannot record in {self.path}: {why}. Free space on that disk, then try again.")

    def _sync(self) -> None:
        try:
            os.fdatasync(self._file) if hasattr(os, "fdatasync") else os.fsync(self._file)
        except OSError as error:
            # after a failed sync nobody knows what is on disk: no more may be promised on this descriptor
            self._failed = f"the disk did not confirm the record: {error.strerror}"
            raise JournalWriteError(f"cannot record in {self.path}: {self._failed}") from None

    def _cut_back(self, offset: int, error: JournalWriteError) -> NoReturn:
        # who hears that an event was not recorded must not find it in the journal afterwards
        self._size = offset
        try:
            os.ftruncate(self._file, offset)
            os.pwrite(self._head, chain.head_line(self._seq, self._prev, offset), 0)
        except OSError as failed:
            self._failed = f"{self._failed}; cutting it back failed too: {failed.strerror}"
            raise JournalWriteError(f"{error}; cutting it back failed too: {failed.strerror}") from None
        raise error

    def _seal(self, count: int, last: str, durable: bool) -> None:
        # fixed width, one pwrite: a reader never sees half of it; sync is left to the next durable event's own order
        try:
            os.pwrite(self._head, chain.head_line(count, last, self._size), 0)
            if durable and count % 64 == 0:
                os.fsync(self._head)
        except OSError as error:
            self._failed = f"the sealed head could not be written: {error.strerror}"
            raise JournalWriteError(f"cannot record in {self.path}: {self._failed}") from None

    def recover(self) -> None:
        """Try again after a failed write, for example when space was made. Raises JournalWriteError if it still fails."""
        try:
            mine, there = os.fstat(self._file), os.stat(self.path)
            if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
                self._refuse("another file has been put in its place")
            state = scan(self.path)
            if state.next_seq != self._seq or state.last_digest != self._prev:
                self._refuse("it does not end where this writer left it")
            if state.torn:
                os.ftruncate(self._file, state.size - len(state.torn))
                state = scan(self.path)
        except OSError as error:
            raise JournalWriteError(f"cannot go on with {self.path}: {error.strerror}") from None
        self._sync()
        self._seq, self._prev, self._size, self._failed = state.next_seq, state.last_digest, state.size, None

    def close(self) -> None:
        """Give the journal up. Safe to call twice."""
        if self._lock >= 0:
            for descriptor in (self._file, self._head, self._lock):
                os.close(descriptor)
            self._lock = -1


def _take_lock(folder: Path) -> int:
    descriptor = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # a reader that asks whether the writer lives holds the lock for microseconds: try again before giving up
    for _ in range(20):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            try:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            except OSError:
                os.close(descriptor)
                raise
            return descriptor
    pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    os.close(descriptor)
    raise JournalLocked(f"the journal in {folder} is being written by process {pid}. It can have one writer only.")


def writer_alive(folder: Path) -> bool:
    """Whether a process holds the journal's lock right now. The lock, not a pid, is the evidence: pids are used again."""
    try:
        descriptor = os.open(folder / "writer.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


__all__ = ["Clock", "JournalLocked", "JournalWriteError", "JournalWriter", "decode_line", "stamp", "writer_alive"]
