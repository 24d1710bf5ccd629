"""Real coding agents in a folder of their own, the model that plays to them, and a screen that watches.

The clients are looked for in the folder that INTERLOCK_TEST_CLIENTS names (laid out as install.sh makes it); without it these
tests are skipped. Everything that is started is ended with its process group, also when a test fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import BlockingClient, HostGone
from interlock.runtime.asks.discovery import hosts
from interlock.runtime.asks.protocol import AskView

HERE = Path(__file__).parent
PATIENCE_S = 90.0
"""How long anything may take on a busy machine."""
_LOOK_S = 0.05


def _until(look: Callable[[], Any], what: str, patience: float = PATIENCE_S) -> Any:
    """The first true value of `look`; fails with `what` when there is none in time."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        seen = look()
        if seen:
            return seen
        time.sleep(_LOOK_S)
    raise AssertionError(f"waited {patience:.0f} s for: {what}")


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits, within bounds, for something to be true."""
    return _until


@pytest.fixture(scope="session")
def clients() -> Path:
    """The folder of the installed agents."""
    named = os.environ.get("INTERLOCK_TEST_CLIENTS")
    if not named:
        pytest.skip("INTERLOCK_TEST_CLIENTS does not name a folder with real agents (tests/e2e/clients/install.sh)")
    if not Path(named).is_dir():
        pytest.skip(f"INTERLOCK_TEST_CLIENTS names {named}, which is no folder")
    return Path(named)


@dataclass
class Stage:
    """The folders of one test and what runs in it."""

    root: Path
    home: Path
    project: Path
    started: list[subprocess.Popen[Any]] = field(default_factory=list)
    port: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the real user's is seen by what a test starts."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        ours = {f"INTERLOCK_{name.upper()}_DIR": str(self.root / name) for name in ("state", "config", "run")}
        return kept | ours | {"HOME": str(self.home), "TERM": "xterm-256color"}

    def start(self, command: list[str], **more: Any) -> subprocess.Popen[Any]:
        """Start a program in a process group of its own, without a standard input."""
        more.setdefault("env", self.environment)
        more.setdefault("cwd", self.project)
        made = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **more)
        self.started.append(made)
        return made

    def play(self, plays: dict[str, list[dict[str, Any]]]) -> None:
        """Start the model with these plays."""
        (self.root / "plays.json").write_text(json.dumps(plays))
        command = [sys.executable, str(HERE / "model.py"), "--plays", str(self.root / "plays.json")]
        port_file = self.root / "port"
        self.start([*command, "--log", str(self.root / "model.jsonl"), "--port-file", str(port_file)])
        self.port = int(_until(lambda: port_file.exists() and port_file.read_text(), "the model's port"))

    def plays(self, plays: dict[str, list[dict[str, Any]]]) -> None:
        """Give the model other plays from now on."""
        new = self.root / "plays.new"
        new.write_text(json.dumps(plays))
        new.replace(self.root / "plays.json")

    def requests(self) -> list[dict[str, Any]]:
        """What the model was asked so far."""
        log = self.root / "model.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def rules(self, text: str) -> None:
        """Write the user's policy."""
        (self.root / "config").mkdir(mode=0o700, exist_ok=True)
        (self.root / "config" / "policy.toml").write_text(text)

    def journals(self) -> dict[str, list[dict[str, Any]]]:
        """Session -> its events, of every journal of ours."""
        found = sorted((self.root / "state" / "sessions").glob("*/events.jsonl"))
        return {file.parent.name: _events(file) for file in found}

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Events of all journals, of one type if it is named."""
        return [e for told in self.journals().values() for e in told if e["type"].startswith(kind)]

    def end(self) -> None:
        """End all that was started, with what it started in its turn."""
        for process in reversed(self.started):
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)


def _events(file: Path) -> list[dict[str, Any]]:
    lines = file.read_bytes().split(b"\n")[:-1]  # the last may be on its way
    return [json.loads(line) for line in lines if line]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clients: Path) -> Iterator[Stage]:
    """Folders, a small project under version control, and the end of everything."""
    made = Stage(tmp_path, tmp_path / "home", tmp_path / "project")
    made.home.mkdir()
    (made.project / "important").mkdir(parents=True)
    (made.project / "important" / "keep.txt").write_text("keep\n")
    (made.project / "hello.py").write_text('print("hello")\nx = 1\n')
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.email=a@b", "-c", "user.name=n", "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=made.project, check=True, env=made.environment)
    for name, value in made.environment.items():
        if name.startswith("INTERLOCK_"):
            monkeypatch.setenv(name, value)
    yield made
    made.end()


class Screen:
    """What a person's screen does, from the test's own process: looks at the inbox, answers."""

    def asks(self) -> list[tuple[str, AskView]]:
        """(socket, ask) of all hosts."""
        found: list[tuple[str, AskView]] = []
        for host in hosts():
            with contextlib.suppress(HostGone), BlockingClient(host.socket, "test screen") as client:
                found += [(host.socket, ask) for ask in client.list()]
        return found

    def wait(self, text: str = "", count: int = 1) -> list[tuple[str, AskView]]:
        """The open asks whose prompt holds the text, when there are so many."""

        def fitting() -> list[tuple[str, AskView]] | None:
            found = [(where, ask) for where, ask in self.asks() if text in str(ask.event.get("prompt"))]
            return found if len(found) >= count else None

        return _until(fitting, f"{count} open asks with {text!r}")

    def wait_empty(self) -> None:
        """Until no ask is open."""
        _until(lambda: not self.asks(), "an empty inbox")

    def answer(self, found: tuple[str, AskView], answer: Any, message: str | None = None, **more: Any) -> None:
        """Answer one; `more`: its scope and the digest of a suggestion."""
        where, ask = found
        with BlockingClient(where, "test screen") as client:
            client.answer(ask.ask_id, ask.input_digest, answer, message=message, **more)


@pytest.fixture
def screen(stage: Stage) -> Screen:
    """A screen."""
    return Screen()


_WATCHER = """
import asyncio, sys
from interlock.runtime.asks.client import AskClient
async def main():
    async with await AskClient.connect(sys.argv[1], "watching screen") as client:
        async for notice in client.subscribe():
            print(type(notice).__name__, flush=True)
asyncio.run(main())
"""


@pytest.fixture
def watch(stage: Stage) -> Callable[[str], subprocess.Popen[bytes]]:
    """Starts a screen of its own process that is told of every ask of a host."""

    def started(socket: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _WATCHER, socket]
        return stage.start(command, stdout=(stage.root / "watched.txt").open("ab"), env=dict(os.environ))

    return started
