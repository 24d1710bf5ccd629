"""Commands that start another agent's own screen so that its questions reach the inbox too."""

from __future__ import annotations

import asyncio
from importlib import import_module

import typer

from interlock.runtime.cli.fault import CommandFault


def register_launch(app: typer.Typer, name: str, title: str) -> None:
    """Add `interlock NAME [ARGS…]`, which runs `launch` of that agent's gate. `title`: what the agent is called."""

    @app.command(
        name,
        help=f"Start {title} so that you can answer it here and in the inbox at the same time.",
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    def start(
        arguments: list[str] = typer.Argument(
            None, metavar="[ARGS]…", help=f"For {title} itself, as you would give them."
        ),
    ) -> None:
        raise typer.Exit(asyncio.run(_run(name, arguments or [])))


async def _run(name: str, arguments: list[str]) -> int:
    from interlock.runtime.gates.foreground import NotStarted
    from interlock.runtime.gates.host import GateHost

    launch = import_module(f"interlock.runtime.gates.{name}.launch").launch
    try:
        async with GateHost() as host:
            return await launch(host, arguments)
    except NotStarted as error:
        raise CommandFault(str(error), 127) from None
