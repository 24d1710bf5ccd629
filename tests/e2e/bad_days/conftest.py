"""Bad input and bad days: each ends with a clear message, the right exit code, no traceback, and nothing lost.

(spec Q-2; issue: first light.) Most of it goes through the command line in this process; what needs a real process
(streams, limits, umask) starts one.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.discovery import hosts
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.cli.main import run

BIN = Path(sys.executable).parent / "interlock"
PATIENCE_S = 60


@dataclass
class Said:
    code: int
    out: str
    err: str

    def fails(self, *words: str, code: int = 1) -> Said:
        """It ended with this code and a message with these words, and not by surprise."""
        assert self.code == code, self
        assert self.err.startswith("interlock: ") or "\ninterlock: " in self.err, self
        for word in words:
            assert word in self.err, self
        return self.is_calm()

    def is_calm(self) -> Said:
        """Neither a traceback nor a fault that nobody thought of."""
        for bad in ("Traceback", "unexpected", "Exception ignored"):
            assert bad not in self.err + self.out, self
        return self


@dataclass
class House:
    """A home of its own for one test."""

    root: Path
    state: Path
    run: Path
    work: Path

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    def environment(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.root), "TMPDIR": str(self.root), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        own |= {"INTERLOCK_STATE_DIR": str(self.state), "INTERLOCK_RUN_DIR": str(self.run)}
        return {**own, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **more}

    def process(self, *arguments: str, **more: Any) -> Said:
        more.setdefault("env", self.environment())
        done = subprocess.run(
            [str(BIN), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def shell(self, script: str) -> Said:
        done = subprocess.run(
            ["bash", "-c", script.replace("INTERLOCK", str(BIN))],
            env=self.environment(),
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def events(self, session: str) -> list[dict[str, Any]]:
        data = (self.sessions / session / "events.jsonl").read_bytes()
        return [json.loads(line) for line in data.split(b"\n")[:-1]]

    def ids(self) -> list[str]:
        return sorted(path.name for path in self.sessions.iterdir()) if self.sessions.exists() else []

    @property
    def binary(self) -> str:
        return str(BIN)

    @staticmethod
    def said(code: int, out: str, err: str) -> Said:
        return Said(code, out, err)

    def first_ask(self, process: subprocess.Popen[str]) -> str:
        """The id of the ask, once it is open; found as any approver finds it."""

        async def wait() -> str:
            async with asyncio.timeout(PATIENCE_S):
                while not (found := hosts() if self.run.exists() else []):
                    assert process.poll() is None, "it ended before it asked"
                    await asyncio.sleep(0.01)  # a folder that does not exist yet cannot be watched
                async with await AskClient.connect(found[0].socket) as client:
                    async for notice in client.subscribe():
                        if isinstance(notice, OpenedNotice):
                            return notice.ask.ask_id
            raise AssertionError("no ask")

        return asyncio.run(wait())


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    made = House(tmp_path, tmp_path / "state", tmp_path / "run", tmp_path / "work")
    made.work.mkdir()
    for name, value in made.environment().items():
        if name.startswith("INTERLOCK") or name in ("HOME", "TMPDIR"):
            monkeypatch.setenv(name, value)
    monkeypatch.delenv("INTERLOCK_TRACEBACK", raising=False)
    return made


class Interlock:
    """The command line in this process."""

    def __init__(self, house: House, capsys: pytest.CaptureFixture[str]) -> None:
        self._house, self._capsys = house, capsys

    def __call__(self, *arguments: str) -> Said:
        self._capsys.readouterr()
        code = run(list(arguments))
        caught = self._capsys.readouterr()
        return Said(code, caught.out, caught.err)

    def call(self, tool: str, arguments: object, *more: str) -> Said:
        """`interlock call` in the house's workspace."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return self("call", tool, text, "-w", str(self._house.work), *more)


@pytest.fixture
def interlock(house: House, capsys: pytest.CaptureFixture[str]) -> Interlock:
    return Interlock(house, capsys)


@pytest.fixture
def session(house: House, interlock: Interlock) -> str:
    """The id of a session that ended well."""
    said = interlock("call", "bash", '{"command": "echo done"}', "-w", str(house.work), "--answer", "allow")
    assert said.code == 0, said
    (made,) = house.ids()
    return made
