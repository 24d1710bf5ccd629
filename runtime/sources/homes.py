"""The homes of all agents that can be watched without configuration.

Promises: an agent that is not installed costs a look at one folder. `INTERLOCK_AGENTS` names those that are wanted
(`claude_code,codex`), or `none`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from interlock.runtime.sources.foreign.home import AgentHome
from interlock.runtime.sources.foreign.prices import load_prices
from interlock.runtime.sources.foreign.source import ForeignSource


def _claude_code() -> AgentHome:
    from interlock.runtime.sources.claude_code.home import ClaudeHome

    return ClaudeHome()


def _codex() -> AgentHome:
    from interlock.runtime.sources.codex.places import CodexHome

    return CodexHome()


def _gemini() -> AgentHome:
    from interlock.runtime.sources.gemini.home import GeminiHome

    return GeminiHome()


def _opencode() -> AgentHome:
    from interlock.runtime.sources.opencode.home import OpencodeHome

    return OpencodeHome()


_HOMES: dict[str, Callable[[], AgentHome]] = {
    "claude_code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def all_homes() -> list[AgentHome]:
    """One of each agent, for this user and this environment."""
    wanted = os.environ.get("INTERLOCK_AGENTS")
    names = None if wanted is None else wanted.replace(",", " ").split()
    return [make() for kind, make in _HOMES.items() if names is None or kind in names]


def foreign_source() -> ForeignSource:
    """All sessions of other agents on this machine, with prices from the user's table."""
    from interlock.runtime.journal.place import config_home

    return ForeignSource(all_homes(), load_prices(Path(config_home()) / "prices.toml"))
