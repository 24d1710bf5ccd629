"""`interlock doctor [AGENT]`: does the gate of each agent work, and what can it not do.

Promises: exit code 0 when every agent that is connected is well, 1 when the gate of one cannot act in this folder; an agent
that is not connected is no fault. With `--json` one object a connection.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

    from interlock.runtime.gates.doctor.examine import Report

_MARKS = {"ok": "ok", "problem": "NO", "off": "--", "unknown": "? "}


def register(app: typer.Typer) -> None:
    """Add the command."""
    import typer

    @app.command()
    def doctor(
        agent: str = typer.Argument(None, help="claude, codex, gemini or opencode; all of them without one."),
        config: Path = typer.Option(None, "--config", help="The agent's settings file, where it is not the usual one."),
        as_json: bool = typer.Option(False, "--json", help="One JSON object an agent."),
    ) -> None:
        """Look whether the gates of other agents work, for agents that are started in this folder."""
        from interlock.runtime.cli.fault import CommandFault
        from interlock.runtime.gates.connect.agent import AGENTS

        if agent is not None and agent not in AGENTS:
            raise CommandFault(f"there is no agent {agent!r}, only: {', '.join(AGENTS)}.", 2)
        if config is not None and agent is None:
            raise CommandFault("--config names the settings file of one agent: name that agent, too.", 2)
        well = True
        for report in _reports([agent] if agent else list(AGENTS), config):
            print(json.dumps(_row(report)) if as_json else _text(report))
            well = well and report.is_well
        if not well:
            raise typer.Exit(1)


def _reports(agents: list[str], config: Path | None) -> Iterator[Report]:
    """Side by side, for an agent that hangs takes its time; told in order."""
    from concurrent.futures import ThreadPoolExecutor

    from interlock.runtime.gates.doctor.examine import examine

    cwd = Path.cwd()
    with ThreadPoolExecutor(len(agents)) as pool:
        for reports in pool.map(lambda name: examine(name, os.environ, cwd, config), agents):
            yield from reports


def _row(report: Report) -> dict[str, object]:
    checks = [{"name": c.name, "state": c.state, "text": c.text} for c in report.checks]
    return {
        "agent": report.agent,
        "title": report.title,
        "config": report.config,
        "connected": report.connected,
        "well": report.is_well,
        "checks": checks,
        "limits": list(report.limits),
    }


def _text(report: Report) -> str:
    rows = [f"{report.title} ({report.config})"]
    rows += [f"  {_MARKS[check.state]}  {check.name}: {check.text}" for check in report.checks]
    if report.connected:
        rows += [f"  !   {limit}" for limit in report.limits]
    return "\n".join(rows) + "\n"
