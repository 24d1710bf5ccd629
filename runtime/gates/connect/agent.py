"""The agents that can be connected: where their settings lie and what they need to say.

Promises: the variables by which an agent moves its own folder are honoured; nothing here is written. Credentials, keys and
sockets of other tools are never looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.gates.claude import settings as claude_settings
from interlock.runtime.gates.claude import switches as claude_switches
from interlock.runtime.gates.codex import switches as codex_switches
from interlock.runtime.gates.codex.settings import KNOWN_VERSIONS as CODEX_VERSIONS
from interlock.runtime.gates.codex.settings import codex_hooks
from interlock.runtime.gates.connect.plan import (
    Change,
    Plan,
    hooks_change,
    kept_of,
    member_change,
    trust_change,
    whole_change,
)
from interlock.runtime.gates.connect.receipt import Receipt, load
from interlock.runtime.gates.doctor.check import Check
from interlock.runtime.gates.gemini import switches as gemini_switches
from interlock.runtime.gates.gemini.permit import POLICY_FILE
from interlock.runtime.gates.gemini.settings import KNOWN_VERSIONS as GEMINI_VERSIONS
from interlock.runtime.gates.gemini.settings import gemini_hooks, gemini_policy
from interlock.runtime.gates.opencode import switches as opencode_switches
from interlock.runtime.gates.opencode.settings import ASK_FIRST, opencode_plugin
from interlock.runtime.gates.opencode.settings import KNOWN_VERSIONS as OPENCODE_VERSIONS
from interlock.runtime.gates.opencode.switches import PLUGIN, config_folders
from interlock.runtime.gates.service.config import ServiceConfig

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the person wants beside the usual."""

    ask_first: bool = False
    """opencode: also have it ask before shell commands and edits, which it does not by itself."""


@dataclass(frozen=True, slots=True)
class ConnectedAgent:
    """One agent that `connect` knows."""

    name: str
    title: str
    program: str
    """Its command, to ask its version."""
    known_versions: tuple[str, ...]
    config: Callable[[Environment], Path]
    changes: Callable[[Path, ServiceConfig, Receipt | None, Choice], list[Change]]
    started_with: Callable[[Path], str]
    """How it is started so that another settings file than the usual one counts."""
    switches: Callable[[Environment, Path, Plan], list[Check]]
    """What would keep our hooks from running, in a folder."""
    notes: tuple[str, ...]


def home_of(env: Environment) -> Path:
    """The user's home folder."""
    return Path(env.get("HOME") or Path.home())


def _claude_file(env: Environment) -> Path:
    folder = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home_of(env) / ".claude"
    return folder / "settings.json"


def _codex_file(env: Environment) -> Path:
    return (Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else home_of(env) / ".codex") / "config.toml"


def _gemini_file(env: Environment) -> Path:
    home = Path(env["GEMINI_CLI_HOME"]) if env.get("GEMINI_CLI_HOME") else home_of(env)
    return home / ".gemini" / "settings.json"


def _opencode_file(env: Environment) -> Path:
    if env.get("OPENCODE_CONFIG"):
        return Path(env["OPENCODE_CONFIG"])
    folder = config_folders(env)[0]
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _plugin_folder(config: Path) -> Path:
    # OPENCODE_CONFIG names a file anywhere, and opencode takes plugins from its own folders alone
    named = os.environ.get("OPENCODE_CONFIG")
    return config_folders(os.environ)[0] if named and Path(named).absolute() == config else config.parent


def _claude(config: Path, service: ServiceConfig, receipt: Receipt | None, _: Choice) -> list[Change]:
    told: dict[str, Any] = claude_settings.claude_settings()
    return [hooks_change(config, told["hooks"], "json-hooks", receipt, env=told.get("env", {}))]


def _codex(config: Path, service: ServiceConfig, receipt: Receipt | None, _: Choice) -> list[Change]:
    beside = config.with_name("hooks.json")
    # Codex warns of a folder that has hooks in both files
    kept = kept_of(receipt, config)
    if beside.exists() and (kept is None or kept_of(receipt, beside) is not None):
        return [hooks_change(beside, codex_hooks(), "json-hooks", receipt), trust_change(config, receipt)]
    return [hooks_change(config, codex_hooks(), "toml-hooks", receipt)]


def _gemini(config: Path, service: ServiceConfig, receipt: Receipt | None, _: Choice) -> list[Change]:
    return [
        hooks_change(config, gemini_hooks(), "json-hooks", receipt),
        whole_change(config.parent / POLICY_FILE, gemini_policy(service), receipt),
    ]


def _opencode(config: Path, service: ServiceConfig, receipt: Receipt | None, choice: Choice) -> list[Change]:
    changes = [whole_change(_plugin_folder(config) / PLUGIN, opencode_plugin(service), receipt)]
    if choice.ask_first or kept_of(receipt, config) is not None:
        member = member_change(config, "permission", dict(ASK_FIRST), receipt)
        changes += [member] if member is not None else []
    return changes


def _claude_switches(env: Environment, cwd: Path, plan: Plan) -> list[Check]:
    return claude_switches.find_switches(env, cwd, plan.config)


def _codex_switches(env: Environment, cwd: Path, plan: Plan) -> list[Check]:
    trusted = [key for kept in (plan.earlier.files if plan.earlier else ()) for key in kept.states]
    return codex_switches.find_switches(env, cwd, plan.config, trusted)


def _gemini_switches(env: Environment, cwd: Path, plan: Plan) -> list[Check]:
    return gemini_switches.find_switches(env, cwd, plan.config)


def _opencode_switches(env: Environment, cwd: Path, plan: Plan) -> list[Check]:
    return opencode_switches.find_switches(env, cwd, plan.changes[0].target.path)


AGENTS: dict[str, ConnectedAgent] = {
    "claude": ConnectedAgent(
        "claude", "Claude Code", "claude", claude_settings.KNOWN_VERSIONS, _claude_file, _claude,
        lambda file: f"started with `claude --settings {file}`", _claude_switches,
        (
            "Sessions that run already take it up within seconds.",
            "Calls that Claude Code allows by itself (its auto mode, its own allow rules) are not asked about here; deny rules "
            "of your policy hold for them too.",
        ),
    ),
    "codex": ConnectedAgent(
        "codex", "Codex", "codex", CODEX_VERSIONS, _codex_file, _codex,
        lambda file: f"started with CODEX_HOME={file.parent}", _codex_switches,
        (
            "While a screen of Interlock is open, Codex waits for its answer before its own prompt appears; `interlock codex` "
            "starts a session in which both can answer.",
            "Codex runs a hook only when you trust it. Saying yes here trusts these hooks, and no others.",
            "A hook that Codex cannot run or that runs out of time lets the call go on to Codex's own rules.",
            "What Codex types into a program that runs already comes before no hook; a command that leaves a shell open is asked "
            "about therefore.",
        ),
    ),
    "gemini": ConnectedAgent(
        "gemini", "Gemini CLI", "gemini", GEMINI_VERSIONS, _gemini_file, _gemini,
        lambda file: f"started with GEMINI_CLI_HOME={file.parent.parent}", _gemini_switches,
        (
            "The policy file hands what Gemini CLI would ask to our hook: it allows, denies with your words, or has Gemini CLI "
            "ask in its own prompt, which it also does when the service is gone. Your own policy rules stand above it.",
            "Do not set hook time-outs shorter than ours: a hook that Gemini CLI gives up keeps its call waiting after a no, for "
            "Gemini CLI would run it.",
            "Without a terminal (-p) and with no screen of Interlock open, what your policy does not allow is denied.",
        ),
    ),
    "opencode": ConnectedAgent(
        "opencode", "opencode", "opencode", OPENCODE_VERSIONS, _opencode_file, _opencode,
        lambda file: f"started with OPENCODE_CONFIG_DIR={file.parent}", _opencode_switches,
        (
            "opencode allows most tools without asking. With a screen of Interlock open, calls that your policy does not "
            "decide wait for you; with none open opencode's own settings decide. --ask-first makes opencode ask by itself. "
            "When the gate service cannot be started, calls that opencode does not ask about are not run.",
            "When you reject a call without a message, opencode ends the turn and drops its other questions with it.",
        ),
    ),
}  # fmt: skip


def plan_for(
    name: str,
    env: Environment,
    service: ServiceConfig,
    *,
    config: Path | None = None,
    choice: Choice | None = None,
    version: str = "",
) -> Plan:
    """What connecting this agent would change. Raises KeyError for an unknown name, FileRefused for unusable files."""
    agent = AGENTS[name]
    path = (config or agent.config(env)).absolute()
    receipt = load(name, path)
    changes = agent.changes(path, service, receipt, choice or Choice())
    return Plan(name, agent.title, path, tuple(changes), agent.notes, version, receipt)
