"""The way into the terminal and out of it, on a real pseudo-terminal. (spec UI-9; issue: first light)"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent / "interlock"
RESTORED = b"\x1b[?1049l"
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("terminal")]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "TMPDIR": str(home),
        "INTERLOCK_STATE_DIR": str(home / "state"),
        "INTERLOCK_RUN_DIR": str(home / "run"),
    } | more


class Screen:
    """A program on a terminal of 100x30 that nobody answers for."""

    def __init__(self, home: Path, *command: str, **more: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment(home, **more), start_new_session=True
        )
        self.slave = slave
        self.output = b""

    def read_until(self, wanted: bytes, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while wanted not in self.output and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536)
        assert wanted in self.output, self.output[-2000:]

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def left(self, seconds: float = 20) -> int:
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536)
        assert self.process.poll() is not None, self.output[-2000:]
        while select.select([self.master], [], [], 0.2)[0]:
            self.output += os.read(self.master, 65536)
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def started(tmp_path: Path) -> Iterator:
    made: list[Screen] = []

    def start(*command: str, **more: str) -> Screen:
        made.append(Screen(tmp_path, *(command or (str(BIN),)), **more))
        return made[-1]

    yield start
    for screen in made:
        screen.close()


def test_without_a_terminal_it_says_so_and_leaves_with_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN)], env=environment(tmp_path), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "interlock asks" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("term", ["", "dumb"])
def test_a_terminal_that_cannot_place_text_is_told_so(started, term: str) -> None:
    screen = started(TERM=term)
    assert screen.left() == 2
    assert b"TERM" in screen.output
    assert b"\x1b[?1049h" not in screen.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(started, number: signal.Signals) -> None:
    screen = started()
    screen.read_until(b"Nothing waits for you")
    screen.process.send_signal(number)
    assert screen.left() == 128 + number
    assert RESTORED in screen.output
    assert termios.tcgetattr(screen.slave)[3] == screen.before[3]


def test_q_leaves_in_order(started) -> None:
    screen = started()
    screen.read_until(b"Nothing waits for you")
    screen.send(b"q")
    assert screen.left() == 0
    assert RESTORED in screen.output
    assert termios.tcgetattr(screen.slave)[3] == screen.before[3]


def test_a_fault_is_told_after_the_terminal_was_restored(started) -> None:
    code = (
        "import sys\n"
        "from interlock.tui import app\n"
        "def broken(self): raise ValueError('the rows are gone')\n"
        "app.InboxScreen.refresh_rows = broken\n"
        "sys.exit(app.open_screen())\n"
    )
    screen = started(sys.executable, "-c", code)
    assert screen.left() == 1
    after = screen.output.rpartition(RESTORED)[2]
    assert b"the rows are gone" in after
    assert b"Traceback" not in after
    assert termios.tcgetattr(screen.slave)[3] == screen.before[3]


def test_no_color_is_honoured(started) -> None:
    screen = started(NO_COLOR="1")
    screen.read_until(b"Nothing waits for you")
    screen.send(b"q")
    assert screen.left() == 0
    assert b"\x1b[38;2;230" not in screen.output


def test_what_is_heavy_is_not_loaded_before_the_first_frame() -> None:
    code = (
        "import sys\nimport interlock.tui.app\n"
        "heavy = {'pydantic', 'orjson', 'msgspec', 'watchfiles', 'pygments.lexers', 'sqlite3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
