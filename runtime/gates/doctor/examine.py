"""Looks whether an agent's gate works, from the agent's own settings to a rule of the policy, and says what does not and why.

Promises: nothing is changed but that the service is started when it is not there; the call that is tried is harmless, runs
nowhere and leaves no journal; every check says what it saw; a client that hangs is given up. What turns our hooks off is read
where the agent reads it, for the folder it would be started in.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from interlock.runtime.gates.connect import receipt as receipts
from interlock.runtime.gates.connect.agent import AGENTS, ConnectedAgent, Environment, plan_for
from interlock.runtime.gates.connect.file import FileRefused
from interlock.runtime.gates.connect.plan import Plan
from interlock.runtime.gates.connect.probe import ask_version, name_version
from interlock.runtime.gates.doctor.check import Check
from interlock.runtime.gates.doctor.rehearsal import DENIED_PATH, HARMLESS_COMMAND, REHEARSAL
from interlock.runtime.gates.service.config import ServiceConfig, ServiceConfigError, read_config
from interlock.runtime.gates.service.hold_hook import hold_file, is_hold_installed
from interlock.runtime.gates.service.start import answers, launch
from interlock.runtime.gates.service.tell_hook import command_for, hook_file, is_installed
from interlock.runtime.journal.place import PlaceError

PATIENCE_S = 30.0
HOLDING = ("codex", "gemini")
"""Agents whose questions are held by a program of their own (`hold_hook`)."""
WITHOUT_PROGRAM = ("opencode",)
"""Agents that talk to the service by themselves."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that was seen of one connection of an agent."""

    agent: str
    title: str
    connected: bool
    checks: tuple[Check, ...]
    limits: tuple[str, ...]
    """What the gate of this agent cannot do, whatever the checks say."""
    config: str = ""
    """The settings file that was looked at."""

    @property
    def is_well(self) -> bool:
        """Whether everything that should work does."""
        return not any(check.state == "problem" for check in self.checks)


def examine(name: str, env: Environment, cwd: Path, config: Path | None = None) -> list[Report]:
    """Look at an agent as it would be started in `cwd`: at its usual settings file and at every other one that was connected,
    or at `config` alone. Raises KeyError for a name that is none."""
    agent = AGENTS[name]
    version = _version(agent, env)
    service, problem = _service_config()
    usual = agent.config(env).absolute()
    if service is None:
        checks = (version, problem or _off(name))
        return [Report(name, agent.title, False, checks, agent.notes, str(config or usual))]
    others = [Path(one.config) for one in receipts.all_receipts() if one.agent == name and Path(one.config) != usual]
    files = [config.absolute()] if config else [usual, *others]
    return [_examine(agent, env, cwd, service, file, version, is_usual=file == usual) for file in files]


def _examine(
    agent: ConnectedAgent,
    env: Environment,
    cwd: Path,
    service: ServiceConfig,
    file: Path,
    version: Check,
    *,
    is_usual: bool,
) -> Report:
    try:
        plan = plan_for(agent.name, env, service, config=None if is_usual else file)
    except FileRefused as error:
        refused = (version, Check("connected", "problem", str(error)))
        return Report(agent.name, agent.title, False, refused, agent.notes, str(file))
    connected = _connected(plan)
    checks = [version, connected]
    if connected.state in ("ok", "problem"):
        if not is_usual and file.parent.parent != cwd:
            checks.append(
                Check("settings file", "unknown", f"{file} counts only for a session {agent.started_with(file)}")
            )
        checks += agent.switches(env, cwd, plan)
        checks += _way(agent.name, service)
    return Report(agent.name, agent.title, connected.state == "ok", tuple(checks), agent.notes, str(file))


def _version(agent: ConnectedAgent, env: Environment) -> Check:
    told = ask_version(agent.program, env)
    if told.fault:
        return Check("version", "unknown", told.fault)
    warning = name_version(agent.title, told.text, agent.known_versions)
    return Check(
        "version",
        "unknown" if warning else "ok",
        warning or f"{agent.title} {told.text}, which this gate was run against",
    )


def _service_config() -> tuple[ServiceConfig | None, Check | None]:
    try:
        return read_config(), None
    except (ServiceConfigError, PlaceError) as error:
        return None, Check("configuration", "problem", str(error))


def _off(name: str) -> Check:
    return Check("connected", "off", f"not connected. To connect it: interlock connect {name}")


def _connected(plan: Plan) -> Check:
    if not plan.needed:
        ours = ", ".join(str(change.target.path) for change in plan.changes)
        return Check("connected", "ok", f"what is ours stands in {ours}")
    if plan.earlier is None:
        return _off(plan.agent)
    changed = ", ".join(str(change.target.path) for change in plan.needed)
    return Check("connected", "problem", f"{changed} is not as it was left. To mend it: interlock connect {plan.agent}")


def _way(name: str, service: ServiceConfig) -> list[Check]:
    """The way of a hook: the program, the service, the policy, the answer."""
    checks = [] if name in WITHOUT_PROGRAM else [_program(name, service)]
    checks.append(_service(service))
    if all(check.state == "ok" for check in checks):
        checks.append(_tried(name, service))
    return checks


def _program(name: str, service: ServiceConfig) -> Check:
    if shutil.which("curl") is None:
        return Check("hook program", "problem", "curl is not on the PATH; the hooks cannot do without. Install it")
    ours = [(hook_file(), is_installed(service))]
    if name in HOLDING:
        ours.append((hold_file(), is_hold_installed(service)))
    for place, is_there in ours:
        if not is_there:
            text = f"{place} is missing or of another version. To mend it: interlock connect {name}"
            return Check("hook program", "problem", text)
    return Check("hook program", "ok", f"{', '.join(str(place) for place, _ in ours)}, with curl")


def _service(service: ServiceConfig) -> Check:
    told = answers(service)
    started = ""
    if told is None:
        started = "; it was started now"
        try:
            launch().wait(PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Check("service", "problem", f"it does not answer and cannot be started: {error}")
        told = answers(service)
    if told is None:
        return Check(
            "service", "problem", "it does not answer and does not start. Its log: gate.log in the state folder"
        )
    return Check("service", "ok", f"process {told.get('pid')}, {told.get('asks')} open asks{started}")


def _tried(name: str, service: ServiceConfig) -> Check:
    """A command that only reads, and a file of ours that no agent may read, as a hook would bring them."""
    begun = monotonic()
    harmless = _rehearsed(name, service, {"command": HARMLESS_COMMAND})
    spent = (monotonic() - begun) * 1000
    denied = _rehearsed(name, service, {"path": DENIED_PATH})
    if harmless is None or denied is None:
        return Check("the way of a hook", "problem", "it got no answer")
    if denied.get("decision") != "deny":
        return Check("the way of a hook", "problem", f"what is always denied was answered with {denied}")
    told = f"{HARMLESS_COMMAND!r} -> {harmless.get('decision')} ({harmless.get('reason')}), {spent:.0f} ms"
    return Check("the way of a hook", "ok", f"{told}; a read of our own settings -> deny")


def _rehearsed(name: str, service: ServiceConfig, given: Mapping[str, Any]) -> dict[str, Any] | None:
    body = json.dumps({REHEARSAL: name, **given, "cwd": str(Path.home())}).encode()
    try:
        told = json.loads(_posted(name, service, body) if name in WITHOUT_PROGRAM else _by_program(name, body))
    except (OSError, ValueError, subprocess.SubprocessError, http.client.HTTPException):
        return None
    return told if isinstance(told, dict) else None


def _by_program(name: str, body: bytes) -> bytes:
    line = command_for(name, "closed").replace("$PPID", "0")
    return subprocess.run(
        ["/bin/sh", "-c", line],
        input=body,
        capture_output=True,
        timeout=PATIENCE_S * 2,
        check=False,
        env=dict(os.environ),
    ).stdout


def _posted(name: str, service: ServiceConfig, body: bytes) -> bytes:
    connection = http.client.HTTPConnection("gate", timeout=PATIENCE_S)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(PATIENCE_S)
        made.connect(service.socket)
        connection.sock = made
        connection.request("POST", f"/{name}", body, {"Content-Type": "application/json", "Connection": "close"})
        return connection.getresponse().read()
