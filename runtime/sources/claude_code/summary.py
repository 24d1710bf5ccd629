"""What the two ends of a transcript tell of its session, without reading what stands between them.

Promises: at most `END_BYTES` are read of each end, and `LONGEST` where a single record is longer than that; what stands
in the middle alone is not known. Whose project it is comes from the records, never from the name of a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.runtime.events.moment import micros
from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.claude_code.prompt import is_injected, kind_of, spoken
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.framing import frame_line
from interlock.runtime.sources.foreign.narrator import first_line, stamp
from interlock.runtime.sources.foreign.record import ForeignRecord

END_BYTES = 64 * 1024
LONGEST = 1024 * 1024
_TITLE = 120
_PROJECT_LIKE = ("user", "assistant", "system", "attachment", "progress")


@dataclass(slots=True)
class Summary:
    """What is known of a session from its ends. Texts are as the agent wrote them; empty and 0: not told."""

    sessions: list[str] = field(default_factory=list)
    """Its ids, in order; more than one after a resume."""
    agent_id: str = ""
    """Of a sub-agent's own log: the agent."""
    cwd: str = ""
    version: str = ""
    """The last one."""
    branch: str = ""
    custom_title: str = ""
    ai_title: str = ""
    first_prompt: str = ""
    first_at: int = 0
    last_at: int = 0
    """Microseconds since 1970: the earliest and the latest time in what was read."""
    last_tool: str = ""
    open_calls: dict[str, str] = field(default_factory=dict)
    """Call id -> tool, of calls whose result was not met."""
    exited: bool = False
    """Nothing stands behind what the client writes when it exits."""
    _first: bool = True

    @property
    def session(self) -> str:
        """Its id, or that of the sub-agent whose log it is."""
        return self.agent_id or (self.sessions[0] if self.sessions else "")

    @property
    def parent(self) -> str | None:
        """Of a sub-agent's log: the session that it belongs to."""
        return self.sessions[0] if self.agent_id and self.sessions else None

    @property
    def title(self) -> str:
        """The name that the person gave, or the client, or the first prompt."""
        return self.custom_title or self.ai_title or self.first_prompt

    def add(self, value: dict[str, Any]) -> None:
        """Take one record."""
        kind = shape.text(value.get("type"))
        if kind in _PROJECT_LIKE:
            self._placed(value)
        self.exited = kind == "cost-state" or (self.exited and kind not in _PROJECT_LIKE)
        at = micros(stamp(value.get("timestamp")))
        if at:
            self.first_at = min(self.first_at, at) if self.first_at else at
            self.last_at = max(self.last_at, at)
        self._named(kind, value)
        content = shape.at(value, "message", "content")
        if kind == "user":
            self._answered(value, content)
        elif kind == "assistant":
            for block in shape.objects(content):
                if block.get("type") == "tool_use":
                    self.last_tool = shape.name_of(block.get("name"))
                    self.open_calls[shape.name_of(block.get("id"))] = self.last_tool

    def _placed(self, value: dict[str, Any]) -> None:
        session = shape.text(value.get("sessionId"))
        if session and session not in self.sessions:
            self.sessions.append(session)
        if self._first and value.get("isSidechain") is True:
            self.agent_id = shape.text(value.get("agentId"))
        self._first = False
        self.cwd = self.cwd or shape.text(value.get("cwd"))
        self.version = shape.text(value.get("version")) or self.version
        self.branch = self.branch or shape.text(value.get("gitBranch"))

    def _named(self, kind: str, value: dict[str, Any]) -> None:
        if kind in ("custom-title", "agent-name"):
            name = shape.text(value.get("customTitle")) or shape.text(value.get("agentName"))
            self.custom_title = _short(name) or self.custom_title
        elif kind == "ai-title":
            self.ai_title = _short(shape.text(value.get("aiTitle"))) or self.ai_title

    def _answered(self, value: dict[str, Any], content: Any) -> None:
        for block in shape.objects(content):
            if block.get("type") == "tool_result":
                self.open_calls.pop(shape.name_of(block.get("tool_use_id")), None)
        if not self.first_prompt and not is_injected(value, side=False):
            words = (w for w in spoken(content) if kind_of(w) == "person")
            self.first_prompt = _short(next(words, ""))


def summary(path: Path) -> Summary:
    """What the ends of a transcript tell. Raises OSError."""
    made = Summary()
    for value in _ends(path):
        made.add(value)
    return made


def _ends(path: Path) -> Iterator[dict[str, Any]]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = os.fstat(fd).st_size
        if size <= 2 * END_BYTES:
            yield from _records(os.pread(fd, size, 0), 0)
            return
        head = _cut(fd, 0, END_BYTES, size)
        yield from _records(head, 0)
        start = max(len(head), size - END_BYTES)
        yield from _records(_tail(fd, start, len(head), size), start)
    finally:
        os.close(fd)


def _cut(fd: int, start: int, wanted: int, size: int) -> bytes:
    """Whole lines from the beginning."""
    data = os.pread(fd, wanted, start)
    if b"\n" not in data and wanted < LONGEST:
        data = os.pread(fd, min(LONGEST, size), start)
    return data[: data.rfind(b"\n") + 1]


def _tail(fd: int, start: int, least: int, size: int) -> bytes:
    """Whole lines up to the end."""
    data = os.pread(fd, size - start, start)
    if data.count(b"\n") < 2:
        start = max(least, size - LONGEST)
        data = os.pread(fd, size - start, start)
    return data if start == least else data[data.find(b"\n") + 1 :]


def _records(data: bytes, offset: int) -> Iterator[dict[str, Any]]:
    for raw in data.split(b"\n"):
        if raw.strip():
            for framed in frame_line(Line(offset, raw, len(raw))):
                if isinstance(framed, ForeignRecord) and isinstance(framed.value, dict):
                    yield framed.value


def _short(words: str) -> str:
    line = first_line(words)
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
