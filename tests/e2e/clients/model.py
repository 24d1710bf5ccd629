"""A model that plays a script, for driving real coding agents without a network or a key.

    python model.py --plays FILE --log FILE --port-file FILE

FILE of plays: `{"name": [step, …]}`; a step may hold `text`, `tools` (`[{"name": …, "args": {…}}]`) and `delay` (seconds
before it begins). The newest user text with `play:NAME` in it chooses the play, and the number of assistant turns since
chooses the step, so the server keeps no state and serves many agents at once. A request that offers no tools gets a short
text. A text `seen:PATTERN` in a step becomes the last number that the pattern finds in the request. Every request is
written to the log as one JSON line (`t`, `path`, `play`, `step`, `body`).

Each wire format is a file `model_*.py` beside this one with `PROVIDER`, see `Provider`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

MARK = re.compile(r"play:([A-Za-z0-9_-]+)")
OVER = {"text": "That is all."}
"""Said when a play has no further step."""
SHORT = {"text": "Scratch work"}
"""Said to requests that offer no tools: titles, summaries."""


class Provider(Protocol):
    """One wire format."""

    def claims(self, path: str) -> bool:
        """Whether requests to this path are its own."""
        ...

    def turns(self, body: dict[str, Any]) -> Sequence[tuple[str, str]]:
        """(`user` or `assistant` or something else, its text) in order; results of tools are neither."""
        ...

    def offers_tools(self, body: dict[str, Any]) -> bool:
        """Whether the request lets the model call tools."""
        ...

    def answer(self, exchange: Exchange, body: dict[str, Any], step: dict[str, Any]) -> None:
        """Send the step in this format."""
        ...


@dataclass
class Stage:
    """What the server plays, and where it writes what it was asked."""

    file: Path
    """Read for every request, so that a test can change what is played."""
    log: Path
    providers: list[Provider]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def plays(self) -> dict[str, list[dict[str, Any]]]:
        """Play -> its steps."""
        return json.loads(self.file.read_text())

    def choose(self, turns: Sequence[tuple[str, str]]) -> tuple[str, int]:
        """(play, step) for a conversation."""
        plays = self.plays
        for at in range(len(turns) - 1, -1, -1):
            role, text = turns[at]
            named = [name for name in MARK.findall(text) if name in plays] if role == "user" else []
            if named:
                return named[-1], _count(turns[at + 1 :])
        return "default", _count(turns)

    def note(self, **told: Any) -> None:
        """Add a line to the log."""
        with self.lock, self.log.open("a") as file:
            file.write(json.dumps({"t": time.time(), **told}) + "\n")


def _count(turns: Sequence[tuple[str, str]]) -> int:
    """Assistant turns; what follows one another without a user or tool between them is one turn."""
    roles = [role for role, _ in turns]
    return sum(1 for at, role in enumerate(roles) if role == "assistant" and (at == 0 or roles[at - 1] != "assistant"))


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    stage: Stage

    def log_message(self, *_: Any) -> None:
        """Say nothing: the log file has it."""

    def send(self, value: Any, status: int = 200) -> None:
        """Answer with JSON."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self) -> None:
        """Begin server-sent events; the connection ends with them."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, data: Any, name: str | None = None) -> None:
        """Send one event."""
        head = f"event: {name}\n" if name else ""
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.stage.note(path=self.path, play=None, step=None, body=None)
        self.send({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, self._body()
        provider = next((p for p in self.stage.providers if p.claims(path)), None)
        if provider is None:
            self.stage.note(path=self.path, play=None, step=None, body=body)
            self.send({"error": {"type": "not_found_error", "message": path}}, 404)
            return
        play, at = self.stage.choose(provider.turns(body))
        plays = provider.offers_tools(body)
        self.stage.note(path=self.path, play=play if plays else None, step=at if plays else None, body=body)
        steps = self.stage.plays.get(play, [])
        step = SHORT if not plays else steps[at] if at < len(steps) else OVER
        step = _filled(step, body)
        time.sleep(step.get("delay", 0))
        try:
            provider.answer(self, body, step)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _body(self) -> dict[str, Any]:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b"".join(iter(self._chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            value = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def _chunk(self) -> bytes:
        data = self.rfile.read(int(self.rfile.readline().split(b";")[0], 16))
        self.rfile.readline()
        return data


def _filled(value: Any, body: dict[str, Any]) -> Any:
    """The value with every text `seen:PATTERN` replaced by the last number that the pattern finds in the request."""
    if isinstance(value, dict):
        return {key: _filled(one, body) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, body) for one in value]
    if isinstance(value, str) and value.startswith("seen:"):
        found = re.findall(value.removeprefix("seen:"), json.dumps(body))
        return int(found[-1]) if found else 0
    return value


def providers() -> list[Provider]:
    """The formats beside this file."""
    names = sorted(file.stem for file in Path(__file__).parent.glob("model_*.py"))
    return [importlib.import_module(name).PROVIDER for name in names]


def main() -> None:
    """Serve until told to end."""
    told = argparse.ArgumentParser()
    for name in ("--plays", "--log", "--port-file"):
        told.add_argument(name, type=Path, required=True)
    given = told.parse_args()
    Exchange.stage = Stage(given.plays, given.log, providers())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    server.daemon_threads = True
    new = given.port_file.with_suffix(".new")
    new.write_text(str(server.server_address[1]))
    os.replace(new, given.port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
