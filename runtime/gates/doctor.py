"""Looks whether an agent's gate works, from its settings to a rule of the policy, and says what does not and why.

Promises: nothing is changed but that the service is started when it is not there; the call that is tried is harmless, runs
nowhere and leaves no journal; every check says what it saw. The way tried is the one that the agent's hooks take.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from interlock.runtime.gates.connect.agent import AGENTS, Environment, plan_for
from interlock.runtime.gates.connect.file import FileRefused
from interlock.runtime.gates.connect.hold_hook import hold_file, is_hold_installed
from interlock.runtime.gates.connect.version import installed_version, named
from interlock.runtime.gates.doctor_call import DENIED_PATH, HARMLESS_COMMAND, REHEARSAL
from interlock.runtime.gates.service_config import ServiceConfig, ServiceConfigError, read_config
from interlock.runtime.gates.service_hook import command_for, hook_file, is_installed
from interlock.runtime.gates.service_start import answers, launch
from interlock.runtime.journal.place import PlaceError

State = Literal["ok", "problem", "off", "unknown"]
PATIENCE_S = 30.0
HOLDING = ("codex", "gemini")
"""Agents whose questions are held by a program of their own (`hold_hook`)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    """What was seen, and for a problem what to do."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that was seen of one agent."""

    agent: str
    title: str
    connected: bool
    checks: tuple[Check, ...]
    limits: tuple[str, ...]
    """What the gate of this agent cannot do, whatever the checks say."""

    @property
    def is_well(self) -> bool:
        """Whether everything that should work does."""
        return not any(check.state == "problem" for check in self.checks)


def examine(name: str, env: Environment) -> Report:
    """Look at one agent. Raises KeyError for a name that is none."""
    agent = AGENTS[name]
    version = installed_version(agent.program)
    checks = [_version(agent.program, agent.title, version, agent.known_versions)]
    service, problem = _service_config()
    if service is None:
        checks.append(problem or Check("connected", "off", f"not connected. To connect it: interlock connect {name}"))
        return Report(name, agent.title, False, tuple(checks), agent.notes)
    connected = _connected(name, env, service)
    checks.append(connected)
    if connected.state in ("ok", "problem"):
        checks += _way(name, service)
    return Report(name, agent.title, connected.state == "ok", tuple(checks), agent.notes)


def _version(program: str, title: str, version: str, known: tuple[str, ...]) -> Check:
    if shutil.which(program) is None:
        return Check("version", "unknown", f"no program {program} is on the PATH; other places are not searched")
    warning = named(title, version, known)
    return Check(
        "version", "unknown" if warning else "ok", warning or f"{title} {version}, which this gate was run against"
    )


def _service_config() -> tuple[ServiceConfig | None, Check | None]:
    try:
        return read_config(), None
    except (ServiceConfigError, PlaceError) as error:
        return None, Check("configuration", "problem", str(error))


def _connected(name: str, env: Environment, service: ServiceConfig) -> Check:
    try:
        plan = plan_for(name, env, service)
    except FileRefused as error:
        return Check("connected", "problem", str(error))
    if not plan.needed:
        return Check("connected", "ok", f"the hooks stand in {plan.config}")
    if plan.earlier is None:
        return Check("connected", "off", f"not connected. To connect it: interlock connect {name}")
    changed = ", ".join(str(change.target.path) for change in plan.needed)
    return Check("connected", "problem", f"{changed} is not as it was left. To mend it: interlock connect {name}")


def _way(name: str, service: ServiceConfig) -> list[Check]:
    """The way of a hook: the program, the service, the policy, the answer."""
    checks = [_program(name, service), _service(service)]
    if all(check.state == "ok" for check in checks):
        checks.append(_over_command(name))
    return checks


def _program(name: str, service: ServiceConfig) -> Check:
    if shutil.which("curl") is None:
        return Check("hook program", "problem", "curl is not on the PATH; the hooks cannot do without. Install it")
    if not is_installed(service):
        return Check(
            "hook program", "problem", f"{hook_file()} is missing or of another version. Run interlock connect"
        )
    if name in HOLDING and not is_hold_installed(service):
        return Check(
            "hook program", "problem", f"{hold_file()} is missing or of another version. Run interlock connect"
        )
    return Check("hook program", "ok", f"{hook_file()}, with curl")


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


def _over_command(name: str) -> Check:
    """A command that only reads, and a file of ours that no agent may read, as a command hook would bring them."""
    begun = monotonic()
    harmless = _run_hook(name, {"command": HARMLESS_COMMAND})
    spent = (monotonic() - begun) * 1000
    denied = _run_hook(name, {"path": DENIED_PATH})
    if harmless is None or denied is None:
        return Check("the way of a hook", "problem", "the hook program got no answer")
    if denied.get("decision") != "deny":
        return Check("the way of a hook", "problem", f"what is always denied was answered with {denied}")
    told = f"{HARMLESS_COMMAND!r} -> {harmless.get('decision')} ({harmless.get('reason')}), {spent:.0f} ms"
    return Check("the way of a hook", "ok", f"{told}; a read of our own settings -> deny")


def _run_hook(name: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    body = json.dumps({REHEARSAL: name, **given, "cwd": str(Path.home())})
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command_for(name, "closed").replace("$PPID", "0")],
            input=body.encode(),
            capture_output=True,
            timeout=PATIENCE_S * 2,
            check=False,
            env=dict(os.environ),
        )
        told = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return told if isinstance(told, dict) else None
