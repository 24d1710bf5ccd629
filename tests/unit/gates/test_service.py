"""The gate service as a process: one a user, reached by hooks over socket and port, gone when idle, recovered when killed."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interlock.runtime.asks.client import BlockingClient
from interlock.runtime.asks.discovery import hosts
from interlock.runtime.asks.endpoint import EndpointError
from interlock.runtime.gates.claude.settings import claude_hooks, is_ours
from interlock.runtime.gates.doctor.rehearsal import REHEARSAL
from interlock.runtime.gates.recovery import recover_gates
from interlock.runtime.gates.service import tell_hook as service_hook
from interlock.runtime.gates.service.config import (
    KEY_HEADER,
    WAIT_HEADER,
    ServiceConfig,
    ServiceConfigError,
    config_file,
    ensure_config,
    read_config,
)
from interlock.runtime.gates.service.server import GateService
from interlock.runtime.gates.service.start import answers, start_if_connected
from interlock.runtime.gates.service.tell_hook import command_for, hook_file, install_hook, is_installed, program

PATIENCE_S = 30.0
DENY = '[[rule]]\nid = "no-push"\neffect = "deny"\ncommand = "git push"\nreason = "pushing is for people"\n'


def until(look, what: str):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        seen = look()
        if seen:
            return seen
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE_S:.0f} s for: {what}")


@pytest.fixture
def config(machine):
    """A connected machine; whatever service runs at the end is ended."""
    made = ensure_config()
    install_hook(made)
    yield made
    told = answers(made)
    if told is not None:
        os.kill(told["pid"], signal.SIGTERM)
        until(lambda: answers(made) is None, "the end of the service")


@pytest.fixture
def service(config: ServiceConfig) -> ServiceConfig:
    """A service of its own process."""
    serve("--detach")
    return config


def serve(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "interlock.runtime.cli", "gate", "serve", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def hook(machine, event: str, **more) -> bytes:
    body = {"session_id": "s1", "cwd": str(machine.project), "hook_event_name": event, "tool_name": "Bash"}
    return json.dumps(body | {"tool_input": {"command": "make deploy"}} | more).encode()


def post(
    config: ServiceConfig, body: bytes, *, key: str | None = None, path: str = "/claude", wait: str = ""
) -> tuple[int, dict]:
    made = http.client.HTTPConnection("127.0.0.1", config.port, timeout=PATIENCE_S)
    headers = {KEY_HEADER: config.key if key is None else key} | ({WAIT_HEADER: wait} if wait else {})
    try:
        made.request("POST", path, body, headers)
        reply = made.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        made.close()


def run_hook(body: bytes, event: str = "PreToolUse") -> subprocess.CompletedProcess[bytes]:
    """As an agent runs it: its command line through a shell."""
    command = claude_hooks()[event][0]["hooks"][0]["command"]
    # a shell of its own stands for the agent, so that this test's process is not taken for one
    return subprocess.run(
        ["/bin/sh", "-c", '/bin/sh -c "$1"; exit $?', "agent", command],
        input=body,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_choice_is_made_once_and_is_the_users_alone(machine):
    made = ensure_config()
    assert ensure_config() == made == read_config()
    assert config_file().stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{}", '{"port": 0, "key": "x", "socket": "y"}', "[1]", '{"port": 2}'])
def test_damaged_choice_is_told_and_not_replaced(machine, text):
    config_file().parent.mkdir()
    config_file().write_text(text)
    with pytest.raises(ServiceConfigError, match="damaged"):
        ensure_config()
    assert config_file().read_text() == text


def test_second_service_says_that_the_first_one_serves(service):
    first = answers(service)["pid"]
    again = serve("--detach")
    assert (again.returncode, str(first) in again.stdout) == (0, True)
    assert answers(service)["pid"] == first


async def test_two_services_at_one_socket_are_refused(config):
    ready = asyncio.Event()
    first = asyncio.ensure_future(GateService(config).serve(ready.set))
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    with pytest.raises(EndpointError):
        await GateService(config).serve()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert not Path(config.socket).exists()


async def test_service_leaves_when_nothing_happens(config):
    await asyncio.wait_for(GateService(config, idle_s=0.2).serve(), PATIENCE_S)
    assert hosts() == []


def test_port_asks_for_the_key(service, machine):
    assert post(service, hook(machine, "Stop"), key="wrong")[0] == 404
    assert post(service, hook(machine, "Stop"), key="")[0] == 404
    assert post(service, hook(machine, "Stop")) == (200, {})
    assert post(service, b"", path="/nothing")[0] == 404


def test_body_of_a_caller_without_the_key_is_not_waited_for(service):
    made = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    made.putrequest("POST", "/claude")
    made.putheader("Content-Length", "50000000")
    made.endheaders()
    assert made.getresponse().status == 404
    made.close()


@pytest.mark.parametrize("body", [b"", b"no json", b"[1]", b'"x"', b"\xff", b"[" * 100_000, b'{"a": 1}'])
def test_hook_over_the_port_that_cannot_be_read_is_left_to_the_agent(service, body):
    assert post(service, body) == (200, {})


def test_command_hook_that_cannot_be_read_blocks(service):
    done = run_hook(b"no json")
    assert done.returncode == 2
    assert b"did not answer" in done.stderr
    assert run_hook(b"no json", "SessionStart").returncode == 0


def test_command_hook_starts_the_service_and_answers(config, machine):
    machine.policy(DENY)
    assert answers(config) is None
    done = run_hook(hook(machine, "PreToolUse", tool_use_id="t1", tool_input={"command": "git push"}))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answers(config) is not None


def test_command_hook_that_started_the_service_leaves_no_process_of_its_own(config, machine, monkeypatch):
    monkeypatch.setattr(service_hook, "START_S", 600)
    install_hook(config)
    command = claude_hooks()["PreToolUse"][0]["hooks"][0]["command"]
    words = ["/bin/sh", "-c", '/bin/sh -c "$1"; exit $?', "agent", command]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as running:
        running.communicate(hook(machine, "PreToolUse"), PATIENCE_S)
    assert running.returncode == 0
    until(lambda: not has_processes(running.pid), "the end of all that the hook started but the service")


def has_processes(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_command_hook_blocks_when_the_service_cannot_be_started(config, machine):
    text = hook_file().read_text()
    hook_file().write_text(text.replace(program(), "false"))
    assert not is_installed(config)
    done = run_hook(hook(machine, "PreToolUse", tool_use_id="t1"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"was not run" in done.stderr


def test_command_hook_blocks_when_its_program_is_gone(config, machine):
    """FT-068"""
    hook_file().unlink()
    done = run_hook(hook(machine, "PreToolUse", tool_use_id="t1"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Interlock" in done.stderr
    assert b"interlock disconnect claude" in done.stderr
    told = subprocess.run(
        ["/bin/sh", "-c", command_for("claude", "open")], input=b"{}", capture_output=True, check=False
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, b"", b"")


def test_large_input_reaches_the_policy_whole(service, machine):
    machine.policy(DENY)
    filler = "true; " * 200_000
    body = hook(machine, "PreToolUse", tool_use_id="t1", tool_input={"command": f"{filler}git push"})
    done = run_hook(body)
    assert done.returncode == 0, done.stderr
    [journal] = (machine.root / "state" / "sessions").glob("*/events.jsonl")
    intent = json.loads(journal.read_text().splitlines()[1])
    assert intent["rawInput"]["command"] == f"{filler}git push"


def test_process_that_the_agent_started_may_not_answer(service, machine):
    """The shell that stands for the agent starts the hook, then tries to look at the inbox."""
    command = claude_hooks()["PreToolUse"][0]["hooks"][0]["command"]
    listing = f"{program()} asks"
    script = f'printf %s "$0" | /bin/sh -c "$1"; {listing}; echo ended $?'
    done = subprocess.run(
        ["/bin/sh", "-c", script, hook(machine, "PreToolUse", tool_use_id="t1").decode(), command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        start_new_session=True,
    )
    assert "ended 1" in done.stdout, done
    assert "not connect" in done.stderr or "descends" in done.stderr or "session or process group" in done.stderr


def test_killed_service_leaves_asks_that_the_next_one_closes(service, machine):
    import threading

    told = answers(service)
    holding = threading.Thread(target=lambda: _quiet_post(service, hook(machine, "PermissionRequest")), daemon=True)
    [host] = hosts()
    with BlockingClient(host.socket, "test screen") as client:
        client.call("asks.subscribe")
        holding.start()
        [ask] = until(lambda: _asks(host.socket), "the ask")
    os.kill(told["pid"], signal.SIGKILL)
    until(lambda: answers(service) is None, "the end of the service")
    holding.join(PATIENCE_S)
    serve("--detach")
    journal = machine.root / "state" / "sessions" / ask.session / "events.jsonl"
    written = [json.loads(line) for line in journal.read_text().splitlines()]
    closed = next(e for e in written if e["type"] == "tool.permission.closed")
    assert (closed["askId"], closed["cause"]) == (ask.ask_id, "runtime_restarted")
    assert [e["type"] for e in written][-2:] == ["tool.observation", "session.ended"]
    assert recover_gates() == []


def _asks(socket: str) -> list:
    with BlockingClient(socket, "looking") as client:
        return list(client.list())


def _quiet_post(config: ServiceConfig, body: bytes) -> None:
    try:
        post(config, body)
    except (OSError, http.client.HTTPException):
        pass  # the service is killed while it holds this


def test_screen_starts_the_service_only_where_an_agent_was_connected(machine, config):
    assert start_if_connected()
    assert answers(config) is not None
    assert not start_if_connected()


def test_nothing_is_started_where_nothing_was_connected(machine):
    assert not start_if_connected()
    assert not config_file().exists()


def test_rehearsal_of_the_doctor_leaves_no_journal(service, machine):
    status, told = post(service, json.dumps({REHEARSAL: "claude", "command": "pwd", "cwd": "/tmp"}).encode())
    assert (status, told["decision"] in ("allow", "ask")) == (200, True)
    assert not (machine.root / "state" / "sessions").exists()


def test_every_hook_of_the_settings_is_known_as_ours_and_has_a_time_out(machine):
    for groups in claude_hooks().values():
        for group in groups:
            for made in group["hooks"]:
                assert is_ours(made)
                assert made["timeout"] > 0
    assert not is_ours({"type": "command", "command": "echo hi"})
    assert not is_ours({"type": "http", "url": "http://127.0.0.1:4711/claude"})
