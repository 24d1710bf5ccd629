"""`interlock doctor [AGENT]`: does the gate of each agent work, and what can it not do.

Promises: exit code 0 when every agent that is connected is well, 1 when one is not; an agent that is not connected is no
fault. With `--json` one object an agent.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

    from interlock.runtime.gates.doctor import Report

_MARKS = {"ok": "ok", "problem": "NO", "off": "--", "unknown": "? "}


def register(app: typer.Typer) -> None:
    """Add the command."""
    import typer

    @app.command()
    def doctor(
        agent: str = typer.Argument(None, help="claude, codex, gemini or opencode; all of them without one."),
        as_json: bool = typer.Option(False, "--json", help="One JSON object an agent."),
    ) -> None:
        """Look whether the gates of other agents work."""
        from interlock.runtime.cli.fault import CommandFault
        from interlock.runtime.gates.connect.agent import AGENTS
        from interlock.runtime.gates.doctor import examine

        if agent is not None and agent not in AGENTS:
            raise CommandFault(f"there is no agent {agent!r}, only: {', '.join(AGENTS)}.", 2)
        reports = [examine(name, os.environ) for name in ([agent] if agent else AGENTS)]
        for report in reports:
            print(json.dumps(_row(report)) if as_json else _text(report))
        if not all(report.is_well for report in reports):
            raise typer.Exit(1)


def _row(report: Report) -> dict[str, object]:
    checks = [{"name": c.name, "state": c.state, "text": c.text} for c in report.checks]
    return {
        "agent": report.agent,
        "title": report.title,
        "connected": report.connected,
        "well": report.is_well,
        "checks": checks,
        "limits": list(report.limits),
    }


def _text(report: Report) -> str:
    rows = [report.title]
    rows += [f"  {_MARKS[check.state]}  {check.name}: {check.text}" for check in report.checks]
    if report.connected:
        rows += [f"  !   {limit}" for limit in report.limits]
    return "\n".join(rows) + "\n"
