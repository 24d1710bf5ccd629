"""Asks that stand in journals, for a reader whose environment names another run folder than their hosts'.

Promises: an open ask of every session whose writer lives is found by what its journal says, the address to answer at
(`replyTo`) included. Does not promise: that the host there answers; nothing is connected to.
"""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from interlock.runtime.events.permission import PermissionAnswered, PermissionClosed, ToolPermission
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.place import PlaceError, sessions_home
from interlock.runtime.journal.tail import last_lines
from interlock.runtime.journal.writer import writer_alive

_END = 8 << 20
"""Bytes at the end of a journal that are looked through; a session that waits writes little."""
_MARK = b'"type":"tool.permission'


@dataclass(frozen=True, slots=True)
class WaitingSession:
    """A session whose writer lives and whose journal has open asks."""

    session: str
    reply_to: str | None
    """Where they can be answered; None: the journal does not say."""
    asks: tuple[ToolPermission, ...]
    NO_ADDRESS: ClassVar = "its journal does not say where to answer"

    def unreached(self, why: str) -> str:
        """That it waits where nobody can be reached, for a person."""
        number = "1 ask waits" if len(self.asks) == 1 else f"{len(self.asks)} asks wait"
        return f"{number} in session {self.session}, its host cannot be reached: {why}"


def waiting_sessions(served: Container[str] = ()) -> list[WaitingSession]:
    """Those that wait, but for sessions that are `served` by a host that is known already."""
    try:
        folders = sorted(entry.path for entry in os.scandir(sessions_home()) if entry.name not in served)
    except (OSError, PlaceError):
        return []
    found = []
    for folder in map(Path, folders):
        asks = open_asks(folder) if writer_alive(folder) else ()
        if asks:
            found.append(WaitingSession(folder.name, asks[-1].reply_to, asks))
    return found


def open_asks(folder: Path) -> tuple[ToolPermission, ...]:
    """The asks in a session's journal that have not ended, oldest first."""
    try:
        lines = [line.raw for line in last_lines(folder / "events.jsonl", _END) if _MARK in line.raw]
    except OSError:
        return ()
    left: dict[str, ToolPermission] = {}
    for line in lines:
        match event := decode_line(line):
            case ToolPermission(decision="ask", ask_id=str(ask_id)):
                left[ask_id] = event
            case PermissionAnswered() | PermissionClosed():
                left.pop(event.ask_id, None)
            case _:
                pass
    return tuple(left.values())
