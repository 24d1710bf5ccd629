"""`interlock disconnect AGENT`: put that agent's settings back."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from interlock.runtime.cli.fault import CommandFault


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def disconnect(
        agent: str = typer.Argument(help="claude, codex, gemini or opencode."),
        config: Path = typer.Option(None, "--config", help="The agent's settings file, where it is not the usual one."),
    ) -> None:
        """Take the gate out of another agent's settings: byte for byte where they are as we left them."""
        from interlock.runtime.gates.connect.act import disconnect as undo
        from interlock.runtime.gates.connect.agent import AGENTS
        from interlock.runtime.gates.connect.file import FileRefused
        from interlock.runtime.gates.connect.receipt import load

        if agent not in AGENTS:
            raise CommandFault(f"{agent!r} is no agent that can be connected. Known are {', '.join(AGENTS)}.", 2)
        path = (config or AGENTS[agent].config(os.environ)).absolute()
        try:
            receipt = load(agent, path)
            if receipt is None:
                raise CommandFault(
                    f"{AGENTS[agent].title} is not connected with {path}. If it is with another file, name that with --config."
                )
            for line in undo(receipt):
                print(line)
        except FileRefused as error:
            raise CommandFault(str(error)) from None
        print(f"{AGENTS[agent].title} is not connected any more.")
