"""What keeps Codex from running our hooks: its own report for the folder, or its settings where it cannot be asked.

Seen with 0.171.0: `[features] hooks = false` (also of a trusted project's `.codex/config.toml`, of a profile or of managed
settings) leaves the report empty; a hook that is not trusted in `[hooks.state]`, or is switched off there, is skipped silently.
Does not promise: to know the options of a start (`--disable hooks`, `-c`, `--dangerously-bypass-hook-trust`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.runtime.gates.codex.report import CodexFault, CodexHook, codex_server
from interlock.runtime.gates.codex.settings import codex_hooks
from interlock.runtime.gates.doctor.check import Check

PASSES = "deny rules of your policy do not hold then, and Codex's own rules and prompt decide alone"
_PATIENCE_S = 10.0
_MEND = "`interlock connect codex` trusts them again, and so does /hooks in Codex"


def find_switches(env: Mapping[str, str], cwd: Path, config: Path, trusted: Sequence[str] = ()) -> list[Check]:
    """What turns our hooks off in a Codex that is started in `cwd`; `trusted`: the keys of our hooks as connect left them."""
    try:
        with codex_server(config.parent, env, patience_s=_PATIENCE_S) as server:
            hooks = server.hooks(cwd)
    except CodexFault as fault:
        why = Check("own report", "unknown", f"Codex itself could not be asked what it runs: {fault}")
        return [*judge_settings(_read(config), config, trusted), why]
    return judge_report(hooks, cwd, _feature_file(cwd, config))


def judge_report(hooks: Sequence[CodexHook], cwd: Path, feature_file: Path | None) -> list[Check]:
    """What Codex's own list of hooks says. `feature_file`: settings that turn hooks off, where one was found."""
    events = {_folded(hook.event): hook for hook in hooks}
    missing = [event for event in codex_hooks() if _folded(event) not in events]
    untrusted = [hook.event for hook in hooks if not hook.is_trusted]
    off = [hook.event for hook in hooks if not hook.is_enabled]
    found: list[str] = []
    if not hooks:
        by = f" (`[features] hooks = false` in {feature_file})" if feature_file else ""
        found.append(f"Codex runs none of our hooks in {cwd}{by}")
    elif missing:
        found.append(f"Codex does not list our hooks for {', '.join(missing)} in {cwd}")
    if untrusted:
        found.append(f"Codex does not trust our hooks for {', '.join(untrusted)} and skips them; {_MEND}")
    if off:
        found.append(
            f"our hooks for {', '.join(off)} are switched off in [hooks.state]; /hooks in Codex switches them on"
        )
    if found:
        return [Check("own report", "problem", f"{text}; {PASSES}") for text in found]
    return [Check("own report", "ok", f"Codex lists {len(hooks)} hooks of ours as trusted and on in {cwd}")]


def judge_settings(settings: Mapping[str, Any], config: Path, trusted: Sequence[str]) -> list[Check]:
    """What the settings file says by itself."""
    found = [f"`[features] hooks = false` in {config} turns all hooks off"] if _hooks_off(settings) else []
    state = _table(_table(settings, "hooks"), "state")
    gone = [key for key in trusted if not _table(state, key).get("trusted_hash")]
    if gone:
        found.append(f"the trust in {len(gone)} hooks of ours is gone from {config}; {_MEND}")
    off = [key for key in trusted if _table(state, key).get("enabled") is False]
    if off:
        found.append(f"{len(off)} hooks of ours are switched off in {config}")
    return [Check("switches", "problem", f"{text}; {PASSES}") for text in found]


def _feature_file(cwd: Path, config: Path) -> Path | None:
    folders = (cwd, *cwd.parents)
    candidates = [*(folder / ".codex" / "config.toml" for folder in folders), config.with_name("config.toml")]
    return next((path for path in candidates if _hooks_off(_read(path))), None)


def _hooks_off(settings: Mapping[str, Any]) -> bool:
    return _table(settings, "features").get("hooks") is False


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.with_name("config.toml").read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _table(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _folded(event: str) -> str:
    return event.replace("_", "").lower()
