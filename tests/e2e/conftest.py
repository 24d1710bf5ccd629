"""A program in a real terminal of its own."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class Terminal:
    """A program in a tmux of its own."""

    def __init__(self, home: Path, size: tuple[int, int], command: str) -> None:
        self.home = home
        self._server = f"interlock-test-{uuid.uuid4().hex[:8]}"
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(home),
            "INTERLOCK_STATE_DIR": str(home / "state"),
            "INTERLOCK_RUN_DIR": str(home / "run"),
            "INTERLOCK_CONFIG_DIR": str(home / "config"),
        }
        width, height = size
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "sh")
        self._tmux("set-option", "-g", "remain-on-exit", "on")
        self.type(command + "; echo left with $?")
        self.keys("Enter")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._server, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def paste(self, text: str) -> None:
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def keys(self, *names: str) -> None:
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def wait(self, seen: Callable[[str], bool], what: str, seconds: float = 30) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            shown = self.screen()
            if seen(shown):
                return shown
            time.sleep(0.1)  # a terminal gives no sign of its own: it can only be looked at again
        raise AssertionError(f"not seen within {seconds} s: {what}\n{self.screen()}")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._server, "kill-server"], capture_output=True, timeout=20, check=False)


@pytest.fixture
def open_terminal() -> Iterator[Callable[[Path, tuple[int, int], str], Terminal]]:
    opened: list[Terminal] = []

    def start(home: Path, size: tuple[int, int], command: str) -> Terminal:
        opened.append(Terminal(home, size, command))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()
