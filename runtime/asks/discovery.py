"""How screens find hosts: one small file a host in the run folder, `host-<pid>-<random>.json`.

Promises: a file is written whole or not at all; the file of a host that no longer lives is removed with its socket when
it is read; what is not ours or cannot be read is reported, never followed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from interlock.runtime.asks.lineage import Known
from interlock.runtime.asks.process import start_token
from interlock.runtime.asks.protocol import PROTOCOL_VERSION, SessionInfo
from interlock.runtime.events.base import Record
from interlock.runtime.journal.place import PlaceError, run_home
from interlock.runtime.tools import brand
from interlock.runtime.version import __version__

_log = logging.getLogger(__name__)

_MAX_BYTES = 1 << 20


class AgentProcess(Record):
    """A process of an agent."""

    pid: int
    start_time: str


class HostInfo(Record):
    """A host as its discovery file tells it."""

    protocol: int
    pid: int
    start_time: str
    """Opaque; with the pid it names one process for good."""
    socket: str
    version: str = ""
    sessions: tuple[SessionInfo, ...] = ()
    agents: tuple[AgentProcess, ...] = ()
    """Processes of its agents: whatever descends from them may answer nowhere."""
    all_below: bool = False
    """Whether everything below the host belongs to its agent; orphans are adopted by it."""
    touched: tuple[str, ...] = ()
    """Terminal multiplexers that commands of its agents named."""

    @property
    def known(self) -> Known:
        """What it tells of agents' processes."""
        return Known(
            agents={one.pid: one.start_time for one in self.agents},
            hosts={self.pid: self.start_time} if self.all_below else {},
            touched=set(self.touched),
        )


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at the run folder found."""

    hosts: tuple[HostInfo, ...]
    problems: tuple[str, ...]
    """Files that could not be used, and why."""


@dataclass(slots=True)
class Announcement:
    """The discovery file of this process."""

    file: Path
    info: HostInfo

    def update(self, sessions: Sequence[SessionInfo]) -> None:
        """Write it again with other sessions."""
        self._write(sessions=tuple(sessions))

    def tell(self, news: Known) -> None:
        """Write it again with more that is known of agents; processes that have ended are left out."""
        new = [AgentProcess(pid=pid, start_time=started) for pid, started in news.agents.items()]
        living = tuple(one for one in (*self.info.agents, *new) if start_token(one.pid) == one.start_time)
        self._write(agents=living, touched=tuple(sorted({*self.info.touched, *news.touched})))

    def _write(self, **fields: object) -> None:
        self.info = self.info.model_copy(update=fields)
        _write(self.file, self.info)

    def remove(self) -> None:
        """Take it away."""
        self.file.unlink(missing_ok=True)


def new_socket_path() -> Path:
    """A name for a socket in the run folder that no other host has. Raises PlaceError."""
    return run_home() / f"host-{os.getpid()}-{secrets.token_hex(4)}.sock"


def announce(socket_path: Path, sessions: Sequence[SessionInfo]) -> Announcement:
    """Let screens find this host. Raises PlaceError or OSError."""
    info = HostInfo(
        protocol=PROTOCOL_VERSION,
        pid=os.getpid(),
        start_time=start_token(os.getpid()) or "",
        socket=os.fspath(socket_path),
        version=__version__,
        sessions=tuple(sessions),
        all_below=brand.adopts(),
    )
    made = Announcement(run_home() / f"host-{os.getpid()}-{secrets.token_hex(4)}.json", info)
    _write(made.file, info)
    return made


class OtherHosts:
    """What all hosts of the run folder tell of agents' processes; a file is read again only when it has changed."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, int]] = {}

    def news(self) -> Known:
        """What files that are new or have changed tell. What cannot be read tells nothing, and is logged."""
        found = Known()
        try:
            entries = [e for e in os.scandir(run_home()) if e.name.startswith("host-") and e.name.endswith(".json")]
        except (PlaceError, OSError) as error:
            _log.warning("what other hosts know of agents cannot be read: %s", error)
            return found
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                seen = entry.stat(follow_symlinks=False)
                stamp = (seen.st_mtime_ns, seen.st_ino)
                if self._read.get(entry.name) != stamp:
                    self._read[entry.name] = stamp
                    self._add(Path(entry.path), found)
        return found

    def _add(self, file: Path, found: Known) -> None:
        try:
            found.add(_read(file).known)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            _log.info("discovery file not used: %s: %s", file, error)


def hosts() -> list[HostInfo]:
    """The hosts that live now, by pid; what cannot be read is logged. Raises PlaceError as `survey` does."""
    seen = survey()
    for problem in seen.problems:
        _log.info("discovery file not used: %s", problem)
    return list(seen.hosts)


def survey() -> Survey:
    """Look at the run folder; files of dead hosts are removed. Raises PlaceError when it cannot be trusted."""
    found: list[HostInfo] = []
    problems: list[str] = []
    for file in sorted(run_home().glob("host-*.json")):
        try:
            info = _read(file)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            problems.append(f"{file}: {error}")
            continue
        if start_token(info.pid) == info.start_time:
            found.append(info)
        else:
            _clean(file, info)
    return Survey(tuple(sorted(found, key=lambda h: h.pid)), tuple(problems))


def _read(file: Path) -> HostInfo:
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb") as opened:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid():
            raise ValueError("not a file of this user")
        data = opened.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"longer than {_MAX_BYTES} bytes")
    try:
        return HostInfo.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}") from None


def _write(file: Path, info: HostInfo) -> None:
    temporary = file.with_suffix(f".{secrets.token_hex(4)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as opened:
        opened.write(json.dumps(info.model_dump(mode="json", by_alias=True)).encode() + b"\n")
    os.replace(temporary, file)


def _clean(file: Path, info: HostInfo) -> None:
    with contextlib.suppress(OSError):
        file.unlink()
    path = Path(info.socket)
    # only what a host of ours can have made: a private folder of this user, and a socket
    with contextlib.suppress(OSError):
        folder, seen = os.lstat(path.parent), os.lstat(path)
        if folder.st_uid == os.geteuid() and not folder.st_mode & 0o077 and stat.S_ISSOCK(seen.st_mode):
            path.unlink()
            path.with_name(path.name + ".lock").unlink(missing_ok=True)
