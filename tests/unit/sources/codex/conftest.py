"""Rollouts made by hand and rollouts that were recorded, read into events and facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.format import FORMAT
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.reading import all_events
from interlock.runtime.sources.foreign.translation import RecordTally, Translation

PARENT = "01990000-0000-7000-8000-000000000001"
CHILD = "01990000-ffff-7000-8000-000000000002"


@dataclass(slots=True)
class Read:
    """One rollout, read."""

    events: list[AnyEvent]
    facts: SessionFacts
    tally: RecordTally

    def of(self, kind: str) -> list[Any]:
        """Events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    @property
    def outcome(self) -> Any:
        """The one observation."""
        (found,) = self.of("tool.observation")
        return found


def read_file(path: Path, framing: Any = "lines") -> Read:
    translation = Translation(path, FORMAT, framing, session="s")
    events = list(all_events(translation))
    translation.close()
    facts = SessionFacts()
    for event in events:
        facts.add(event)
    return Read(events, facts, translation.tally)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Iterable[dict[str, Any]]], Read]:
    def run(records: Iterable[dict[str, Any]]) -> Read:
        path = tmp_path / "rollout.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return read_file(path)

    return run


@pytest.fixture
def read_path() -> Callable[..., Read]:
    return read_file


class Rollout:
    """Makes records as Codex writes them, a second apart."""

    parent, child = PARENT, CHILD

    def __init__(self) -> None:
        self.second = 0

    def record(self, kind: str, payload: dict[str, Any], **envelope: Any) -> dict[str, Any]:
        self.second += 1
        ts = f"2026-06-01T10:{self.second // 60:02}:{self.second % 60:02}.000Z"
        return {"timestamp": ts, "type": kind, "payload": payload, **envelope}

    def meta(self, session: str = PARENT, **more: Any) -> dict[str, Any]:
        head = {"id": session, "cwd": "/home/dev/app", "originator": "codex-tui", "cli_version": "0.144.3"}
        return self.record("session_meta", {**head, **more})

    def event(self, kind: str, /, **more: Any) -> dict[str, Any]:
        return self.record("event_msg", {"type": kind, **more})

    def item(self, kind: str, /, **more: Any) -> dict[str, Any]:
        return self.record("response_item", {"type": kind, **more})

    def message(self, role: str, *texts: str, **more: Any) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **more)

    def call(self, call_id: str, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
        return self.item("function_call", call_id=call_id, name=name, arguments=json.dumps(arguments), **more)

    def output(self, call_id: str, output: Any) -> dict[str, Any]:
        return self.item("function_call_output", call_id=call_id, output=output)

    def script(self, call_id: str, source: str, name: str = "exec") -> dict[str, Any]:
        return self.item("custom_tool_call", call_id=call_id, name=name, input=source, status="completed")

    def script_output(self, call_id: str, output: Any) -> dict[str, Any]:
        return self.item("custom_tool_call_output", call_id=call_id, output=output)

    def completed(self, kind: str, item_id: str, /, **more: Any) -> dict[str, Any]:
        return self.event("item_completed", item={"type": kind, "id": item_id, **more})

    def tokens(self, total: tuple[int, int], last: tuple[int, int] | None = None) -> dict[str, Any]:
        info: dict[str, Any] = {"total_token_usage": usage(*total)}
        if last is not None:
            info["last_token_usage"] = usage(*last)
        return self.event("token_count", info=info)


def usage(given: int, made: int) -> dict[str, int]:
    return {"input_tokens": given, "cached_input_tokens": 0, "output_tokens": made, "total_tokens": given + made}


@pytest.fixture
def rollout() -> Rollout:
    return Rollout()
