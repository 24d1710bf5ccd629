"""The small shell program that command hooks of agents run: it hands the hook to the service and the answer back.

Promises: no Python is started while the service answers; when it does not, it is started and the hook posted again; in the
`closed` way a hook that gets no answer ends with exit code 2, which blocks the call, in the `open` way with 0 and no word,
which leaves it to the agent. POSIX sh and curl are all it needs.

A settings file runs `command_for(...)`; connect puts the program there with `install_hook`.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Literal

from interlock.runtime.gates.service.config import WAIT_HEADER, ServiceConfig
from interlock.runtime.gates.service.hook_program import holds_program, write_program
from interlock.runtime.journal.place import config_home

Failing = Literal["closed", "open"]
PATIENCE_S = 15
"""Seconds for a post; two of them and `START_S` fit into `HOOK_TIMEOUT_S`, for an agent lets a hook that times out pass."""
START_S = 15
"""Seconds that a start of the service is waited for; a service that hangs keeps the next one from starting."""
HOOK_TIMEOUT_S = 60
"""The time-out to write into an agent's settings for a hook that answers at once, in seconds."""

_PROGRAM = """\
#!/bin/sh
# Hands a hook of a coding agent to the gate service of Interlock. Written by `interlock connect`.
#   gate-hook.sh ROUTE closed|open PID-OF-THE-AGENT [SECONDS-TO-WAIT]   < the hook's JSON
umask 077
body=$(cat)
start() {{
    (unset INTERLOCK_AGENT INTERLOCK_CALL; exec {start} gate serve --detach) </dev/null >/dev/null 2>&1 &
    starting=$!
    (trap 'kill $!; exit' TERM; sleep {start_s} & wait $!; kill "$starting") </dev/null >/dev/null 2>&1 &
    wait "$starting" 2>/dev/null
    kill $! 2>/dev/null
}}
post() {{
    printf '%s' "$body" | curl -q -sS -f --noproxy '*' --max-time "${{3:-{patience}}}" --unix-socket {socket} \\
        -H 'Content-Type: application/json' -H "X-Interlock-Agent-Pid: $2" -H "{wait_header}: ${{3:-{patience}}}" \\
        --data-binary @- "http://gate/$1" 2>/dev/null
}}
# the socket is taken away by a service that leaves in order; one that was killed leaves it
[ -S {socket} ] && post "$1" "$3" "$4" && exit 0
# a question that was held is not put again: its dialog may have been answered since
[ -z "$4" ] || exit 0
start
post "$1" "$3" "$4" && exit 0
[ "$2" = closed ] || exit 0
echo 'Interlock: the gate service did not answer, so this call was not run. Trying it once more may help.' >&2
echo 'For the person: "interlock doctor" tells what is wrong; "interlock disconnect" takes the gate away.' >&2
exit 2
"""


def hook_file() -> Path:
    """Where the program lies."""
    return config_home() / "gate-hook.sh"


def program() -> str:
    """The shell words that start this very Interlock."""
    # -P: the folder that an agent works in must not be able to bring its own `interlock`
    return f"{shlex.quote(sys.executable)} -P -m interlock.runtime.cli"


def hook_text(config: ServiceConfig) -> str:
    """The program for this service."""
    socket = shlex.quote(config.socket)
    return _PROGRAM.format(
        patience=PATIENCE_S, start_s=START_S, wait_header=WAIT_HEADER, socket=socket, start=program()
    )


def install_hook(config: ServiceConfig) -> Path:
    """Write the program, or leave it when it is as it should be. Returns its path; raises OSError."""
    return write_program(hook_file(), hook_text(config))


def is_installed(config: ServiceConfig) -> bool:
    """Whether the program is there and is the one of this version."""
    return holds_program(hook_file(), hook_text(config))


def command_for(route: str, failing: Failing, wait_s: int | None = None) -> str:
    """The command line for an agent's settings. `$PPID` is the agent where it starts hooks through `sh -c`. `wait_s`: for how
    long an answer may be waited for, when a person may be asked; such a hook starts no service."""
    place = shlex.quote(os.fspath(hook_file()))
    line = f"sh {place} {route} {failing} $PPID" + (f" {wait_s}" if wait_s else "")
    if failing == "open":
        return f"[ ! -f {place} ] || {line}"
    # without the file sh would end with 127, which agents let pass
    return f"[ -f {place} ] || {{ echo {shlex.quote(_gone(route))} >&2; exit 2; }}; {line} || exit 2"


def _gone(route: str) -> str:
    return (
        "Interlock: its hook program is gone, so this call was not run. "
        f'For the person: "interlock connect {route}" mends it, "interlock disconnect {route}" takes the gate away.'
    )
