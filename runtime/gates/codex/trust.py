"""Codex's trust in our hooks, written by Codex itself after the person agreed.

Promises: only hooks that carry our sign are trusted, each with exactly the hash that Codex computed; Codex's own server does
the writing; its process ends before this returns. A fault is told and leaves the hooks untrusted, which Codex skips.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from interlock.runtime.gates.connect.plan import is_marked

PATIENCE_S = 60.0


class TrustFault(Exception):
    """Codex could not be asked; the message says why."""


class _Server:
    """`codex app-server` on its standard streams."""

    def __init__(self, program: str, codex_home: Path, env: Mapping[str, str]) -> None:
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

    def tell(self, method: str) -> None:
        self._write({"method": method})

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._write({"id": self._count, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise TrustFault(f"codex did not answer {method} within {PATIENCE_S:.0f} s") from None
            if line is None:
                raise TrustFault(f"codex ended before it answered {method}")
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict) and message.get("id") == self._count and "method" not in message:
                    return self._result(method, message)

    def _result(self, method: str, message: dict[str, Any]) -> dict[str, Any]:
        if "error" in message or not isinstance(message.get("result"), dict):
            raise TrustFault(f"codex refused {method}: {str(message.get('error'))[:300]}")
        return message["result"]

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise TrustFault(f"codex does not read: {error.strerror}") from None

    def close(self) -> None:
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        for number in (0, signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                if number:
                    os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
                return


def trust_our_hooks(codex_home: Path, env: Mapping[str, str], program: str = "codex") -> tuple[str, ...]:
    """Have Codex trust the hooks of ours that it finds in this home. Returns their keys; raises TrustFault."""
    found = shutil.which(program, path=env.get("PATH"))
    if found is None:
        raise TrustFault("there is no `codex` on PATH")
    server = _Server(found, codex_home, env)
    try:
        info = {"clientInfo": {"name": "interlock", "version": "1"}, "capabilities": {"experimentalApi": True}}
        server.call("initialize", info)
        server.tell("initialized")
        hooks = _ours(server.call("hooks/list", {"cwds": [os.fspath(codex_home)]}))
        untrusted = [hook for hook in hooks if hook.get("trustStatus") != "trusted"]
        if untrusted:
            server.call("config/batchWrite", {"edits": [_edit(hook) for hook in untrusted]})
            hooks = _ours(server.call("hooks/list", {"cwds": [os.fspath(codex_home)]}))
        if not hooks or any(hook.get("trustStatus") != "trusted" for hook in hooks):
            raise TrustFault("codex does not list our hooks as trusted")
        return tuple(hook["key"] for hook in hooks)
    finally:
        server.close()


def _edit(hook: Mapping[str, Any]) -> dict[str, Any]:
    value = {hook["key"]: {"trusted_hash": hook["currentHash"]}}
    return {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}


def _ours(listed: Mapping[str, Any]) -> list[dict[str, Any]]:
    data = listed.get("data")
    hooks = [hook for one in (data if isinstance(data, list) else []) for hook in one.get("hooks", [])]
    unique = {hook["key"]: hook for hook in hooks if {"key", "currentHash"} <= hook.keys() and is_marked(hook)}
    return list(unique.values())
