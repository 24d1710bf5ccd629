"""Which commands of Codex leave a shell open, over the parts that the policy finds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.codex.open_shell import opens_shell
from interlock.runtime.gates.rules import Rules

OPEN = ("bash", "/bin/bash -i", "exec zsh", "sudo -i", "sudo -u bob -s", "su - bob", "env -i bash --norc", "bash -s x")
OPEN += ("bash -O extglob", "sh -c 'echo x; sh'", "while true; do sh; done", "nice bash", "bash --rcfile x", "su")
OPEN += (
    "sudo -iu bob",
    "sudo -su bob",
    "sudo A=1 -s",
    "doas -su bob",
    "yash",
    "ksh93 -i",
    "nu",
    "fish -C 'set x 1'",
    "bash 2>&1",
    "sh > log",
)
NOT = (
    "bash -lc 'ls'",
    "bash x.sh",
    "ls",
    "sh -ec 'make'",
    "python3 x.py",
    "su -c ls bob",
    "sudo ls",
    "sudo ls -s",
    "bash x.sh >& log",
    "bash -x build.sh",
)


def opened(command: str, tmp: str) -> bool:
    call = ForeignCall("Bash", {"command": command}, tmp)
    return opens_shell(Rules().decide("codex", call, (tmp,), (), datetime.now(UTC)).facts())


@pytest.mark.parametrize("command", OPEN)
def test_a_shell_that_goes_on_reading_is_found(command: str, tmp_path: object) -> None:
    assert opened(command, str(tmp_path))


@pytest.mark.parametrize("command", NOT)
def test_a_command_that_ends_by_itself_is_none(command: str, tmp_path: object) -> None:
    assert not opened(command, str(tmp_path))
