"""`interlock policy grants`: the standing permissions that hold now.

Promises: those of running sessions come from their journals, which are the truth about them, and rules that were kept from
answers from the user's policy file; what was revoked, whose time is over, or whose turn or session has ended is not
listed, because it covers nothing; a journal that cannot be read is told and the others are still listed.
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
    from interlock.runtime.state.grants import GrantFold, StandingGrant

HOW_LONG = {"turn": "until its turn ends", "session": "until its session ends", "rule": "for all later sessions too"}


def grants(as_json: bool = typer.Option(False, "--json", help="One JSON object a line.")) -> None:
    """List what you have allowed beyond one call: what it covers, in which session, until when."""
    from interlock.runtime.cli.asks_command import plain

    found, faults = all_standing()
    for row in found:
        print(json.dumps(row) if as_json else plain(_line(row)))
    if not found and not as_json:
        print("No standing permission holds now.")
    for fault in faults:
        print(f"interlock: {plain(fault)}", file=sys.stderr)
    if faults:
        raise typer.Exit(1)


def all_standing() -> tuple[list[dict[str, Any]], list[str]]:
    """(every permission that holds, what could not be read). Raises CommandFault without a place to look in."""
    from interlock.runtime.journal.place import PlaceError, sessions_home
    from interlock.runtime.library.catalog import list_sessions

    try:
        running = [one for one in list_sessions(sessions_home()) if one.writer_alive]
    except PlaceError as error:
        raise CommandFault(str(error)) from None
    found: list[dict[str, Any]] = []
    faults: list[str] = []
    for session in running:
        try:
            found += standing(session.path)
        except CommandFault as fault:
            faults.append(str(fault))
    found += _kept({row["ruleId"] for row in found}, faults)
    return found, faults


def standing(path: Path) -> Iterator[dict[str, Any]]:
    """The permissions of one journal that hold now. Raises CommandFault when it cannot be read."""
    now = round(datetime.now(UTC).timestamp() * 1_000_000)
    for grant in folded(path).standing(now):
        yield _row(grant)


def folded(path: Path) -> GrantFold:
    """All grants of a journal. Raises CommandFault when it cannot be read."""
    from interlock.runtime.cli.reading import Reading
    from interlock.runtime.state.grants import GrantFold

    fold = GrantFold()
    for _, event in Reading(path).decoded():
        fold.add(event)
    return fold


def _kept(known: set[str], faults: list[str]) -> Iterator[dict[str, Any]]:
    """Rules that answers of earlier sessions put into the policy file."""
    from interlock.runtime.tools.kept_rule import KeptRuleError, kept_rules
    from interlock.runtime.tools.policy_files import user_file

    try:
        for rule in kept_rules():
            if rule.id not in known:
                yield {
                    "grantId": rule.id,
                    "session": "",
                    "scope": "rule",
                    "tool": ", ".join(rule.tools),
                    "covers": {"field": "rule", "value": rule.text},
                    "madeAt": "",
                    "expiresAt": rule.expires.isoformat() if rule.expires else None,
                    "ruleId": rule.id,
                    "file": str(user_file()),
                }
    except KeptRuleError as error:
        faults.append(str(error))


def _row(grant: StandingGrant) -> dict[str, Any]:
    from interlock.runtime.engine.grants import view_of

    view = view_of(grant)
    return {
        "grantId": view.grant_id,
        "session": view.session,
        "scope": view.scope,
        "tool": view.tool,
        "covers": view.matches,
        "madeAt": view.made_at,
        "expiresAt": view.expires_at,
        "ruleId": view.rule_id or "",
        "by": view.by.model_dump(exclude_none=True) if view.by else None,
    }


def _line(row: dict[str, Any]) -> str:
    until = f"until {row['expiresAt']}" if row["expiresAt"] else HOW_LONG.get(row["scope"], "")
    covers = row["covers"]
    if covers.get("field") == "rule":
        rows = [line for line in str(covers["value"]).splitlines() if line.startswith(("command", "path"))]
        return f"{row['grantId']}  (your policy.toml)  {row['tool']} rule: {' '.join(rows)}  {until}"
    what = " | ".join(str(covers.get("value", "")).splitlines())
    where = f" in {covers['cwd']}" if covers.get("field") == "command" else ""
    rule = f"  rule {row['ruleId']}" if row["ruleId"] else ""
    return f"{row['grantId']}  {row['session']}  {row['tool']} {covers.get('field', '')}: {what}{where}  {until}{rule}"
