"""One key at a time, in the order in which they were typed.

A key goes from the app to what has the focus, and when nobody there keeps it, back up to the app, where its command runs.
A letter is kept by an editor at once; a movement of the cursor makes the whole way. Sent off together they overtake each
other, and a key typed right after one that opens an editor comes to whatever had the focus before.
Promises: no key sets out before the one before it was kept by a widget, or its command has run and what that sent up has
arrived; none before the screen on top has its widgets; a paste keeps its place among the keys; nothing that was typed is
dropped. A key whose widget has gone meanwhile holds the next ones for at most `PATIENCE` seconds.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.widget import Widget

PATIENCE = 1.0
"""Seconds after which the next key is sent on whatever became of the one before."""
_LAPS = 2
"""Ways up behind a key: the first comes after its command has run, the second after what the command sent from there."""
_LOOK_AGAIN = 0.01
"""Seconds until it is looked again whether a new screen has its widgets."""


class KeyPassed(Message):
    """Goes the way of a key, behind it: where this arrives, the key has been."""

    def __init__(self, number: int, lap: int) -> None:
        super().__init__()
        self.number, self.lap = number, lap


class Keyboard:
    """The keys of one app. Give it every key and paste of the terminal, and every `KeyPassed` that arrives at the app."""

    def __init__(self, app: App[Any], send: Callable[[events.Event], Awaitable[None]]) -> None:
        """`send`: hands one event to what has the focus."""
        self._app, self._send = app, send
        self._waiting: deque[events.Event] = deque()
        self._target: Widget | None = None
        self._number = 0
        self._under_way = False
        self._patience: asyncio.TimerHandle | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a key is under way."""
        return self._under_way

    async def take(self, event: events.Event) -> None:
        """Send this when everything before it has been."""
        self._waiting.append(event)
        if not self._under_way:
            await self._next()

    async def passed(self, message: KeyPassed) -> None:
        """One way up is done."""
        if message.number != self._number or not self._under_way:
            return
        if message.lap < _LAPS:
            self._follow(message.lap + 1)
        else:
            # what the command has left for later, a new focus among it, comes first
            self._app.call_later(self._go_on, message.number)

    async def _next(self) -> None:
        if not self._waiting:
            return
        self._under_way = True
        self._number += 1
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(PATIENCE, self._app.call_later, self._go_on, self._number, False)
        self._target = self._app.focused or self._app.screen
        await self._send(self._waiting.popleft())
        self._follow(1)

    def _follow(self, lap: int) -> None:
        if self._target is None or not self._target.post_message(KeyPassed(self._number, lap)):
            self._app.call_later(self._go_on, self._number)

    async def _go_on(self, number: int, wait_for_screen: bool = True) -> None:
        if number != self._number or not self._under_way:
            return
        if wait_for_screen and not self._app.screen.is_mounted:
            self._app.set_timer(_LOOK_AGAIN, lambda: self._app.call_later(self._go_on, number))
            return
        if self._patience is not None:
            self._patience.cancel()
        self._under_way = False
        await self._next()
