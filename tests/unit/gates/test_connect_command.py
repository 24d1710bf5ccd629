"""`interlock connect` and `disconnect` as a person meets them (AG-2)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run(machine: Any, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    home = machine.root / "home"
    env = {**os.environ, "HOME": str(home), "PATH": f"{machine.root / 'bin'}:/usr/bin:/bin"}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME"):
        env.pop(name, None)
    command = [sys.executable, "-m", "interlock.runtime.cli", *words]
    return subprocess.run(
        command, env=env, text=True, timeout=120, check=False, capture_output=True,
        **{"stdin": subprocess.DEVNULL} | more,
    )  # fmt: skip


def settings(machine: Any) -> Path:
    place = machine.root / "home" / ".claude" / "settings.json"
    place.parent.mkdir(parents=True)
    place.write_text('{"model": "x"}\n')
    return place


def program(machine: Any, name: str, says: str) -> None:
    place = machine.root / "bin" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\necho '{says}'\n")
    place.chmod(0o755)


def test_without_a_terminal_the_change_is_shown_and_not_made(machine: Any) -> None:
    place = settings(machine)
    done = run(machine, "connect", "claude")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert "+" in done.stdout
    assert "PermissionRequest" in done.stdout
    assert place.read_text() == '{"model": "x"}\n'


@pytest.mark.parametrize(("typed", "connected"), [(b"n\n", False), (b"\n", False), (b"\x04", False), (b"y\n", True)])
def test_on_a_terminal_only_a_yes_makes_the_change(machine: Any, typed: bytes, connected: bool) -> None:
    place = settings(machine)
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    try:
        done = run(machine, "connect", "claude", stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode == 0) is connected, done.stderr
    assert ("PermissionRequest" in place.read_text()) is connected


def test_a_second_time_says_so_and_disconnecting_twice_too(machine: Any) -> None:
    place = settings(machine)
    assert run(machine, "connect", "claude", "--yes").returncode == 0
    again = run(machine, "connect", "claude", "--yes")
    assert "connected already" in again.stdout
    done = run(machine, "disconnect", "claude")
    assert "byte for byte" in done.stdout
    assert place.read_text() == '{"model": "x"}\n'
    twice = run(machine, "disconnect", "claude")
    assert twice.returncode == 1
    assert "is not connected" in twice.stderr


def test_a_version_that_is_not_known_is_named(machine: Any) -> None:
    program(machine, "claude", "9.9.9 (Claude Code)")
    told = run(machine, "connect", "claude").stdout
    assert "Claude Code 9.9.9 is not a version that this gate was run against" in told
    program(machine, "claude", "2.1.332 (Claude Code)")
    assert "not a version" not in run(machine, "connect", "claude").stdout


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_showing_the_change_writes_nothing_and_starts_nothing(machine: Any, agent: str) -> None:
    program(machine, agent, "1.0.0")
    stub = machine.root / "bin" / agent
    stub.write_text(f"#!/bin/sh\ntouch {machine.root}/started\n")
    before = everything(machine)
    done = run(machine, "connect", agent, "--show")
    assert done.returncode == 0, done.stderr
    assert "interlock" in done.stdout
    assert everything(machine) == before


def everything(machine: Any) -> dict[str, bytes]:
    """Every file below the machine's folder."""
    return {str(file): file.read_bytes() for file in sorted(machine.root.rglob("*")) if file.is_file()}


def test_another_settings_file_can_be_named(machine: Any) -> None:
    place = machine.root / "elsewhere.json"
    place.write_text("{}")
    assert run(machine, "connect", "claude", "--yes", "--config", str(place)).returncode == 0
    assert "PermissionRequest" in place.read_text()
    assert run(machine, "disconnect", "claude", "--config", str(place)).returncode == 0
    assert place.read_text() == "{}"


@pytest.mark.parametrize("command", ["connect", "disconnect"])
def test_an_agent_that_nobody_knows_is_told_with_those_that_are(machine: Any, command: str) -> None:
    done = run(machine, command, "cursor")
    assert done.returncode == 2
    assert "claude, codex, gemini, opencode" in done.stderr


def test_a_malformed_file_ends_with_one_clear_message(machine: Any) -> None:
    place = settings(machine)
    place.write_text('{"model": ')
    done = run(machine, "connect", "claude", "--yes")
    assert done.returncode == 1
    assert done.stderr.startswith(f"interlock: {place} cannot be used as it is: line 1, column 11")
    assert place.read_text() == '{"model": '


def test_the_doctor_gives_up_a_client_that_hangs_and_goes_on(machine: Any) -> None:
    """FT-055"""
    program(machine, "claude", "")
    (machine.root / "bin" / "claude").write_text("#!/bin/sh\nsleep 600 & wait\n")
    done = run(machine, "doctor", "claude")
    assert done.returncode == 0, done.stderr
    assert "claude did not answer within" in done.stdout
    assert "tries it" not in done.stdout


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_the_doctor_names_the_files_that_are_ours_and_the_settings_it_read(machine: Any, agent: str) -> None:
    """FT-054"""
    assert run(machine, "connect", agent, "--yes").returncode == 0
    (report,) = [json.loads(line) for line in run(machine, "doctor", agent, "--json").stdout.splitlines()]
    (connected,) = [check for check in report["checks"] if check["name"] == "connected"]
    ours = [
        str(file) for file in (machine.root / "home").rglob("*") if file.is_file() and "interlock" in file.read_text()
    ]
    assert ours
    assert all(file in connected["text"] for file in ours)


def test_the_doctor_knows_a_connection_with_another_file_and_what_turns_it_off(machine: Any) -> None:
    """FT-053"""
    other = machine.root / "other.json"
    other.write_text("{}")
    assert run(machine, "connect", "claude", "--yes", "--config", str(other)).returncode == 0
    done = run(machine, "doctor", "claude")
    assert f"claude --settings {other}" in done.stdout
    told = json.loads(other.read_text()) | {"disableAllHooks": True}
    other.write_text(json.dumps(told))
    for words in (("claude",), ("claude", "--config", str(other))):
        done = run(machine, "doctor", *words)
        assert done.returncode == 1
        assert f"disableAllHooks in {other}" in done.stdout
