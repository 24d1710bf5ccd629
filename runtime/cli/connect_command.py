"""`interlock connect AGENT`: show what would change in that agent's settings, ask, change it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlock.runtime.cli.fault import CommandFault

if TYPE_CHECKING:
    from interlock.runtime.gates.connect.plan import Plan
    from interlock.runtime.gates.connect.receipt import Receipt
    from interlock.runtime.gates.service.config import ServiceConfig


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def connect(
        agent: str = typer.Argument(help="claude, codex, gemini or opencode."),
        yes: bool = typer.Option(False, "--yes", "-y", help="Make the change without asking."),
        config: Path = typer.Option(None, "--config", help="The agent's settings file, where it is not the usual one."),
        ask_first: bool = typer.Option(
            False, "--ask-first", help="opencode: have it ask before commands and edits, which it does not by itself."
        ),
        show: bool = typer.Option(False, "--show", help="Only show what would change."),
    ) -> None:
        """Have another agent's questions come to your inbox. Shows the exact change and asks before it is made."""
        from interlock.runtime.gates.connect.file import FileRefused
        from interlock.runtime.gates.service.config import ServiceConfigError

        _known(agent)
        try:
            _connect(agent, yes, config, ask_first, show)
        except (FileRefused, ServiceConfigError) as error:
            raise CommandFault(str(error)) from None


def _known(agent: str) -> None:
    from interlock.runtime.gates.connect.agent import AGENTS

    if agent not in AGENTS:
        raise CommandFault(f"{agent!r} is no agent that can be connected. Known are {', '.join(AGENTS)}.", 2)


def _connect(agent: str, yes: bool, config: Path | None, ask_first: bool, show: bool) -> None:
    from interlock.runtime.gates.connect.act import connect
    from interlock.runtime.gates.connect.agent import AGENTS, Choice, plan_for
    from interlock.runtime.gates.connect.file import check_writable
    from interlock.runtime.gates.connect.probe import ask_version
    from interlock.runtime.gates.service.config import ensure_config, preview_config, read_config

    service = preview_config() if show else ensure_config()
    version = "" if show else ask_version(AGENTS[agent].program, os.environ).text
    plan = plan_for(agent, os.environ, service, config=config, choice=Choice(ask_first), version=version)
    _tell(plan, () if show else AGENTS[agent].known_versions)
    if show:
        if read_config() is None:
            print("note: the socket's key and the sign made of it are chosen when you connect; here stands another.")
        return
    if plan.needed:
        for change in plan.needed:
            check_writable(change.target)
        if not yes:
            _agreed(plan)
    elif agent == "codex" and not yes and sys.stdin.isatty():
        _ask("Have Codex trust these hooks, where it does not?")
    _install(service)
    receipt = connect(plan) if plan.needed else plan.earlier
    if plan.needed:
        undo = f"`interlock disconnect {agent}` undoes it"
        print(f"{plan.title} is connected. `interlock doctor {agent}` tries it, {undo}.")
    else:
        print(f"{plan.title} is connected already. Nothing was changed.")
    if agent == "codex" and receipt is not None:
        _trust(plan, receipt)


def _tell(plan: Plan, known: tuple[str, ...]) -> None:
    from interlock.runtime.gates.connect.probe import name_version

    for change in plan.needed:
        linked = f" (a link to {change.target.real})" if change.target.is_linked else ""
        print(f"{change.target.path}{linked}:")
        print(change.diff())
    if plan.needed:
        for note in plan.notes:
            print(f"note: {note}")
    if known and (told := name_version(plan.title, plan.version, known)):
        print(f"note: {told} `interlock doctor` tries it.")


def _agreed(plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise CommandFault("there is no terminal to ask on. Look at the change above and add --yes to make it.", 2)
    files = "this file" if len(plan.needed) == 1 else f"these {len(plan.needed)} files"
    _ask(f"Change {files}?")


def _ask(question: str) -> None:
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise CommandFault("nothing was changed.")


def _install(service: ServiceConfig) -> None:
    from interlock.runtime.gates.service.hold_hook import install_hold
    from interlock.runtime.gates.service.tell_hook import install_hook

    try:
        install_hook(service)
        install_hold(service)
    except OSError as error:
        raise CommandFault(f"the hook's program cannot be written: {error}. Nothing was changed.") from None


def _trust(plan: Plan, receipt: Receipt) -> None:
    from interlock.runtime.gates.codex.report import CodexFault
    from interlock.runtime.gates.codex.trust import trust_our_hooks
    from interlock.runtime.gates.connect.act import settle

    try:
        keys = trust_our_hooks(plan.config.parent, os.environ)
    except CodexFault as error:
        print(f"note: Codex does not run these hooks before you trust them: start codex and use /hooks ({error}).")
        return
    settle(receipt, plan.config, keys)
    print(f"Codex trusts our {len(keys)} hooks now.")
