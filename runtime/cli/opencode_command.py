"""`interlock opencode [ARGS…]`: opencode's own screen, with its questions in the inbox too."""

from __future__ import annotations

import asyncio

import typer

from interlock.runtime.cli.fault import CommandFault


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
    def opencode(
        arguments: list[str] = typer.Argument(
            None, metavar="[ARGS]…", help="For opencode itself, as you would give them."
        ),
    ) -> None:
        """Start opencode so that you can answer it here and in the inbox at the same time."""
        raise typer.Exit(asyncio.run(_run(arguments or [])))


async def _run(arguments: list[str]) -> int:
    from interlock.runtime.gates.foreground import NotStarted
    from interlock.runtime.gates.host import GateHost
    from interlock.runtime.gates.opencode.launch import launch

    try:
        async with GateHost() as host:
            return await launch(host, arguments)
    except NotStarted as error:
        raise CommandFault(str(error), 127) from None
