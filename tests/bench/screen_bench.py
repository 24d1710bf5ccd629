"""The screen from outside: whole processes on a pseudo terminal, and the path of an ask through socket and journal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

BIN = Path(sys.executable).parent / "interlock"
SIZE = (40, 140)
SESSIONS = int(os.environ.get("INTERLOCK_BENCH_SESSIONS", "1000"))


def _size(text: str) -> int:
    """`100M` or `1G` as bytes."""
    unit = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:].upper())
    return int(float(text[:-1]) * unit) if unit else int(text)


BIG = _size(os.environ.get("INTERLOCK_BENCH_BYTES", "100M"))
MINIMAL = """
from textual.app import App
from textual.widgets import Static
class Minimal(App):
    def compose(self):
        yield Static("Interlock")
Minimal().run()
"""
_CODES = re.compile(
    rb"\x1b(\[[0-9;?<>=]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[PX^_].*?\x1b\\|[()][A-Z0-9]|[=>78])", re.S
)


def first_paint(argv: list[str], environment: dict[str, str], wanted: bytes, timeout: float = 60) -> tuple[float, int]:
    """(seconds from exec until `wanted` stands on the terminal, peak resident KiB so far)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        argv, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, close_fds=True
    )
    os.close(slave)
    seen = b""
    try:
        while wanted not in _CODES.sub(b"", seen):
            if time.perf_counter() - began > timeout:
                raise TimeoutError(f"{wanted!r} not seen: {seen[-400:]!r}")
            if select.select([master], [], [], 0.5)[0]:
                seen += os.read(master, 1 << 16)
        took = time.perf_counter() - began
        status = Path(f"/proc/{process.pid}/status")
        found = re.search(r"RssAnon:\s+(\d+)", status.read_text()) if status.exists() else None
        return took, int(found.group(1)) if found else 0
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(master)


def make_sessions(count: int) -> None:
    """`count` small ended sessions in the state folder."""
    from interlock.runtime.events.session import Agent, SandboxState, SessionEnded, SessionStarted, Totals
    from interlock.runtime.events.tool import ToolIntent, ToolObservation
    from interlock.runtime.journal.writer import JournalWriter

    for number in range(count):
        writer = JournalWriter.create(f"20260110-{number:06}-bench-abc")
        writer.append(
            SessionStarted(
                agent=Agent(name="bench"),
                cwd=f"/srv/project{number % 40}",
                workspace=("/srv",),
                host="h",
                pid=1,
                user="u",
                sandbox=SandboxState(),
                runtime_version="0",
                title=f"task {number}",
            )
        )
        for step in range(5):
            writer.append(ToolIntent(intent_id=f"int_{step}", tool="bash", raw_input={"command": "ls"}))
            writer.append(
                ToolObservation(
                    observation_id=f"obs_{step}",
                    intent_id=f"int_{step}",
                    ok=True,
                    phase="execute",
                    code="ok",
                    title="ls",
                    summary="ok",
                    content="x" * 400,
                    user_text="ok",
                )
            )
        writer.append(SessionEnded(reason="completed", totals=Totals(calls=5)))
        writer.close()


def make_big_session(size: int) -> tuple[str, int]:
    """One session of about `size` bytes; returns its id and the number of its events."""
    from interlock.runtime.events.tool import ToolIntent, ToolObservation
    from interlock.runtime.journal.writer import JournalWriter

    writer = JournalWriter.create("20260111-000000-big-abc")
    number, written = 0, 0

    def grow(event: object, line: bytes, offset: int) -> None:
        nonlocal written
        written = offset + len(line)

    writer.subscribe(grow)
    while written < size:
        number += 1
        writer.append(ToolIntent(intent_id=f"int_{number}", tool="bash", raw_input={"command": f"make part{number}"}))
        writer.append(
            ToolObservation(
                observation_id=f"obs_{number}",
                intent_id=f"int_{number}",
                ok=True,
                phase="execute",
                code="ok",
                title="make",
                summary="ok",
                content="some output of a build " * 40,
                user_text="ok",
            )
        )
    writer.close()
    return "20260111-000000-big-abc", number * 2


def run() -> list[tuple[str, str, str]]:
    rows = []
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "HOME": home,
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "INTERLOCK_STATE_DIR": f"{home}/state",
            "INTERLOCK_RUN_DIR": f"{home}/run",
        }
        os.environ |= {k: environment[k] for k in ("INTERLOCK_STATE_DIR", "INTERLOCK_RUN_DIR")}
        make_sessions(SESSIONS)
        screen = [str(BIN)]
        minimal = [sys.executable, "-c", MINIMAL]
        ratios, walls = [], []
        for _ in range(5):
            mine, _ = first_paint(screen, environment, b"Inbox")
            theirs, _ = first_paint(minimal, environment, b"Interlock")
            ratios.append(mine / theirs)
            walls.append(mine)
        rows.append(
            (
                f"first paint with {SESSIONS:,} sessions on disk / a minimal Textual app",
                f"{statistics.median(ratios):.2f}x ({statistics.median(walls):.2f} s)",
                "<= 1.3x",
            )
        )
        session, events = make_big_session(BIG)
        ratios, memory = [], 0
        for _ in range(3):
            mine, memory = first_paint([str(BIN), "--session", session], environment, b"make part")
            theirs, _ = first_paint(screen, environment, b"Inbox")
            ratios.append(mine / theirs)
        rows.append(
            (
                f"a session of {BIG / 1e6:,.0f} MB ({events:,} events): newest content on screen / empty inbox",
                f"{statistics.median(ratios):.2f}x, {memory / 1024:.0f} MiB anonymous",
                "<= 1.15x of 1 MB",
            )
        )
    rows += asyncio.run(key_to_journal())
    return rows


async def key_to_journal() -> list[tuple[str, str, str]]:
    """Ask on disk until the screen has it, and the screen's answer until it is on disk; one process, real socket."""
    from interlock.runtime.engine.intent import Intent
    from interlock.runtime.engine.session import RuntimeSession
    from interlock.tui.app import InterlockApp
    from interlock.tui.model.answers import BY_COMMAND
    from interlock.tui.model.given import given

    shown: list[float] = []
    answered: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"INTERLOCK_STATE_DIR": f"{home}/state", "INTERLOCK_RUN_DIR": f"{home}/run"}
        at: dict[str, float] = {}
        async with RuntimeSession.start(home, agent="bench") as session:
            session.journal.subscribe(lambda event, line, offset: at.__setitem__(event.type, time.perf_counter()))
            app = InterlockApp(bell=False)
            async with app.run_test(size=(140, 40)):
                await app.settled()
                for number in range(30):
                    call = asyncio.create_task(session.pipeline.run(Intent("bash", {"command": f"echo {number}"})))
                    async with asyncio.timeout(10):
                        while not (waiting := [ask for ask in app.store.asks if ask.is_open]):
                            await asyncio.sleep(0.001)
                    shown.append(time.perf_counter() - at["tool.permission"])
                    pressed = time.perf_counter()
                    app.store.answer(given(waiting[0], BY_COMMAND["allow_once"]))
                    await asyncio.wait_for(call, 10)
                    answered.append(at["tool.permission.answered"] - pressed)
    return [
        ("ask on disk -> known to the screen, p50 / max", _spread(shown), "p50 <= 35 ms"),
        ("screen's answer -> on disk, p50 / max", _spread(answered), ""),
    ]


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} / {max(seconds) * 1000:.0f} ms"
