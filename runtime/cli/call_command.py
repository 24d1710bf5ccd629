"""`interlock call TOOL JSON`: one tool call through the whole pipeline, its observation printed."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlock.runtime.cli.fault import CommandFault
from interlock.runtime.cli.stoppable import run_stoppable

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
        observation = run_stoppable(_call(tool, raw, workspace.resolve(), answer.value if answer else None))
        with suppress(BrokenPipeError):  # the exit code tells how the call ended, whoever reads the text
            _print(observation, as_json)
        raise typer.Exit(0 if observation.ok else 1)


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise CommandFault(f"the input is not JSON: {error}. In a shell, put it in single quotes.", 2) from None
    if not isinstance(value, dict):
        raise CommandFault(f"the input must be a JSON object, not {type(value).__name__}.", 2)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


async def _call(tool: str, raw: dict[str, Any], workspace: Path, answer: Any) -> ToolObservation:
    from interlock.runtime.agents.approver import answer_all, beside
    from interlock.runtime.engine.session import RuntimeSession
    from interlock.runtime.journal.writer import JournalWriteError

    async with RuntimeSession.start(workspace, agent="interlock-call", title=f"call {tool}") as session:
        approvers = []
        if answer is not None:
            approvers.append(answer_all(str(session.setting.reply_to), answer, lambda kind, what: None))
        try:
            return await beside(_read_and_run(session, tool, raw), approvers)
        except JournalWriteError as error:
            hint = f"'interlock show {session.id}' tells how far the call came."
            raise CommandFault(f"{error} {hint}") from None


async def _read_and_run(session: RuntimeSession, tool: str, raw: dict[str, Any]) -> ToolObservation:
    from interlock.runtime.engine.intent import Intent

    await _read_first(session, tool, raw)
    return await session.pipeline.run(Intent(tool, raw))


async def _read_first(session: RuntimeSession, tool: str, raw: dict[str, Any]) -> None:
    """A change of a file needs that it was read in this session; this session has only the one call, so it is read here."""
    from interlock.runtime.engine.intent import Intent

    path = raw.get("path")
    if tool in ("edit_file", "write_file") and isinstance(path, str):
        place = Path(session.setting.context.workspace.home) / path
        if _is_file(place):
            print(f"interlock: reading {place} first, as every change needs", file=sys.stderr)
            await session.pipeline.run(Intent("read_file", {"path": path}))


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except (OSError, ValueError):
        return False  # the tool itself says what is wrong with the name


def _print(observation: ToolObservation, as_json: bool) -> None:
    if as_json:
        print(json.dumps(observation.model_dump(by_alias=True, exclude_none=True, mode="json"), ensure_ascii=False))
        return
    from interlock.runtime.cli.asks_command import plain
    from interlock.runtime.state.context import model_text

    for line in model_text(observation).split("\n"):
        print(plain(line))
