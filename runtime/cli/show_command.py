"""`interlock show ID`: one session, its calls, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from interlock.runtime.cli.foreign_reading import ForeignReading
    from interlock.runtime.cli.reading import Reading


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def show(
        sessions: list[str] = typer.Argument(
            metavar="SESSION...", help="Id of a session, or how it begins; with --facts one or more logs of any agent."
        ),
        facts: bool = typer.Option(False, "--facts", help="What the log of any agent comes to, in numbers."),
        part: str | None = typer.Option(None, "--part", help="Of a database with several sessions: the id of one."),
        as_json: bool = typer.Option(False, "--json", help="One JSON object."),
    ) -> None:
        """Show a session: what was asked for, who allowed it, how it ended."""
        if facts:
            from interlock.runtime.cli.facts import show_facts

            show_facts(sessions, part, as_json=as_json)
            return
        if len(sessions) > 1:
            from interlock.runtime.cli.fault import CommandFault

            raise CommandFault("one session at a time can be shown; with --facts several logs can be counted together.")
        from interlock.runtime.cli.foreign_reading import session_reading

        reading, summary = session_reading(sessions[0])
        calls = list(_calls(reading))
        head = {**asdict(summary), "path": str(summary.path)}
        if as_json:
            print(json.dumps({**head, "calls": calls}, ensure_ascii=False))
        else:
            _print(head, calls)
        reading.close()


def _calls(reading: Reading | ForeignReading) -> Iterator[dict[str, Any]]:
    """One row a call, in the order of the intents; damaged lines among them."""
    from interlock.runtime.events.foreign import ForeignDamaged
    from interlock.runtime.events.permission import PermissionAnswered
    from interlock.runtime.events.tool import ToolIntent, ToolObservation
    from interlock.runtime.events.union import DamagedLine
    from interlock.runtime.state.story import brief_input

    rows: dict[str, dict[str, Any]] = {}
    for number, (line, event) in enumerate(reading.decoded()):
        match event:
            case ToolIntent():
                rows[event.intent_id] = {
                    "intentId": event.intent_id,
                    "tool": event.tool,
                    "input": brief_input(event.raw_input),
                    "at": event.ts,
                    "code": "no_result_recorded",
                }
            case PermissionAnswered() if event.intent_id in rows:
                rows[event.intent_id]["answer"] = event.answer
                rows[event.intent_id]["by"] = event.by.model_dump(by_alias=True, exclude_none=True)
            case ToolObservation() if event.intent_id in rows:
                rows[event.intent_id] |= {
                    "ok": event.ok,
                    "phase": event.phase,
                    "code": event.code,
                    "summary": event.summary,
                    "omittedBytes": event.omitted_bytes,
                    "durationMs": event.metrics.duration_ms,
                    "waitedMs": event.metrics.waited_ms,
                }
            case DamagedLine() | ForeignDamaged():
                rows[f"damaged {number}"] = {"damaged": event.reason, "offset": line.offset}
            case _:
                pass
    yield from rows.values()


def _print(head: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    from interlock.runtime.cli.asks_command import plain

    print(f"{head['id']}   {head['status']} ({head['evidence']})")
    print(f"{plain(head['agent'])} in {plain(head['cwd'])}   {plain(head['title'])}")
    for call in calls:
        if "damaged" in call:
            print(f"  !  damaged line at byte {call['offset']}: {call['damaged']}")
            continue
        sign = "+" if call.get("ok") else ("o" if call.get("phase") == "permission" else "x")
        answer = f"  {call['answer']} by {_who(call['by'])}" if "answer" in call else ""
        print(f"  {sign}  {call['at'][11:19]}  {plain(call['tool']):<13} {plain(call['input'])}")
        print(f"        {call['code']}{answer}  {plain(call.get('summary', ''))}")


def _who(by: dict[str, Any]) -> str:
    from interlock.runtime.events.approver import APPROVER_WORDS

    return APPROVER_WORDS.get(str(by.get("kind")), str(by.get("kind")))
