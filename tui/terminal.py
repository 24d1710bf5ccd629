"""Where Textual reads the terminal: its parser, behind a filter for replies.

The one place that touches Textual's drivers. Promises: the filter is only ever between the terminal and the parser; on
a platform with another driver nothing is changed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

from interlock.tui.model.reply import ReplyStripper


class ReplyFreeParser(XTermParser):
    """Textual's parser, which never sees a reply that it does not know."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._replies = ReplyStripper()

    def feed(self, data: str) -> Iterable[Message]:
        """Messages of what was read; the end of the input passes as it is."""
        if not data:
            return super().feed(data)
        kept = self._replies.strip(data, time.monotonic())
        return super().feed(kept) if kept else ()


def driver_class() -> type[Driver] | None:
    """The driver for this platform, None for Textual's own choice."""
    if sys.platform == "win32":
        return None
    from textual.drivers import linux_driver

    class InterlockDriver(linux_driver.LinuxDriver):
        """Reads through `ReplyFreeParser`."""

        def run_input_thread(self) -> None:
            """Textual makes its parser by this name in here."""
            linux_driver.XTermParser = ReplyFreeParser  # type: ignore[misc]
            super().run_input_thread()

    return InterlockDriver
