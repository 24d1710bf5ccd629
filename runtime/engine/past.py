"""Past calls of all sessions on this machine, those of gated agents in our own words, for previews (ASK-4).

Promises: the newest journals first, within a bound of bytes and of calls; whether the bound was reached is told; a line
or a file that cannot be read is passed over and never changes anything. For a thread: it reads files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, SessionStarted
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import OWN

MOST_BYTES = 16 * 1024 * 1024
MOST_CALLS = 1_000
MOST_JOURNALS = 300
_HEAD = 256 * 1024
"""Bytes in which the first event of a journal stands."""


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call on record."""

    tool: str
    input: dict[str, Any]
    cwd: str
    workspace: tuple[str, ...]
    agent: str
    at: str
    """When it was asked for, as the journal has it."""
    call: Call
    """As the policy takes it."""


@dataclass(slots=True)
class Past:
    """The calls that were found, the newest first."""

    calls: list[PastCall] = field(default_factory=list)
    sessions: int = 0
    """Journals that hold some of them."""
    whole: bool = True
    """Whether these are all that are on record."""


def past_calls(
    home: Path, tool: str, *, but: str = "", user_home: str = "/", most_bytes: int = MOST_BYTES, most: int = MOST_CALLS
) -> Past:
    """Calls of one tool, by our name. `but`: an intent that does not count as past, as `session/intent`; `user_home`:
    what `~` stands for to other agents."""
    found, room = Past(), most_bytes
    for number, path in enumerate(_newest_first(home)):
        if number >= MOST_JOURNALS or room <= 0 or len(found.calls) >= most:
            found.whole = False
            break
        calls, read, whole = _calls_of(path, tool, but, room, user_home)
        room -= read
        found.whole &= whole and len(calls) <= most - len(found.calls)
        calls = calls[: most - len(found.calls)]
        found.calls += calls
        found.sessions += bool(calls)
    return found


def _newest_first(home: Path) -> list[Path]:
    dated: list[tuple[float, Path]] = []
    try:
        names = os.listdir(home)
    except OSError:
        return []
    for name in names:
        path = home / name / "events.jsonl"
        try:
            dated.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(dated, key=lambda pair: (-pair[0], pair[1].name))]


def _calls_of(path: Path, tool: str, but: str, room: int, user_home: str) -> tuple[list[PastCall], int, bool]:
    """(calls, newest first; bytes read; whether it was read whole)."""
    try:
        with path.open("rb") as file:
            head = file.readline(_HEAD)
            size = os.fstat(file.fileno()).st_size
            start = max(0, size - room)
            file.seek(start)
            data = file.read(room)
    except OSError:
        return [], 0, True
    lines = data.split(b"\n")
    first = decode_line(head.rstrip(b"\n")) if head.endswith(b"\n") else None
    told = _Told(first if isinstance(first, SessionStarted) else None, user_home)
    calls = list(_joined(lines[1:] if start else lines, tool, told, but))
    calls.reverse()
    return calls, len(data), not start


class _Told:
    """What the first event of a journal says of all its calls."""

    def __init__(self, first: SessionStarted | None, user_home: str) -> None:
        self._workspace = first.workspace if first is not None else ()
        self._agent = first.agent if first is not None else Agent(name="")
        self._is_foreign = first is not None and first.foreign is not None
        self._user_home = user_home

    @property
    def is_foreign(self) -> bool:
        """Whether the calls are another agent's, in its words."""
        return self._is_foreign

    def past(self, intent: ToolIntent, permission: ToolPermission, tool: str) -> PastCall | None:
        """The call in our words; None for one of another tool."""
        given = permission.shown_input if isinstance(permission.shown_input, dict) else intent.raw_input
        cwd = permission.cwd or ""
        workspace = tuple(self._workspace) or (cwd,)
        agent = self._agent.kind if self.is_foreign else permission.agent or self._agent.name
        form, starts = ("", "") if self.is_foreign else (OWN, cwd)
        call = make_call(
            agent, intent.tool, given, cwd=cwd, workspace=workspace, home=self._user_home, form=form, starts=starts
        )
        if call.tool != tool:
            return None
        shown = dict(call.input) if self.is_foreign else given
        return PastCall(tool, shown, call.cwd, workspace, call.agent, intent.ts, call)


def _joined(lines: list[bytes], tool: str, told: _Told, but: str) -> Iterator[PastCall]:
    """Intents that reached the gate, with the folder that they were judged in."""
    inputs: dict[str, ToolIntent] = {}
    for line in lines:
        if b'"tool.intent"' not in line and b'"tool.permission"' not in line:
            continue
        event = decode_line(line)
        if isinstance(event, ToolIntent) and isinstance(event.raw_input, dict):
            if told.is_foreign or event.tool == tool:
                inputs[event.intent_id] = event
        elif isinstance(event, ToolPermission) and event.cwd:
            intent = inputs.pop(event.intent_id, None)
            if intent is None or f"{event.session}/{event.intent_id}" == but:
                continue
            past = told.past(intent, event, tool)
            if past is not None:
                yield past
