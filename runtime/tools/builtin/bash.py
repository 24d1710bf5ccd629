"""`bash`: one shell command, for what no narrower tool does.

Promises: starts in a stated directory inside the workspace, every time; every byte of both streams is kept as an
artifact; the exit code, the signal and what ended it are facts, and an exit code that speaks for the last stage alone
says so. States no cause and never calls anything a success.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from time import monotonic
from typing import Literal

from pydantic import Field

from interlock.runtime.events.tool import ArtifactRef, SideEffect
from interlock.runtime.policy.shell import ShellFacts, parse_command
from interlock.runtime.tools.capture import Capture
from interlock.runtime.tools.definition import (
    Claim,
    Concurrency,
    Prepared,
    RunContext,
    ToolContext,
    ToolDefinition,
    ToolInput,
)
from interlock.runtime.tools.environment import environment_for
from interlock.runtime.tools.output import Excerpt, ToolOutput, plural
from interlock.runtime.tools.process import CannotStart, Finished, run_process
from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.workspace import (
    FolderNumber,
    Place,
    Workspace,
    folder_number,
    open_folder,
    path_of,
)

PROGRESS_EVERY_S = 0.5
"""At most one progress event a stream in this time."""
MASKING = frozenset({"|", "|&", "||", ";", "&"})
"""Operators behind which an earlier failure does not show in the exit code."""
_WANTED_INPUT = re.compile(
    r"EOFError|/dev/tty|EOF when reading|not a tty|inappropriate ioctl for device|"
    r"a terminal is required|no tty present|\[y/n\]|\(yes/no",
    re.IGNORECASE,
)
_PROMPT_END = re.compile(r"(?i)(?:password|passphrase|continue|proceed|sure)[^\n]{0,80}[:?]\s*$")


class BashInput(ToolInput):
    """The command and its limits."""

    command: str = Field(min_length=1, max_length=100_000, description="Run with bash.")
    timeout_s: float = Field(120.0, ge=0.1, le=3600.0, description="Seconds after which it is stopped.")
    cwd: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="Directory to start in, inside the workspace. Default: its root.",
    )


def concurrency(call: BashInput, context: ToolContext) -> Concurrency:
    """Exclusive per working directory, and never beside a change of a file."""
    real = context.workspace.locate(call.cwd or context.workspace.home, field="cwd").real
    claims = (Claim(f"cwd:{real}", "exclusive"), Claim("tree", "shell"))
    # a change asked for before it may rewrite the very script that it runs: look at it only when that is decided
    return Concurrency("exclusive", real, claims, early=("tree",))


def prepare(call: BashInput, context: ToolContext) -> Prepared:
    """Check directory and syntax. Raises Refusal."""
    place = _directory(call.cwd, context.workspace)
    cwd, folder = place.real, folder_number(place.real)
    if "\0" in call.command:
        raise precondition("the command holds a NUL character, which no shell can be given", field="command")
    shell = _shell()
    _check_syntax(shell, call.command, context)
    facts = parse_command(call.command)
    unsure = _masks(facts, call.command)

    async def run(running: RunContext) -> ToolOutput:
        return await _run(call, running, shell, cwd, folder, unsure=unsure)

    shown = context.workspace.show(cwd)
    first = call.command.strip().split("\n", 1)[0]
    title = f"Run {first if len(first) <= 100 else first[:99] + '…'}"
    return Prepared(
        input=call,
        title=title,
        prompt=title + ("" if shown == "." else f" in {shown}"),
        run=run,
        cwd=cwd,
        timeout_s=call.timeout_s,
    )


def _masks(facts: ShellFacts, command: str) -> bool:
    """Whether a command that is not the last may have failed although the exit code is 0."""
    if MASKING & set(facts.operators) or (not facts.understood and "\n" in command.strip()):
        return True
    # commands inside ( ), { }, loops and conditions stand at the top too, but are joined by no operator there
    return sum(simple.depth == 0 for simple in facts.commands) > facts.operators.count("&&") + 1


def _directory(written: str | None, workspace: Workspace) -> Place:
    place = workspace.locate(written or workspace.home, field="cwd")
    if place.kind != "folder":
        missing = place.kind == "missing"
        raise precondition(
            f"working directory missing: {place.real}" if missing else f"{place.shown} is no directory to work in",
            field="cwd",
            next_step="Name a directory that exists, or have this one made again.",
        )
    return place


def _shell() -> str:
    found = shutil.which("bash") or shutil.which("sh")
    if found is None:
        raise precondition("there is no bash and no sh on PATH, so no command can run", field="command")
    return found


def _check_syntax(shell: str, command: str, context: ToolContext) -> None:
    if len(command.encode()) > 120_000:
        raise precondition("the command is longer than 120,000 bytes", field="command")
    environment = environment_for(context.host, mark="syntax")
    try:
        checked = subprocess.run(
            [shell, "-n", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # not knowing is no refusal: the gate asks about what is not understood
    if checked.returncode:
        said = checked.stderr.decode("utf-8", "replace").strip()[:500]
        raise precondition(f"the shell cannot parse the command: {said}", field="command")


async def _run(
    call: BashInput, running: RunContext, shell: str, cwd: str, folder: FolderNumber, *, unsure: bool
) -> ToolOutput:
    try:
        handle = open_folder(cwd)
    except OSError:
        return ToolOutput(summary=f"working directory missing: {cwd}", ok=False, code="cwd_missing", exit="error")
    try:
        if folder_number(handle) != folder:
            said = f"what was shown changed: {cwd} is another folder than was shown; nothing was run"
            return ToolOutput(summary=said, ok=False, code="stale_file_baseline", exit="error", retryable=True)
        return await _run_in(handle, call, running, shell, cwd, unsure=unsure)
    finally:
        os.close(handle)


async def _run_in(
    handle: int, call: BashInput, running: RunContext, shell: str, cwd: str, *, unsure: bool
) -> ToolOutput:
    capture = Capture(running.artifacts)
    base = [shell] if os.path.basename(shell) != "bash" else [shell, "--noprofile", "--norc"]
    try:
        finished = await run_process(
            running.confine([*base, "-c", call.command], cwd),
            cwd=path_of(handle, cwd),
            environment=environment_for(running.host, mark=running.mark) | {"PWD": cwd},
            mark=running.mark,
            timeout_s=call.timeout_s,
            sink=_telling(capture, running),
            cancelled=running.cancelled,
            strays=running.strays,
        )
    except CannotStart as error:
        return ToolOutput(summary=f"could not start: {error}", ok=False, code="cannot_start", exit="error")
    finally:
        artifacts = capture.seal()
    return _report(call, capture, finished, unsure=unsure, artifacts=artifacts)


def _telling(capture: Capture, running: RunContext) -> Callable[[Literal["stdout", "stderr"], bytes], None]:
    told: dict[str, float] = {}

    def sink(stream: Literal["stdout", "stderr"], data: bytes) -> None:
        capture.take(stream, data)
        now = monotonic()
        if now - told.get(stream, now - PROGRESS_EVERY_S) >= PROGRESS_EVERY_S:
            told[stream] = now
            running.progress(stream, capture.sizes[stream], data[-200:].decode("utf-8", "replace"))

    return sink


def _report(
    call: BashInput, capture: Capture, finished: Finished, *, unsure: bool, artifacts: tuple[ArtifactRef, ...]
) -> ToolOutput:
    text, replaced = capture.text()
    ending, code, how = _ending(call, finished, unsure=unsure)
    parts = [ending, _sizes(capture)]
    if replaced:
        parts.append(f"binary or non-UTF-8: {plural(replaced, 'byte')} replaced")
    if code != "ok" and _wanted_input(text):
        parts.append("it asked for input, but its stdin is empty and it has no terminal")
    if finished.left:
        count = plural(len(finished.left), "process", "processes")
        parts.append(f"{count} of it still running (pid {', '.join(map(str, finished.left[:8]))})")
    if capture.fault:
        parts.append(f"its output could not be kept whole: {capture.fault}")
    elif capture.dropped:
        parts.append(f"the artifact lacks the last {capture.dropped:,} bytes")
    return ToolOutput(
        summary="; ".join(parts),
        content=text if isinstance(text, Excerpt) else (text or None),
        ok=code == "ok",
        code=code,
        keep="ends",
        artifacts=artifacts,
        raw_ref=artifacts[0].id if artifacts else None,
        side_effects=(SideEffect(kind="process"),),
        lossy=bool(replaced) or None,
        output_bytes=sum(capture.sizes.values()),
        exit=how,
        exit_code=finished.exit_code,
        signal=finished.signal,
        signals_sent=finished.signals_sent or None,
    )


def _ending(
    call: BashInput, finished: Finished, *, unsure: bool
) -> tuple[str, str, Literal["ok", "error", "cancelled", "timeout"]]:
    if finished.ended_by == "timeout":
        return f"timed out after {call.timeout_s:g} s, {_stopped(finished)}", "timeout", "timeout"
    if finished.ended_by == "cancelled":
        return f"cancelled, {_stopped(finished)}", "cancelled", "cancelled"
    if finished.signal is not None:
        return f"ended by signal {finished.signal}", "killed_by_signal", "error"
    if finished.exit_code:
        return f"exit code {finished.exit_code}", "exit_nonzero", "error"
    if unsure:
        return "exit code 0 (last stage); an earlier stage may have failed", "ok", "ok"
    return "exit code 0", "ok", "ok"


def _stopped(finished: Finished) -> str:
    return f"stopped with {' then '.join(finished.signals_sent)}"


def _sizes(capture: Capture) -> str:
    out, err = capture.sizes["stdout"], capture.sizes["stderr"]
    if not out and not err:
        return "no output"
    return f"stdout {plural(out, 'byte')}" + (f", stderr {plural(err, 'byte')}" if err else "")


def _wanted_input(text: str | Excerpt) -> bool:
    tail = (text.tail if isinstance(text, Excerpt) else text)[-2000:]
    return bool(_WANTED_INPUT.search(tail) or _PROMPT_END.search(tail))


BASH = ToolDefinition(
    name="bash",
    version="1",
    description=(
        "Run one shell command in the workspace. Stdin is empty, there is no terminal, and each call starts in the "
        "workspace root (or in cwd). Prefer read_file, edit_file, glob and grep where they do."
    ),
    input_model=BashInput,
    risks=frozenset({"read", "write", "execute", "network"}),
    read_only=False,
    prepare=prepare,
    concurrency=concurrency,
    needs_sandbox=True,
)
