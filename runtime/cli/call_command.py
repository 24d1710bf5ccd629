"""`interlock call TOOL JSON`: one tool call through the whole pipeline, its observation printed."""

from __future__ import annotations

import asyncio
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlock.runtime.cli.fault import CommandFault

if TYPE_CHECKING:
    from interlock.runtime.engine.session import RuntimeSession
    from interlock.runtime.events.tool import ToolObservation


class Given(StrEnum):
    """The answer to an ask of this call."""

    allow = "allow"
    deny = "deny"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def call(
        tool: str = typer.Argument(help="Name of the tool, for example read_file or bash."),
        arguments: str = typer.Argument(metavar="JSON", help='Its input, for example \'{"command": "ls"}\'.'),
        workspace: Path = typer.Option(Path(), "--workspace", "-w", help="The folder to work in."),
        answer: Given = typer.Option(
            None, "--answer", help="Answer an ask at once. Without it the ask waits for a screen."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the whole observation as JSON."),
    ) -> None:
        """Run one tool call through the whole pipeline: policy, ask, execution, cap, record."""
        raw = _parsed(arguments)
        if not workspace.is_dir():
            raise CommandFault(f"--workspace {workspace} is not a folder.", 2)
        observation = asyncio.run(_call(tool, raw, workspace.resolve(), answer.value if answer else None))
        _print(observation, as_json)
        raise typer.Exit(0 if observation.ok else 1)


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandFault(f"the input is not JSON: {error}. In a shell, put it in single quotes.", 2) from None
    if not isinstance(value, dict):
        raise CommandFault(f"the input must be a JSON object, not {type(value).__name__}.", 2)
    return value


async def _call(tool: str, raw: dict[str, Any], workspace: Path, answer: Any) -> ToolObservation:
    from interlock.runtime.agents.approver import answer_all
    from interlock.runtime.engine.intent import Intent
    from interlock.runtime.engine.manifest import ManifestError
    from interlock.runtime.engine.session import RuntimeSession
    from interlock.runtime.journal.place import PlaceError
    from interlock.runtime.journal.writer import JournalWriteError

    try:
        async with RuntimeSession.start(workspace, agent="interlock-call", title=f"call {tool}") as session:
            approver = None
            if answer is not None:
                socket = str(session.setting.reply_to)
                approver = asyncio.create_task(answer_all(socket, answer, lambda kind, what: None))
            await _read_first(session, tool, raw)
            observation = await session.pipeline.run(Intent(tool, raw))
            if approver is not None:
                approver.cancel()
                await asyncio.gather(approver, return_exceptions=True)
            return observation
    except (JournalWriteError, PlaceError, ManifestError) as error:
        raise CommandFault(str(error)) from None


async def _read_first(session: RuntimeSession, tool: str, raw: dict[str, Any]) -> None:
    """A change of a file needs that it was read in this session; this session has only the one call, so it is read here."""
    from interlock.runtime.engine.intent import Intent

    path = raw.get("path")
    if tool in ("edit_file", "write_file") and isinstance(path, str):
        place = Path(session.setting.context.workspace.home) / path
        if "\0" not in path and place.is_file():
            print(f"interlock: reading {place} first, as every change needs", file=sys.stderr)
            await session.pipeline.run(Intent("read_file", {"path": path}))


def _print(observation: ToolObservation, as_json: bool) -> None:
    if as_json:
        print(json.dumps(observation.model_dump(by_alias=True, exclude_none=True, mode="json"), ensure_ascii=False))
        return
    from interlock.runtime.cli.asks_command import plain
    from interlock.runtime.state.context import model_text

    for line in model_text(observation).split("\n"):
        print(plain(line))
