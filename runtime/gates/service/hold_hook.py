"""The small shell program of hooks that are held while a person thinks, for agents that know command hooks alone.

Promises: no Python is started while the service answers; a hook that gets no answer prints the words that its agent reads as
"ask in your own prompt" (the last argument) and ends with 0, so that a service that is gone never lets a call pass. An agent
that gives this program up gets no answer any more, and its question is taken back within seconds.
Does not promise: anything about an agent that ends the program with all it started: `docs/connect.md`.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from interlock.runtime.gates.service.config import WAIT_HEADER, ServiceConfig
from interlock.runtime.gates.service.hook_program import holds_program, write_program
from interlock.runtime.gates.service.tell_hook import program
from interlock.runtime.journal.place import config_home

HOLD_S = 86_000
"""Seconds that a hook waits for a person."""
HOLD_TIMEOUT_S = 86_400
"""The time-out to write into an agent's settings, in seconds: longer than the hook itself waits, for an agent may let a call
pass whose hook has run out of time."""

_PROGRAM = """\
#!/bin/sh
# Hands a hook of a coding agent to the gate service of Interlock and waits for the answer. Written by `interlock connect`.
#   gate-hold.sh ROUTE PID-OF-THE-AGENT WORDS-WITHOUT-AN-ANSWER [THE SAME WITHOUT A TERMINAL]   < the hook's JSON
umask 077
# questions of a session that `interlock codex` watches over its own connection are asked there
if [ -n "$INTERLOCK_ATTACHED" ] && [ -z "$3" ]; then
    exit 0
fi
body=$(cat)
# an agent whose own time is over has ended the shell above us: nobody reads the answer any more
is_awaited() {{
    kill -0 "$PPID" 2>/dev/null
}}
hold() {{
    printf '%s' "$body" | curl -q -sS -f --noproxy '*' --max-time {hold} --unix-socket {socket} \\
        -H 'Content-Type: application/json' -H "X-Interlock-Agent-Pid: $2" -H '{wait_header}: {hold}' \\
        --data-binary @- "http://gate/$1" 2>/dev/null &
    request=$!
    (while is_awaited; do sleep 2; done; kill "$request") >/dev/null 2>&1 &
    watch=$!
    wait "$request"
    code=$?
    kill "$watch" 2>/dev/null
    return "$code"
}}
say() {{
    [ -z "$1" ] || printf '%s\\n' "$1"
    exit 0
}}
answer=$(hold "$1" "$2")
code=$?
[ "$code" -ne 0 ] || say "$answer"
is_awaited || exit 0
# 28: a whole day has passed, and with it the time of the agent
if [ "$code" -ne 28 ]; then
    (unset INTERLOCK_AGENT INTERLOCK_CALL; {start} gate serve --detach </dev/null >/dev/null 2>&1)
    answer=$(hold "$1" "$2") && say "$answer"
fi
case "$(readlink "/proc/$2/fd/0" 2>/dev/null) $(ps -o args= -p "$2" 2>/dev/null) " in
    *" -p "* | *" --prompt "* | *" --prompt="* | /dev/null*) say "${{4-$3}}" ;;
    *) say "$3" ;;
esac
"""


def hold_file() -> Path:
    """Where the program lies."""
    return config_home() / "gate-hold.sh"


def hold_text(config: ServiceConfig) -> str:
    """The program for this service."""
    return _PROGRAM.format(hold=HOLD_S, wait_header=WAIT_HEADER, socket=shlex.quote(config.socket), start=program())


def install_hold(config: ServiceConfig) -> Path:
    """Write the program, or leave it when it is as it should be. Raises OSError."""
    return write_program(hold_file(), hold_text(config))


def is_hold_installed(config: ServiceConfig) -> bool:
    """Whether the program is there and is the one of this version."""
    return holds_program(hold_file(), hold_text(config))


def held_command(route: str, without_answer: str, without_terminal: str = "") -> str:
    """The command line for an agent's settings; without the program the agent gets the same words.

    `without_terminal`: the words for an agent that has nobody to ask; none: the same.
    """
    words = shlex.quote(without_answer)
    more = f" {shlex.quote(without_terminal)}" if without_terminal else ""
    return f"sh {shlex.quote(os.fspath(hold_file()))} {route} $PPID {words}{more} || printf %s {words}"
