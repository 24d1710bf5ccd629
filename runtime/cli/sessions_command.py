"""`interlock sessions`: every session on record, the one that was active last first."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import typer

from interlock.runtime.cli.fault import CommandFault


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def sessions(
        as_json: bool = typer.Option(False, "--json", help="A JSON list of objects."),
        limit: int = typer.Option(0, "--limit", "-n", min=0, help="At most so many; 0: all."),
    ) -> None:
        """List all sessions, live and past."""
        from interlock.runtime.journal.place import sessions_home
        from interlock.runtime.library.catalog import list_sessions

        home = sessions_home()
        try:
            found = list_sessions(home)
        except OSError as error:
            raise CommandFault(f"cannot list the sessions in {home}: {error.strerror}.") from None
        from interlock.runtime.library.others import list_others
        from interlock.runtime.sources.homes import foreign_source

        source = foreign_source()
        others = list_others(source, limit)
        known = {one.id for one in others}
        # a gate's journal is told of by the session that it answered for
        own = [one for one in found if f"{one.agent_kind}:{one.foreign_session}" not in known]
        found = sorted([*own, *others], key=lambda one: (one.mtime, one.id), reverse=True)
        found = found[:limit] if limit else found
        if as_json:
            print(json.dumps([_row(summary) for summary in found], ensure_ascii=False))
        elif not found:
            print("No sessions yet. 'interlock demo' makes two to look at.")
        else:
            for summary in found:
                print(_line(summary))
        for words in source.faults.values():
            print(f"interlock: {words}", file=sys.stderr)
        faulty = [summary for summary in found if summary.fault]
        if faulty:
            first = f"{faulty[0].path}: {faulty[0].fault}"
            raise CommandFault(f"{len(faulty)} of {len(found)} logs cannot be read; the first is {first}.")


def _row(summary: Any) -> dict[str, Any]:
    return {**asdict(summary), "path": str(summary.path)}


def _line(summary: Any) -> str:
    from interlock.runtime.cli.asks_command import plain

    old = age(time.time() - summary.mtime)
    what = summary.fault or summary.title or summary.last_action
    counts = f"{'≥' if summary.partial else ''}{summary.calls} calls" if summary.calls or not summary.partial else "-"
    if summary.denied:
        counts += f", {summary.denied} denied"
    cells = (f"{summary.status:<8}", f"{old:>5}", summary.id, plain(summary.agent), counts, plain(what)[:80])
    return "  ".join(cells)


def age(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"
