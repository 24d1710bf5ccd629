"""`interlock acp -- AGENT…`: between an editor and its agent."""

from __future__ import annotations

import asyncio
import logging
import sys

import typer

from interlock.runtime.cli.fault import CommandFault


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
    def acp(
        agent: list[str] = typer.Argument(metavar="AGENT…", help="The agent's command, as the editor would start it."),
    ) -> None:
        """Stand between any ACP client and agent, so that both are watched and gated.

        Put it where the editor's agent command is: interlock acp -- gemini --acp
        """
        logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="interlock acp: %(message)s")
        raise typer.Exit(asyncio.run(_run(agent)))


async def _run(command: list[str]) -> int:
    from interlock.runtime.asks.endpoint import EndpointError
    from interlock.runtime.gates.acp.proxy import run
    from interlock.runtime.gates.host import GateHost
    from interlock.runtime.journal.place import PlaceError

    host = GateHost()
    try:
        await host.start()
    except (EndpointError, PlaceError) as error:
        # the editor's work must go on: its own prompt decides, and denies of the policy hold
        logging.error("no screen can answer, the editor asks alone: %s", error)
    try:
        return await run(command, host)
    except OSError as error:
        raise CommandFault(f"cannot start {command[0]}: {error.strerror}. Is it installed and on PATH?", 127) from None
    finally:
        await host.close("the agent's connection is over")
