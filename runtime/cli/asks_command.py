"""`interlock asks`: the questions that wait for a person, of all hosts of this user.

Promises: exit code 0 also when nothing waits; 1 when a host or a discovery file could not be read (the others are still
listed), and when an ask waits that cannot be reached; foreign text is printed with its control characters escaped.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

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
        found = gather("interlock asks")
        for one in found.waiting:
            print(json.dumps(_row(one)) if as_json else _line(one, datetime.now(UTC)))
        if not found.waiting and not as_json:
            incomplete = found.problems or found.unreached
            print("No question is open at the hosts that answered." if incomplete else "Nothing waits for you.")
        for problem in (*found.problems, *found.warnings, *found.unreached):
            print(f"interlock: {plain(problem)}", file=sys.stderr)
        if found.problems or found.unreached:
            raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open ask and the host that it can be answered at: together they are what it is."""

    socket: str
    pid: int
    """Of the host."""
    view: AskView
    agent: str = ""
    name: str = ""
    """What `interlock answer` takes: the id, and where two hosts have one of it, `ID@PID` of the host."""


@dataclass(slots=True)
class Gathered:
    """What a look at all hosts found."""

    waiting: list[Waiting] = field(default_factory=list)
    """Oldest first."""
    problems: list[str] = field(default_factory=list)
    """What could not be read."""
    unreached: list[str] = field(default_factory=list)
    """Asks that wait at hosts that cannot be reached."""
    sockets: list[str] = field(default_factory=list)
    """Where the hosts listen that were found."""

    @property
    def warnings(self) -> list[str]:
        """Ids that more than one host has an ask of."""
        count = Counter(one.view.ask_id for one in self.waiting)
        return [
            f"{number} hosts have an ask with the id {ask_id}: each is listed and answered as ID@PID-OF-ITS-HOST"
            for ask_id, number in count.items()
            if number > 1
        ]


def gather(client: str) -> Gathered:
    """Every open ask: of the hosts in the run folder, and of those that a journal with an open ask names."""
    from interlock.runtime.asks.discovery import survey
    from interlock.runtime.asks.recorded import waiting_sessions
    from interlock.runtime.cli.fault import CommandFault
    from interlock.runtime.journal.place import PlaceError

    try:
        seen = survey()
    except PlaceError as error:
        raise CommandFault(str(error)) from None
    found = Gathered(problems=list(seen.problems), sockets=[host.socket for host in seen.hosts])
    silent: dict[str, str] = {}
    served: set[str] = set()

    def ask(socket: str) -> None:
        fault = _ask(socket, client, found.waiting, served)
        if fault is not None:
            silent[socket] = fault

    _beside(ask, found.sockets)
    found.problems += [f"host {host.pid}: {silent[host.socket]}" for host in seen.hosts if host.socket in silent]
    elsewhere = waiting_sessions(served)
    more = {one.reply_to for one in elsewhere if one.reply_to} - set(found.sockets)
    _beside(ask, sorted(more))
    found.sockets += sorted(more - set(silent))
    for one in elsewhere:
        if one.session not in served:
            found.unreached.append(one.unreached(silent.get(one.reply_to or "", one.NO_ADDRESS)))
    found.waiting = _named(found.waiting)
    return found


def _beside(work: Callable[[str], None], sockets: Sequence[str]) -> None:
    # beside each other: a host that hangs must not keep the others waiting
    with ThreadPoolExecutor(max_workers=16) as pool:
        list(pool.map(work, sockets))


def _ask(socket: str, client: str, waiting: list[Waiting], served: set[str]) -> str | None:
    """Add what a host has open and the sessions it serves; why it could not be asked, if so."""
    from interlock.runtime.asks.client import AskRefused, BlockingClient, HostGone

    try:
        with BlockingClient(socket, client, timeout=PATIENCE_S) as connection:
            sessions = {one.id: one.agent for one in connection.sessions()}
            for view in connection.list():
                agent = str(view.event.get("agent") or sessions.get(view.session, ""))
                waiting.append(Waiting(socket, connection.host.pid, view, agent))
            served.update(sessions)
    except (HostGone, AskRefused) as error:
        return str(error)
    return None


def _named(waiting: list[Waiting]) -> list[Waiting]:
    from dataclasses import replace

    count = Counter(one.view.ask_id for one in waiting)
    named = [
        replace(one, name=one.view.ask_id if count[one.view.ask_id] == 1 else f"{one.view.ask_id}@{one.pid}")
        for one in waiting
    ]
    return sorted(named, key=lambda one: (one.view.opened_at, one.name))


def plain(text: str) -> str:
    """Text on one line, with everything that a terminal could obey made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _row(one: Waiting) -> dict[str, Any]:
    ask = one.view.model_dump(mode="json", by_alias=True)
    return {"name": one.name, "socket": one.socket, "hostPid": one.pid, "agent": one.agent, **ask}


def _line(one: Waiting, now: datetime) -> str:
    event = one.view.event
    what = event.get("prompt") or event.get("reason") or ""
    folder = _short(str(event.get("cwd") or "?"))
    cells = (one.name, one.view.session, one.agent or "?", folder, _age(one.view.opened_at, now))
    return "  ".join(plain(str(cell)) for cell in (*cells, event.get("tool") or "?", what))


def _short(folder: str) -> str:
    home = os.path.expanduser("~")
    return "~" + folder[len(home) :] if home != "/" and (folder + "/").startswith(home + "/") else folder


def _age(opened_at: str, now: datetime) -> str:
    from interlock.runtime.cli.sessions_command import age

    try:
        opened = datetime.fromisoformat(opened_at)
    except ValueError:
        return "?"
    return age((now - (opened if opened.tzinfo else opened.replace(tzinfo=UTC))).total_seconds())
