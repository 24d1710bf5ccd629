"""How approvers find hosts: a small file a host beside its socket.

Promises: a host that is gone is not listed and its files are cleaned; a pid that was used again is not taken for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from interlock.runtime.journal.place import private_folder, run_home

PATH_LIMIT = 107 if sys.platform.startswith("linux") else 103
"""Bytes of a socket's path: sun_path is 108 bytes on Linux and 104 on macOS, the last one is NUL."""


class SocketPathError(Exception):
    """No socket can be made at this path; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session that a host owns."""

    id: str
    title: str = ""
    agent: str = ""
    cwd: str = ""
    journal: str = ""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """A process that owns asks."""

    pid: int
    start_time: str
    """When the process started, in the system's own units: with the pid it names one process for good."""
    socket: str
    sessions: tuple[SessionInfo, ...] = field(default_factory=tuple)
    protocol: int = 1


def socket_path(name: str) -> tuple[Path, str]:
    """(path for a host's socket, a note or ""). A path that is too long becomes a short hashed one, and the note says so.

    Raises SocketPathError when even that is too long, PlaceError when the folder cannot be used.
    """
    path = run_home() / f"{name}.sock"
    if len(os.fsencode(path)) <= PATH_LIMIT:
        return path, ""
    short = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    fallback = private_folder(Path(tempfile.gettempdir()) / f"interlock-{os.getuid()}") / f"{short}.sock"
    if len(os.fsencode(fallback)) > PATH_LIMIT:
        fallback = private_folder(Path("/tmp") / f"interlock-{os.getuid()}") / f"{short}.sock"
    if len(os.fsencode(fallback)) > PATH_LIMIT:
        raise SocketPathError(
            f"the socket path {path} has {len(os.fsencode(path))} bytes; this system allows {PATH_LIMIT}. "
            "Set INTERLOCK_RUN_DIR to a shorter folder."
        )
    return fallback, f"the path {path} is over this system's limit of {PATH_LIMIT} bytes; the socket is {fallback}"


def start_time(pid: int) -> str:
    """When a process started, "" where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat[stat.rindex(")") + 2 :].split()[19]
    except (OSError, ValueError, IndexError):
        return ""


def announce(name: str, info: HostInfo) -> Path:
    """Write the discovery file of this host, whole or not at all."""
    path = run_home() / f"{name}.json"
    part = path.with_suffix(f".{os.getpid()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(info), file)
    os.replace(part, path)
    return path


def read_info(path: Path) -> HostInfo | None:
    """What a discovery file says, or None where it cannot be understood."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        names = SessionInfo.__dataclass_fields__
        sessions = tuple(SessionInfo(**{k: v for k, v in s.items() if k in names}) for s in value.get("sessions", ()))
        return HostInfo(int(value["pid"]), str(value["start_time"]), str(value["socket"]), sessions)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def is_alive(info: HostInfo) -> bool:
    """Whether the very process that wrote the file still lives."""
    try:
        os.kill(info.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not info.start_time or start_time(info.pid) in ("", info.start_time)


def hosts() -> list[HostInfo]:
    """The living hosts of this user. Files of dead ones are removed. Raises PlaceError."""
    found = []
    for path in sorted(run_home().glob("*.json")):
        info = read_info(path)
        if info is None:
            continue
        if is_alive(info):
            found.append(info)
        else:
            withdraw(path, Path(info.socket))
    return found


def withdraw(announcement: Path, socket_file: Path) -> None:
    """Remove a host's files."""
    announcement.unlink(missing_ok=True)
    with suppress(OSError):
        socket_file.unlink(missing_ok=True)


def is_listening(path: Path) -> bool:
    """Whether someone answers at a socket. A file that a killed process left refuses the connection."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(os.fspath(path))
        except OSError:
            return False
        return True
