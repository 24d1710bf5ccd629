"""The homes of all agents that can be watched without configuration.

Promises: an agent that is not installed costs a look at one folder. `INTERLOCK_AGENTS` names those that are wanted
(`claude_code,codex`), or `none`.
"""

from __future__ import annotations

import os
from pathlib import Path

from interlock.runtime.sources.foreign.home import AgentHome
from interlock.runtime.sources.foreign.prices import load_prices
from interlock.runtime.sources.foreign.source import ForeignSource


def all_homes() -> list[AgentHome]:
    """One of each agent, for this user and this environment."""
    made: list[AgentHome] = []
    wanted = os.environ.get("INTERLOCK_AGENTS")
    return [home for home in made if wanted is None or home.kind in wanted.replace(",", " ").split()]


def foreign_source() -> ForeignSource:
    """All sessions of other agents on this machine, with prices from the user's table."""
    from interlock.runtime.journal.place import config_home

    return ForeignSource(all_homes(), load_prices(Path(config_home()) / "prices.toml"))
