"""Real agents against a scripted model, in homes of their own. Skipped, with the reason, where they are not installed.

`INTERLOCK_TEST_CLIENTS` names a folder with the npm packages `codex`, `opencode`, `gemini`, `acp` and `cc`, as the install
script beside this folder makes it. Nothing of the real user's is read, and nothing but loopback is reached.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, HostGone
from interlock.runtime.asks.discovery import survey
from interlock.runtime.asks.protocol import AskView

PATIENCE_S = 90
MODEL = Path(__file__).parents[1] / "model.py"


async def _until(check: Any, what: str, patience: float = PATIENCE_S) -> Any:
    """What `check` gives as soon as it is true. Fails with `what` when it never is."""
    for _ in range(int(patience * 10)):
        if found := check():
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"never seen: {what() if callable(what) else what}")


GEMINI = "gemini/node_modules/@google/gemini-cli/bundle/gemini.js"
_GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "ui": {"hideTips": True, "hideBanner": True},
}
_CODEX = """model = "gpt-5.5"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "{sandbox}"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
supports_websockets = false
[analytics]
enabled = false
[projects."{project}"]
trust_level = "trusted"
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"""


@dataclass
class Terminal:
    """A terminal of its own for one program."""

    name: str = field(default_factory=lambda: f"interlock-others-{secrets.token_hex(4)}")

    def start(self, command: list[str], env: dict[str, str], cwd: Path) -> None:
        """Start a program in it; its exit code is shown when it ends."""
        words = ["env", "-i", *(f"{key}={value}" for key, value in env.items()), *command]
        line = f"cd {shlex.quote(str(cwd))}; {shlex.join(words)}; echo ended with $?; sleep 600"
        self._run("new-session", "-d", "-x", "130", "-y", "45", "sh", "-c", line)

    def text(self) -> str:
        """What stands on the screen."""
        return self._run("capture-pane", "-p").stdout

    def keys(self, *keys: str) -> None:
        """Press keys."""
        self._run("send-keys", *keys)

    def close(self) -> None:
        """End the terminal, as if its window were closed."""
        self._run("kill-server")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["tmux", "-L", self.name, *words], capture_output=True, text=True, timeout=30, check=False
        )


class Approver:
    """A screen of Interlock, as far as these tests need one: it is subscribed, and it answers."""

    def __init__(self) -> None:
        self._clients: dict[str, AskClient] = {}
        self._listening: list[asyncio.Task[None]] = []

    async def asks(self) -> list[tuple[AskClient, AskView]]:
        """Every open ask of every host."""
        found: list[tuple[AskClient, AskView]] = []
        for host in survey().hosts:
            try:
                client = self._clients.get(host.socket) or await self._join(host.socket)
                found += [(client, view) for view in await client.list()]
            except (HostGone, OSError):
                self._clients.pop(host.socket, None)
        return found

    async def _join(self, socket: str) -> AskClient:
        client = self._clients[socket] = await AskClient.connect(socket, "test screen")
        self._listening.append(asyncio.create_task(self._listen(client)))
        return client

    async def _listen(self, client: AskClient) -> None:
        with suppress(HostGone, OSError):
            async for _ in client.subscribe():
                pass

    async def wait(self, count: int = 1, patience: float = PATIENCE_S) -> list[AskView]:
        """Wait until exactly so many asks are open."""
        for _ in range(int(patience * 10)):
            asks = await self.asks()
            if len(asks) == count:
                return [view for _, view in asks]
            await asyncio.sleep(0.1)
        raise AssertionError(f"never {count} open asks, but {await self.asks()}")

    async def answer(self, ask: AskView, answer: str, message: str | None = None) -> None:
        """Answer one of them."""
        for client, view in await self.asks():
            if view.ask_id == ask.ask_id:
                await client.answer(ask.ask_id, ask.input_digest, answer, message=message)  # type: ignore[arg-type]
                return
        raise AssertionError("the ask is gone")

    async def close(self) -> None:
        """As if the screen were closed or killed."""
        for client in self._clients.values():
            await client.close()
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        self._clients.clear()
        self._listening.clear()


@dataclass
class Stage:
    """One test's machine: a home, a project, a scripted model."""

    clients: Path
    root: Path
    port: int = 0
    env: dict[str, str] = field(default_factory=dict)
    terminals: list[Terminal] = field(default_factory=list)
    before: bytes = b""
    """A settings file as it was."""
    _model: subprocess.Popen[bytes] | None = None

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "home" / "project"

    def prepare(self) -> None:
        """Make the folders, and the environment that everything here runs in."""
        (self.project / "important").mkdir(parents=True)
        (self.project / "important" / "keep.txt").write_text("keep\n")
        (self.project / "hello.py").write_text("x\n")
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, timeout=60)
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
        }
        (self.root / "tmp").mkdir()
        for name in ("state", "config", "run"):
            self.env[f"INTERLOCK_{name.upper()}_DIR"] = str(self.root / name)

    def play(self, plays: dict[str, list[dict[str, Any]]]) -> None:
        """Start the model."""
        plays_file, port_file = self.root / "plays.json", self.root / "port"
        plays_file.write_text(json.dumps(plays))
        command = [sys.executable, str(MODEL), "--plays", str(plays_file), "--log", str(self.log)]
        self._model = subprocess.Popen([*command, "--port-file", str(port_file)], start_new_session=True)
        for _ in range(300):
            if port_file.exists():
                break
            subprocess.run(["sleep", "0.1"], check=True)
        self.port = int(port_file.read_text())

    @property
    def log(self) -> Path:
        return self.root / "requests.jsonl"

    def heard(self) -> str:
        """All that the model was sent, as JSON text."""
        return self.log.read_text() if self.log.exists() else ""

    def terminal(self) -> Terminal:
        self.terminals.append(Terminal())
        return self.terminals[-1]

    def policy(self, text: str) -> None:
        """The user's rules."""
        place = self.root / "config" / "policy.toml"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Events of one type in every journal."""
        files = sorted((self.root / "state" / "sessions").glob("*/events.jsonl"))
        told = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [event for event in told if event["type"] == kind]

    def journal(self) -> str:
        """All that the gate has on record, for a person who looks why a test failed."""
        files = sorted((self.root / "state" / "sessions").glob("*/events.jsonl"))
        return "\n".join(f"{file.parent.name}\n{file.read_text()}" for file in files)

    def run(self, *command: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command of ours in the environment, to its end."""
        return subprocess.run(
            command, env=self.env, cwd=self.project, capture_output=True, text=True, timeout=timeout, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def program(self, name: str, path: str) -> Path:
        """Put an installed client on PATH under its usual name."""
        found = self.clients / path
        if not found.exists():
            pytest.skip(f"{found.name} is not in INTERLOCK_TEST_CLIENTS ({found})")
        place = self.root / "bin" / name
        place.parent.mkdir(exist_ok=True)
        text = f'#!/bin/sh\nexec node {shlex.quote(str(found))} "$@"\n' if path.endswith(".js") else ""
        if text:
            place.write_text(text)
            place.chmod(0o755)
        else:
            place.symlink_to(found)
        if not self.env["PATH"].startswith(str(place.parent)):
            self.env["PATH"] = f"{place.parent}:{self.env['PATH']}"
        return place

    def codex_settings(self, sandbox: str = "workspace-write") -> None:
        """Have Codex talk to the model, ask on request, and come up without questions of its own."""
        home = self.home / ".codex"
        home.mkdir()
        (home / "config.toml").write_text(_CODEX.format(port=self.port, project=self.project, sandbox=sandbox))
        self.env |= {"CODEX_HOME": str(home), "FAKE_KEY": "none"}

    def gemini_settings(self) -> Path:
        """Have Gemini CLI talk to the model and come up without questions of its own; the file of its settings."""
        self.program("gemini", GEMINI)
        settings = self.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(_GEMINI, indent=4))
        self.env |= {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{self.port}",
            "NO_BROWSER": "1",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }
        return settings

    def close(self) -> None:
        for terminal in self.terminals:
            terminal.close()
        self.end_processes()
        if self._model is not None:
            os.killpg(self._model.pid, signal.SIGKILL)
            self._model.wait()

    def processes(self) -> list[tuple[int, list[str]]]:
        """Every process of this stage with its command line: those that carry its environment."""
        mark = f"HOME={self.home}".encode()
        found: list[tuple[int, list[str]]] = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    words = (place / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                    found.append((int(place.name), [word for word in words if word]))
        return found

    def end_processes(self) -> None:
        """Wait a moment for what ends by itself, and kill the rest."""
        for left in range(30, -1, -1):
            found = self.processes()
            if not found:
                return
            for pid, _ in found if left == 0 or left % 10 == 0 else []:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if left == 0 else signal.SIGTERM)
            subprocess.run(["sleep", "0.1"], check=True)

    def service_pid(self) -> int | None:
        """The gate service of this home, where one runs."""
        return next((pid for pid, words in self.processes() if "gate" in words and "serve" in words), None)


@pytest.fixture
def clients() -> Path:
    """The folder of installed clients."""
    named = os.environ.get("INTERLOCK_TEST_CLIENTS")
    if not named:
        pytest.skip("INTERLOCK_TEST_CLIENTS is not set: the real clients are not installed")
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    return Path(named)


@pytest.fixture
def stage(clients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A machine for one test; everything that it started is ended."""
    made = Stage(clients, tmp_path)
    made.prepare()
    for name in ("state", "config", "run"):
        monkeypatch.setenv(f"INTERLOCK_{name.upper()}_DIR", str(tmp_path / name))
    yield made
    made.close()


@pytest.fixture
async def approver() -> AsyncIterator[Approver]:
    """A screen that is open from now on."""
    made = Approver()
    yield made
    await made.close()


@pytest.fixture
def until() -> Any:
    """Waits, within bounds, for something to be true."""
    return _until
