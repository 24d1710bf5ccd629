"""The socket file: where it is, that it is private, that it is ours.

Promises: the folder is private before the file exists, the file is 0600 before anyone can connect; a stale file is
replaced, a live one is never; a path too long for the system gets a short hashed name, and that is said.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from interlock.runtime.asks.peer import peer_of
from interlock.runtime.journal.place import PlaceError, private_folder

_log = logging.getLogger(__name__)

PATH_LIMIT = 107 if sys.platform.startswith("linux") else 103
"""Longest path of a socket in bytes: sun_path of 108 (Linux) or 104 (macOS, BSD) less its end mark."""
BACKLOG = 1024
"""With the default of 100 a burst of connects fails (performance.md, section 4)."""


class EndpointError(Exception):
    """The socket cannot be opened; the message says which, why, and what to do."""


def fitting(path: Path) -> Path:
    """The path itself, or when it is too long a short hashed name in /tmp/interlock-<uid>.

    Raises `EndpointError` when even that cannot be used.
    """
    size = len(os.fsencode(path))
    if size <= PATH_LIMIT:
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    short = Path("/tmp") / f"interlock-{os.getuid()}"
    try:
        made = private_folder(short) / f"{digest}.sock"
    except PlaceError as error:
        raise EndpointError(
            f"the socket path has {size} bytes, the system allows {PATH_LIMIT}, and the short place fails: {error}"
        ) from None
    _log.warning("the socket path %s has %d bytes, the system allows %d: using %s", path, size, PATH_LIMIT, made)
    return made


@dataclass(slots=True)
class Endpoint:
    """A listening socket and the lock that says it is ours."""

    path: Path
    listener: socket.socket
    lock: int
    inode: tuple[int, int]

    @classmethod
    def open(cls, wanted: Path) -> Endpoint:
        """Listen there. Raises `EndpointError`; when another runtime listens, the message names its pid."""
        path = fitting(wanted.absolute())
        try:
            private_folder(path.parent)
        except PlaceError as error:
            raise EndpointError(str(error)) from None
        lock = _take_lock(path)
        try:
            _clear(path)
            listener = _listen(path)
        except BaseException:
            os.close(lock)
            raise
        seen = os.lstat(path)
        return cls(path, listener, lock, (seen.st_dev, seen.st_ino))

    def close(self) -> None:
        """Stop listening and remove the file, unless another has taken its place."""
        self.listener.close()
        with contextlib.suppress(OSError):
            seen = os.lstat(self.path)
            if (seen.st_dev, seen.st_ino) == self.inode:
                os.unlink(self.path)
        with contextlib.suppress(OSError):
            os.unlink(_lock_path(self.path))
        os.close(self.lock)


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _take_lock(path: Path) -> int:
    where = _lock_path(path)
    while True:
        try:
            lock = os.open(where, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EndpointError(f"cannot make {where}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pid = os.read(lock, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise EndpointError(f"another runtime (process {pid}) already listens on {path}") from None
        if _same(lock, where):
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            return lock
        os.close(lock)  # its owner removed the file between our open and our lock


def _same(lock: int, where: Path) -> bool:
    try:
        mine, there = os.fstat(lock), os.lstat(where)
    except OSError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _clear(path: Path) -> None:
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(seen.st_mode):
        raise EndpointError(f"{path} exists and is not a socket. Remove it or choose another place.")
    pid = listener_pid(path)
    if pid is not None:
        raise EndpointError(f"another runtime (process {pid or 'unknown'}) already listens on {path}")
    os.unlink(path)


def listener_pid(path: Path) -> int | None:
    """Pid of the process that listens there; 0: it listens but cannot be told; None: nobody does (a stale file)."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(os.fspath(path))
            return peer_of(probe).pid
        except (ConnectionRefusedError, FileNotFoundError):
            return None
        except OSError:
            return 0


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        listener.bind(os.fspath(path))
        # before listen() nobody can connect, and the folder is private already: no moment with a wider mode counts
        os.chmod(path, 0o600)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise EndpointError(f"cannot listen on {path}: {error}") from None
    return listener
