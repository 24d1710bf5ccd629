"""`interlock asks`: the questions that wait for a person, of all hosts of this user.

Promises: exit code 0 also when nothing waits; 1 when a host or a discovery file could not be read (the others are still
listed); foreign text is printed with its control characters escaped.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    from interlock.runtime.asks.discovery import HostInfo
    from interlock.runtime.asks.protocol import AskView

PATIENCE_S = 3.0
"""Seconds in which a host has to answer a command that asks all of them."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    import typer

    @app.command()
    def asks(
        as_json: bool = typer.Option(False, "--json", help="One JSON object a line."),
    ) -> None:
        """List the questions that wait for a person."""
        found, problems = gather("interlock asks")
        for socket, view in found:
            print(json.dumps(_row(socket, view)) if as_json else _line(view))
        if not found and not as_json:
            print("Nothing waits for you at the hosts that answered." if problems else "Nothing waits for you.")
        for problem in problems:
            print(f"interlock: {plain(problem)}", file=sys.stderr)
        if problems:
            raise typer.Exit(1)


def gather(client: str) -> tuple[list[tuple[str, AskView]], list[str]]:
    """Every open ask with the socket of its host, oldest first, and what could not be read."""
    from interlock.runtime.asks.client import AskRefused, BlockingClient, HostGone
    from interlock.runtime.asks.discovery import survey
    from interlock.runtime.cli.fault import CommandFault
    from interlock.runtime.journal.place import PlaceError

    try:
        seen = survey()
    except PlaceError as error:
        raise CommandFault(str(error)) from None
    found: list[tuple[str, AskView]] = []
    problems = list(seen.problems)

    def ask(host: HostInfo) -> None:
        try:
            with BlockingClient(host.socket, client, timeout=PATIENCE_S) as connection:
                found.extend((host.socket, view) for view in connection.list())
        except (HostGone, AskRefused) as error:
            problems.append(f"host {host.pid}: {error}")

    # beside each other: a host that hangs must not keep the others waiting
    with ThreadPoolExecutor(max_workers=16) as pool:
        list(pool.map(ask, seen.hosts))
    return sorted(found, key=lambda pair: pair[1].opened_at), problems


def live_sockets() -> list[str]:
    """Where the hosts that live now listen."""
    from interlock.runtime.asks.discovery import hosts

    return [host.socket for host in hosts()]


def plain(text: str) -> str:
    """Text on one line, with everything that a terminal could obey made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _row(socket: str, view: AskView) -> dict[str, Any]:
    return {"socket": socket, **view.model_dump(mode="json", by_alias=True)}


def _line(view: AskView) -> str:
    event = view.event
    what = event.get("prompt") or event.get("reason") or ""
    return "  ".join(plain(str(part)) for part in (view.ask_id, view.session, event.get("tool") or "?", what))
