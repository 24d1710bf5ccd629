"""Codex's own report of the hooks it knows, from its app-server on standard streams.

Promises: only hooks that carry our sign are told of; the server ends, with all it started, before the conversation is over; one
that does not answer in time is a fault.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.gates.connect.plan import is_marked


class CodexFault(Exception):
    """Codex could not be asked; the message says why."""


@dataclass(frozen=True, slots=True)
class CodexHook:
    """One hook of ours as Codex has it."""

    key: str
    """Under which Codex keeps the person's trust in it."""
    digest: str
    event: str
    """`preToolUse`, …"""
    is_trusted: bool
    is_enabled: bool


class CodexServer:
    """`codex app-server` on its standard streams; made by `codex_server`."""

    def __init__(self, program: str, codex_home: Path, env: Mapping[str, str], patience_s: float) -> None:
        self._patience_s = patience_s
        self._process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**env, "CODEX_HOME": os.fspath(codex_home)},
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def hooks(self, cwd: Path) -> tuple[CodexHook, ...]:
        """The hooks of ours that a session in this folder would have. Raises CodexFault."""
        data = self.call("hooks/list", {"cwds": [os.fspath(cwd)]}).get("data")
        rows = [row for one in (data if isinstance(data, list) else []) for row in one.get("hooks", [])]
        ours = [row for row in rows if {"key", "currentHash"} <= row.keys() and is_marked(row)]
        return tuple({row["key"]: _hook(row) for row in ours}.values())

    def tell(self, method: str) -> None:
        """Send a notice. Raises CodexFault."""
        self._write({"method": method})

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask something. Raises CodexFault."""
        self._count += 1
        self._write({"id": self._count, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=self._patience_s)
            except queue.Empty:
                raise CodexFault(f"codex did not answer {method} within {self._patience_s:.0f} s") from None
            if line is None:
                raise CodexFault(f"codex ended before it answered {method}")
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict) and message.get("id") == self._count and "method" not in message:
                    return self._result(method, message)

    def _result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        if "error" in message or not isinstance(message.get("result"), dict):
            raise CodexFault(f"codex refused {method}: {str(message.get('error'))[:300]}")
        return message["result"]

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise CodexFault(f"codex does not read: {error.strerror}") from None

    def close(self) -> None:
        """End the server."""
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        for number in (0, signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                if number:
                    os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
                return


def _hook(row: Mapping[str, Any]) -> CodexHook:
    trusted = row.get("trustStatus") == "trusted" or row.get("isManaged") is True
    return CodexHook(
        row["key"], row["currentHash"], str(row.get("eventName")), trusted, row.get("enabled") is not False
    )


@contextmanager
def codex_server(
    codex_home: Path, env: Mapping[str, str], program: str = "codex", patience_s: float = 60.0
) -> Iterator[CodexServer]:
    """A server that has said hello. Raises CodexFault."""
    found = shutil.which(program, path=env.get("PATH"))
    if found is None:
        raise CodexFault("there is no `codex` on PATH")
    try:
        server = CodexServer(found, codex_home, env, patience_s)
    except OSError as error:
        raise CodexFault(f"{found} cannot be started: {error.strerror}") from None
    try:
        info = {"clientInfo": {"name": "interlock", "version": "1"}, "capabilities": {"experimentalApi": True}}
        server.call("initialize", info)
        server.tell("initialized")
        yield server
    finally:
        server.close()
