"""Hosts that stand in no run folder of ours: a journal with an open ask says where it can be answered.

Promises: what cannot be reached there is told, with the session and the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.runtime.asks.discovery import HostInfo
    from interlock.runtime.asks.recorded import WaitingSession

EVERY = 8
"""Every how many calls of `look` the journals are looked through."""


class Elsewhere:
    """What journals say of hosts, and which of these hosts did not answer."""

    def __init__(self) -> None:
        self._looks = 0
        self._found: list[WaitingSession] = []
        self._silent: dict[str, str] = {}

    async def look(self, sockets: Collection[str], served: Collection[str]) -> list[HostInfo]:
        """Hosts to try, but for those at these `sockets`; `served`: sessions of hosts that are connected."""
        from interlock.runtime.asks.discovery import HostInfo
        from interlock.runtime.asks.protocol import PROTOCOL_VERSION
        from interlock.runtime.asks.recorded import waiting_sessions

        self._looks += 1
        if self._looks % EVERY != 1:
            return []
        found = await asyncio.to_thread(waiting_sessions, served)
        self._found = [one for one in found if one.reply_to not in sockets]
        addresses = sorted({one.reply_to for one in self._found if one.reply_to})
        return [HostInfo(protocol=PROTOCOL_VERSION, pid=0, start_time="", socket=path) for path in addresses]

    def answered(self, socket: str) -> None:
        """The host there has been reached."""
        self._silent.pop(socket, None)

    def failed(self, socket: str, why: str) -> None:
        """The host there could not be reached."""
        self._silent[socket] = why

    def unreached(self) -> tuple[str, ...]:
        """What waits where nobody can be reached, in words."""
        told = [(one, self._silent.get(one.reply_to) if one.reply_to else one.NO_ADDRESS) for one in self._found]
        return tuple(one.unreached(why) for one, why in told if why)
