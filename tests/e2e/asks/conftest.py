"""Hosts in private places, and clients of theirs that know no manners."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 60


class Rude:
    """A bare connection of a thread of its own: it sends what it likes, and reads when it is told to."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(path)
        self.replies: list[dict[str, Any]] = []
        self.count = 0
        self.ended = threading.Event()
        self._threads: list[threading.Thread] = []

    @staticmethod
    def request(method: str, number: int = 1, **params: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    def flood(self, method: str, count: int, *, keep: bool = True, **params: Any) -> None:
        """Send that many requests as fast as they are taken; the replies are counted, and kept if so wished."""
        data = b"".join(self.request(method, number, **params) for number in range(count))
        self._start(lambda: self.socket.sendall(data))
        self._start(lambda: self._read(count, keep))

    def _read(self, count: int, keep: bool) -> None:
        with self.socket.makefile("rb") as lines:
            while self.count < count and (line := lines.readline()):
                if keep:
                    self.replies.append(json.loads(line))
                self.count += 1
        self.ended.set()

    def _start(self, work: Callable[[], None]) -> None:
        def quietly() -> None:
            with contextlib.suppress(OSError):  # the host may end the connection, and so may the test
                work()

        self._threads.append(threading.Thread(target=quietly, daemon=True))
        self._threads[-1].start()

    async def done(self) -> None:
        """Return when all is replied to or the host has ended the connection."""
        assert await asyncio.to_thread(self.ended.wait, PATIENCE_S), f"only {self.count} replies"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self.socket.close()


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "work").mkdir()


@pytest.fixture
def rude() -> Iterator[Callable[[str], Rude]]:
    made: list[Rude] = []

    def connect(path: str) -> Rude:
        made.append(Rude(path))
        return made[-1]

    yield connect
    for one in made:
        one.close()
