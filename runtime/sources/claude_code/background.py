"""Agents and commands that go on behind a call whose result came at once, and the notices that they have ended.

Promises: a call's execution ends once, whatever number of notices tells of it; a notice that belongs to no call of the
log changes nothing. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.runtime.events.tool import InvocationCompleted
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.narrator import Narrator

_MARK = "<task-notification>"
_TAG = re.compile(r"<(task-id|tool-use-id|status|summary)>([^<]{0,4000})</\1>")
_EXIT = re.compile(r"\(exit code (-?\d{1,10})\)|with exit code (-?\d{1,10})\b")
_DURATION = re.compile(r"<duration_ms>(\d{1,15})</duration_ms>")
_EXITS: dict[str, Literal["ok", "error", "cancelled", "timeout"]] = {
    "completed": "ok",
    "failed": "error",
    "error": "error",
    "killed": "cancelled",
    "stopped": "cancelled",
    "cancelled": "cancelled",
    "timeout": "timeout",
}


@dataclass(slots=True)
class Running:
    """What goes on behind one call."""

    intent_id: str
    invocation_id: str


@dataclass(slots=True)
class Background:
    """What goes on behind the calls of one session."""

    by_call: dict[str, Running] = field(default_factory=dict)
    by_task: dict[str, str] = field(default_factory=dict)
    """Id of an agent or a command -> call id."""

    def note(self, say: Narrator, call_id: str, structured: Any) -> None:
        """Remember the call whose result is told next, if something goes on behind it."""
        call = say.calls.get(call_id)
        tasks = [shape.some_text(shape.at(structured, name)) for name in ("backgroundTaskId", "taskId")]
        if shape.at(structured, "isAsync") is True or shape.at(structured, "status") == "async_launched":
            tasks.append(shape.some_text(shape.at(structured, "agentId")))
        found = [task for task in tasks if task]
        if call is not None and found:
            self.by_call[call_id] = Running(call.intent_id, call.invocation_id)
            self.by_task |= dict.fromkeys(found, call_id)

    def told(self, say: Narrator, words: str) -> Iterator[InvocationCompleted]:
        """The executions that a notice says have ended."""
        if _MARK not in words[:200]:
            return
        for part in words[:400_000].split(_MARK)[1:200]:
            tags = dict(_TAG.findall(part[:20_000]))
            call_id = tags.get("tool-use-id", "").strip()
            if call_id not in self.by_call:
                call_id = self.by_task.get(tags.get("task-id", "").strip(), "")
            exit_name = _EXITS.get(tags.get("status", "").strip())
            running = self.by_call.pop(call_id, None) if exit_name else None
            if running is not None and exit_name is not None:
                yield self._completed(say, running, exit_name, tags.get("summary", ""), part)

    def ended(self, say: Narrator, task: str, status: str) -> Iterator[InvocationCompleted]:
        """The execution behind a task, if this status ends it."""
        exit_name = _EXITS.get(status)
        running = self.by_call.pop(self.by_task.get(task, ""), None) if exit_name else None
        if running is not None and exit_name is not None:
            yield self._completed(say, running, exit_name, "", "")

    def _completed(
        self,
        say: Narrator,
        running: Running,
        exit_name: Literal["ok", "error", "cancelled", "timeout"],
        summary: str,
        part: str,
    ) -> InvocationCompleted:
        code = _EXIT.search(summary)
        took = _DURATION.search(part)
        return InvocationCompleted(
            invocation_id=running.invocation_id,
            exit=exit_name,
            exit_code=int(code[1] or code[2]) if code else None,
            duration_ms=int(took[1]) if took else None,
            intent_id=running.intent_id,
            ts=say.ts,
            origin=say.origin,
        )
