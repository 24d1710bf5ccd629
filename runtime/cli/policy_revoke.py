"""`interlock policy revoke`: end a standing permission.

Promises: one of a running session is ended over its socket, so that the very next decision knows; a rule is taken out of
the user's policy file, and everything else in that file stays byte for byte; exit code 0 only when it is over. A name
that fits several is refused with the names that would be clear.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from interlock.runtime.cli.fault import CommandFault

if TYPE_CHECKING:
    from interlock.runtime.asks.discovery import HostInfo
    from interlock.runtime.asks.protocol import GrantRevokedReply, GrantView

CLIENT = "interlock policy revoke"


def revoke(
    name: str = typer.Argument(metavar="GRANT", help="Its id, SESSION/id, or the id of a rule, as `grants` lists it."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object."),
) -> None:
    """End a standing permission before its time."""
    live, problems = _live()
    fitting = [(host, view) for host, view in live if name in _names(view)]
    if len(fitting) > 1:
        clear = ", ".join(f"{view.session}/{view.grant_id}" for _, view in fitting)
        raise CommandFault(f"{len(fitting)} standing permissions are called {name}: say which of {clear}", 2)
    if fitting:
        told = _revoked(*fitting[0])
    else:
        told = _dropped(name, problems)
    print(json.dumps(told) if as_json else _plain(_said(told)))
    if told.get("problem"):
        raise typer.Exit(1)


def _live() -> tuple[list[tuple[HostInfo, GrantView]], list[str]]:
    """The permissions of every host that answers, and why others do not."""
    from interlock.runtime.asks.client import AskRefused, BlockingClient, HostGone
    from interlock.runtime.asks.discovery import survey
    from interlock.runtime.cli.asks_command import PATIENCE_S
    from interlock.runtime.journal.place import PlaceError

    try:
        seen = survey()
    except PlaceError as error:
        raise CommandFault(str(error)) from None
    found: list[tuple[HostInfo, GrantView]] = []
    problems = list(seen.problems)
    for host in seen.hosts:
        try:
            with BlockingClient(host.socket, CLIENT, timeout=PATIENCE_S) as connection:
                found += [(host, view) for view in connection.grants()]
        except (HostGone, AskRefused) as error:
            problems.append(f"host {host.pid}: {error}")
    return found, problems


def _names(view: GrantView) -> tuple[str, ...]:
    return (view.grant_id, f"{view.session}/{view.grant_id}", *([view.rule_id] if view.rule_id else []))


def _revoked(host: HostInfo, view: GrantView) -> dict[str, Any]:
    from interlock.runtime.asks.client import AskRefused, BlockingClient, HostGone
    from interlock.runtime.cli.asks_command import PATIENCE_S

    try:
        with BlockingClient(host.socket, CLIENT, timeout=PATIENCE_S) as connection:
            reply: GrantRevokedReply = connection.revoke(view.grant_id, view.session)
    except AskRefused as error:
        raise CommandFault(f"not revoked ({error.name}): {error.message}") from None
    except HostGone as error:
        raise CommandFault(f"{error}. `interlock policy grants` shows whether it still holds.") from None
    return reply.model_dump(mode="json", by_alias=True)


def _dropped(name: str, problems: list[str]) -> dict[str, Any]:
    """Take a rule of an earlier session out of the policy file."""
    from interlock.runtime.tools.kept_rule import KeptRuleError, drop_rule, kept_rules

    session, rule_id = _rule_of(name)
    try:
        if any(rule.id == rule_id for rule in kept_rules()) and drop_rule(rule_id):
            return {"grantId": name, "session": session, "scope": "rule", "ruleId": rule_id, "ruleRemoved": True}
    except KeptRuleError as error:
        raise CommandFault(str(error)) from None
    more = "".join(f"\n{_plain(problem)}" for problem in problems)
    raise CommandFault(f"no standing permission {_plain(name)!r} holds. `interlock policy grants` lists them.{more}")


def _rule_of(name: str) -> tuple[str, str]:
    """(session, rule id) of `SESSION/grant_3` of a session that has ended; any other name is taken for a rule's id."""
    from interlock.runtime.cli.lookup import session_folder
    from interlock.runtime.cli.policy_grants import folded

    session, slash, grant_id = name.partition("/")
    if not slash:
        return "", name
    folder = session_folder(session)
    grant = folded(folder / "events.jsonl").made.get(grant_id)
    return folder.name, grant.rule_id if grant is not None else name


def _said(told: dict[str, Any]) -> str:
    parts = [f"Revoked {told['grantId']}"]
    if told.get("ruleRemoved"):
        parts.append("its rule was taken out of your policy file")
    if told.get("ruleRemoved") is False and not told.get("problem"):
        parts.append("its rule was in your policy file no more")
    if "callStarted" in told:
        ran = (
            "the call it was given for had begun" if told["callStarted"] else "the call it was given for had not begun"
        )
        parts.append(ran)
    if told.get("problem"):
        parts.append(str(told["problem"]))
    return "; ".join(parts) + "."


def _plain(text: str) -> str:
    from interlock.runtime.cli.asks_command import plain

    return plain(text)
