"""`interlock demo`: two scripted agents on a real scratch project, watched on the screen or answered by option.

Promises: needs no key and no network; the agents run in a process of their own, so a screen that goes away leaves them
waiting; leaving the screen in order ends them.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlock.runtime.cli.fault import CommandFault, known_faults
from interlock.runtime.cli.stoppable import run_stoppable

if TYPE_CHECKING:
    from interlock.runtime.agents.demo import Demo
    from interlock.runtime.asks.protocol import AnsweredNotice, AskView

PACE_S = 0.8
"""Seconds that a scripted turn takes when a person watches."""
START_TIMEOUT_S = 30.0
Tell = Callable[[dict[str, Any]], None]


class Given(StrEnum):
    """The answer that is given to everything."""

    allow = "allow"
    deny = "deny"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def demo(
        headless: bool = typer.Option(
            False, "--headless", help="No screen: answer by --answer and print what happens."
        ),
        answer: Given = typer.Option(None, "--answer", help="With --headless: the answer to every ask."),
        as_json: bool = typer.Option(False, "--json", help="With --headless: one JSON object a line."),
        host: bool = typer.Option(False, "--host", hidden=True),
    ) -> None:
        """Watch and approve two scripted agents at work on a real scratch project."""
        if host:
            raise typer.Exit(asyncio.run(_host()))
        if not headless:
            if answer is not None or as_json:
                raise CommandFault("--answer and --json need --headless: on the screen you answer yourself.", 2)
            raise typer.Exit(_on_screen())
        if answer is None:
            raise CommandFault("--headless needs --answer allow or --answer deny: nobody else is there to answer.", 2)
        tell = _print_json if as_json else _print_plain
        raise typer.Exit(run_stoppable(_headless(answer, tell)))


async def _headless(answer: Given, tell: Tell) -> int:
    from interlock.runtime.agents.approver import answer_all, beside
    from interlock.runtime.agents.demo import open_demo

    try:
        async with open_demo(pace_s=0) as demo:
            for part in demo.parts:
                tell({"event": "begun", **_session(part), "project": str(demo.project)})
            sockets = {str(part.session.setting.reply_to) for part in demo.parts}
            approvers = [answer_all(socket, answer.value, _teller(tell)) for socket in sorted(sockets)]
            result = await beside(_result(demo), approvers)
            last = {
                **_session(demo.parts[0]),
                "journals": [str(part.session.journal.path) for part in demo.parts],
                "project": str(demo.project),
                "result": result,
            }
    except _Deaf as error:
        raise CommandFault(f"the demo was stopped: its output cannot be written ({error}).") from None
    except begin_faults() as error:
        raise CommandFault(f"the demo cannot begin: {error}") from None
    with suppress(_Deaf):
        tell(last)
    return 0 if result == "completed" else 1


async def _result(demo: Demo) -> str:
    try:
        await demo.run()
    except ExceptionGroup as group:
        return "; ".join(dict.fromkeys(f"{type(error).__name__}: {error}" for error in _leaves(group)))
    return "completed"


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def begin_faults() -> tuple[type[Exception], ...]:
    """With what the demo may fail to begin."""
    return (*known_faults(), OSError)


class _Deaf(Exception):
    """What happens cannot be printed any more."""


def _session(part: Any) -> dict[str, Any]:
    return {"session": part.session.id, "journal": str(part.session.journal.path)}


def _teller(tell: Tell) -> Callable[[str, AskView | AnsweredNotice], None]:
    from interlock.runtime.asks.protocol import AnsweredNotice

    def told(kind: str, what: AskView | AnsweredNotice) -> None:
        event = getattr(what, "event", {})
        line: dict[str, Any] = {"event": kind, "session": what.session, "askId": what.ask_id}
        if kind == "ask":
            line |= {"tool": event.get("tool"), "prompt": event.get("prompt"), "reason": event.get("reason")}
        else:
            line |= {"answer": getattr(what, "answer", None), "scope": getattr(what, "scope", None)}
            line |= {"by": what.by.kind} if isinstance(what, AnsweredNotice) else {}
        tell(line)

    return told


def _print_json(line: dict[str, Any]) -> None:
    _out(json.dumps(line, ensure_ascii=False))


def _print_plain(line: dict[str, Any]) -> None:
    from interlock.runtime.events.approver import APPROVER_WORDS

    match line.get("event"):
        case "begun":
            text = f"begun   {line['session']} in {line['project']}"
        case "ask":
            text = f"asked   {line['tool']}: {line['prompt']}"
        case "answer":
            by = APPROVER_WORDS.get(line["by"], line["by"])
            text = f"answer  {line['answer']} by {by}"
        case _:
            text = f"result  {line['result']}\njournal {line['journal']}\nproject {line['project']}"
    _out(text)


def _out(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError as error:
        raise _Deaf(error.strerror or str(error)) from None


async def _host() -> int:
    """The agents' own process: says on one line that it is ready, works, ends with them or on SIGTERM."""
    from interlock.runtime.agents.demo import open_demo

    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with open_demo(pace_s=PACE_S) as demo:
            _print_json({"ready": [part.session.id for part in demo.parts], "project": str(demo.project)})
            result = await _result(demo)
    except (asyncio.CancelledError, _Deaf):
        return 0  # asked to leave, or whoever started it has gone before it was ready
    except begin_faults() as error:
        _print_json({"fault": str(error)})
        return 1
    if result != "completed":
        print(result, file=sys.stderr)
    return 0 if result == "completed" else 1


def _on_screen() -> int:
    from interlock.runtime.cli.opening import show_screen

    with tempfile.NamedTemporaryFile("w+b", prefix="interlock-demo-", suffix=".log", delete=False) as log:
        host = subprocess.Popen(
            [sys.executable, "-m", "interlock.runtime.cli", "demo", "--host"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            ready = _ready(host, Path(log.name))
            code = show_screen(leaving=("The demo's agents end when you leave;", "their record stays."))
        finally:
            _stop(host)
    _farewell(ready)
    return code


def _ready(host: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    assert host.stdout is not None
    line = host.stdout.readline()
    said = json.loads(line) if line.strip() else {}
    if "ready" in said:
        return said
    with suppress(subprocess.TimeoutExpired):
        host.wait(timeout=5)
    why = said.get("fault") or log.read_text(errors="replace").strip()[-2000:] or "it ended without a word"
    raise CommandFault(f"the demo's agents cannot begin: {why}")


def _stop(host: subprocess.Popen[bytes]) -> None:
    host.terminate()
    try:
        host.wait(timeout=10)
    except subprocess.TimeoutExpired:
        host.kill()
        host.wait()


def _farewell(ready: dict[str, Any]) -> None:
    first = ready["ready"][0]
    print(
        f"The demo's agents have ended. Their project: {ready['project']}\n"
        f"  interlock show {first}     what was done\n"
        f"  interlock verify {first}   that the record is whole"
    )
