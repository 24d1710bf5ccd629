"""What became of an ask that is not open any more, for whoever answers too late.

Promises: a host that lives is asked first, then the newest journals are looked through; an ask whose runtime or gate was
killed is closed on record (`runtime_restarted`) before it is told. Nothing is ever run or answered here.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from interlock.runtime.events.approver import APPROVER_WORDS
from interlock.runtime.events.permission import PermissionAnswered, PermissionClosed, ToolPermission
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.opening import is_foreign
from interlock.runtime.journal.tail import last_lines
from interlock.runtime.journal.writer import JournalLocked, JournalWriteError, writer_alive

_SHORTEST = 8
"""Letters of an id from which on journals are searched for it."""
_NEWEST = 200
"""Journals that are looked through."""
_END = 1 << 20
"""Bytes at the end of each that are looked through."""


def fate(wanted: str, sockets: list[str]) -> str | None:
    """How the ask with this id, or whose id begins so, ended; None when nothing is known of it."""
    if len(wanted) < _SHORTEST:
        return None
    return _told_by_hosts(wanted, sockets) or _told_by_journals(wanted)


def _told_by_hosts(wanted: str, sockets: list[str]) -> str | None:
    from interlock.runtime.asks.client import AskRefused, BlockingClient, HostGone
    from interlock.runtime.cli.asks_command import PATIENCE_S

    def ask(socket: str) -> str | None:
        try:
            with BlockingClient(socket, "interlock answer", timeout=PATIENCE_S) as connection:
                connection.call("asks.shown", askId=wanted)  # of an ask that has ended the host tells how, no more
        except AskRefused as error:
            return None if error.name == "unknown_ask" else f"{wanted} is not open: {error.message}"
        except HostGone:
            return None
        return None

    with ThreadPoolExecutor(max_workers=16) as pool:
        return next((told for told in pool.map(ask, sockets) if told), None)


def _told_by_journals(wanted: str) -> str | None:
    from interlock.runtime.journal.place import sessions_home

    try:
        folders = [Path(entry.path) for entry in os.scandir(sessions_home()) if entry.is_dir()]
    except OSError:
        return None
    for folder in sorted(folders, key=lambda found: found.name, reverse=True)[:_NEWEST]:
        events = _events_of(folder / "events.jsonl", wanted)
        if events:
            return _told(folder, events)
    return None


def _events_of(path: Path, wanted: str) -> list[ToolPermission | PermissionAnswered | PermissionClosed]:
    mark = f'"askId":"{wanted}'.encode(errors="replace")
    try:
        lines = [line.raw for line in last_lines(path, _END) if mark in line.raw]
    except OSError:
        return []
    found = (decode_line(line) for line in lines)
    return [e for e in found if isinstance(e, ToolPermission | PermissionAnswered | PermissionClosed)]


def _told(folder: Path, events: list[ToolPermission | PermissionAnswered | PermissionClosed]) -> str:
    last = events[-1]
    match last:
        case PermissionAnswered():
            who = last.by.client or APPROVER_WORDS.get(last.by.kind, last.by.kind)
            return f"{last.ask_id} is not open: already answered with {last.answer} by {who} at {last.ts}"
        case PermissionClosed():
            return f"{last.ask_id} is not open: closed at {last.ts} ({last.cause}); {_without_us(folder)}"
        case ToolPermission():
            return _left_open(folder, last)


def _left_open(folder: Path, ask: ToolPermission) -> str:
    from interlock.runtime.gates.recovery import recover

    host = "gate" if is_foreign(folder) else "runtime"
    if writer_alive(folder):
        return f"the {host} of {ask.ask_id} (session {folder.name}) lives, but does not answer on its socket"
    try:
        recover(folder.name)
        done = "the ask is closed now (runtime_restarted)"
    except (JournalWriteError, JournalLocked) as error:
        done = f"it could not be closed on record: {error}"
    ended = f"the {host} of session {folder.name} has ended"
    return f"{ask.ask_id} is not open: {ended}, {_without_us(folder)}; {done}"


def _without_us(folder: Path) -> str:
    """What became of a call that nobody answered here."""
    return "its agent's own prompt decides" if is_foreign(folder) else "nothing was run"
