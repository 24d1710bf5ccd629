"""`interlock policy grants`: the standing permissions of the sessions that run now, from their journals.

Promises: a permission that was revoked, whose time is over, or whose session has ended is not listed, because it covers
nothing; a journal that cannot be read is told and the others are still listed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlock.runtime.cli.fault import CommandFault

if TYPE_CHECKING:
    from interlock.runtime.events.permission import GrantMade


def grants(as_json: bool = typer.Option(False, "--json", help="One JSON object a line.")) -> None:
    """List what you have allowed for a time: what it covers, in which session, until when."""
    from interlock.runtime.cli.asks_command import plain
    from interlock.runtime.journal.place import PlaceError, sessions_home
    from interlock.runtime.library.catalog import list_sessions

    try:
        running = [one for one in list_sessions(sessions_home()) if one.writer_alive]
    except PlaceError as error:
        raise CommandFault(str(error)) from None
    faults = found = 0
    for session in running:
        try:
            for row in standing(session.path, session.id):
                found += 1
                print(json.dumps(row) if as_json else plain(_line(row)))
        except CommandFault as fault:
            faults += 1
            print(f"interlock: {plain(str(fault))}", file=sys.stderr)
    if not found and not as_json:
        print("No standing permission holds now.")
    if faults:
        raise typer.Exit(1)


def standing(path: Path, session: str) -> Iterator[dict[str, Any]]:
    """The permissions of one journal that hold now. Raises CommandFault when it cannot be read."""
    from interlock.runtime.cli.reading import Reading
    from interlock.runtime.events.permission import GrantMade, GrantRevoked

    made: dict[str, GrantMade] = {}
    for _, event in Reading(path).decoded():
        match event:
            case GrantMade():
                made[event.grant_id] = event
            case GrantRevoked():
                made.pop(event.grant_id, None)
            case _:
                pass
    now = datetime.now(UTC)
    for event in made.values():
        if event.expires_at is None or datetime.fromisoformat(event.expires_at) > now:
            yield _row(event, session)


def _row(event: GrantMade, session: str) -> dict[str, Any]:
    return {
        "grantId": event.grant_id,
        "session": session,
        "scope": event.scope,
        "tool": event.tool,
        "covers": event.matches,
        "madeAt": event.ts,
        "expiresAt": event.expires_at,
    }


def _line(row: dict[str, Any]) -> str:
    until = f"until {row['expiresAt']}" if row["expiresAt"] else "until the session ends"
    covers = row["covers"]
    what = " | ".join(str(covers.get("value", "")).splitlines())
    where = f" in {covers['cwd']}" if covers.get("field") == "command" else ""
    return f"{row['grantId']}  {row['session']}  {row['tool']} {covers.get('field', '')}: {what}{where}  {until}"
