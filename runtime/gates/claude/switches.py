"""What keeps Claude Code from running our hooks, read where Claude Code reads it.

Seen with 2.1.332: the settings of the user, of the folder it is started in, of the repository (`settings.local.json`) and
managed ones, the last with a say winning; `disableAllHooks` in any of them, `allowManagedHooksOnly` in managed ones, and two
variables, also from `env` of a file, turn every hook of the user off; a file with a value of a wrong type is passed over whole.
Does not promise: to know the options of a start (`--bare`, `--safe-mode`, `--settings`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.gates.doctor.check import Check

MANAGED = Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")
HOOKS_OFF = "disableAllHooks"
ONLY_MANAGED = "allowManagedHooksOnly"
_VARIABLES = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE")
_ON = ("1", "true", "yes", "on")
PASSES = "deny rules of your policy do not hold then, and what Claude Code allows by itself runs with nobody asked"


@dataclass(frozen=True, slots=True)
class Layer:
    """One settings file that is there and can be read."""

    path: Path
    value: Mapping[str, Any]
    is_managed: bool = False


def find_switches(env: Mapping[str, str], cwd: Path, config: Path) -> list[Check]:
    """What turns our hooks off in a Claude Code that is started in `cwd`; the user's settings are `config`."""
    layers = _layers(cwd, config)
    found = [*_hooks_off(layers, config), *_managed_only(layers), *_variables(env, layers)]
    if not found:
        read = ", ".join(str(layer.path) for layer in layers)
        return [Check("switches", "ok", f"nothing in {read} turns hooks off, for a Claude Code started in {cwd}")]
    return [Check("switches", "problem", f"{text}; {PASSES}") for text in found]


def _layers(cwd: Path, config: Path) -> list[Layer]:
    """From the weakest to the strongest."""
    root = _repository(cwd)
    local = {folder / ".claude" / "settings.local.json": None for folder in (cwd, *root)}
    paths = dict.fromkeys([config, cwd / ".claude" / "settings.json", *local])
    managed = [MANAGED / "managed-settings.json", *sorted(MANAGED.glob("managed-settings.d/*.json"))]
    read = [(path, False) for path in paths] + [(path, True) for path in managed]
    return [Layer(path, value, is_managed) for path, is_managed in read if (value := _settings(path)) is not None]


def _repository(cwd: Path) -> list[Path]:
    """The root of the repository around a folder; of a linked worktree then the root of its repository, which is stronger."""
    for folder in (cwd, *cwd.parents):
        mark = folder / ".git"
        if mark.is_dir():
            return [folder]
        if mark.is_file():
            text = mark.read_text("utf-8", "replace").strip()
            main = Path(folder, text.removeprefix("gitdir:").strip()).parents
            return [folder, *(one.parent for one in main if one.name == ".git")]
    return []


def _settings(path: Path) -> Mapping[str, Any] | None:
    try:
        value = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _hooks_off(layers: list[Layer], config: Path) -> list[str]:
    found = ""
    for layer in layers:
        switch = layer.value.get(HOOKS_OFF)
        if isinstance(switch, bool):
            found = f"{HOOKS_OFF} in {layer.path} turns all hooks off" if switch else ""
        elif switch is not None and layer.path == config:
            return [f"{HOOKS_OFF} in {layer.path} is neither true nor false, so Claude Code passes over the whole file"]
    return [found] if found else []


def _managed_only(layers: list[Layer]) -> list[str]:
    return [
        f"{ONLY_MANAGED} in {layer.path} lets no hook of yours run"
        for layer in layers
        if layer.is_managed and layer.value.get(ONLY_MANAGED) is True
    ]


def _variables(env: Mapping[str, str], layers: list[Layer]) -> list[str]:
    values = {name: (env[name], "the environment") for name in _VARIABLES if name in env}
    for layer in layers:
        told = layer.value.get("env")
        if isinstance(told, dict):
            values |= {name: (str(told[name]), f"`env` of {layer.path}") for name in _VARIABLES if name in told}
    return [
        f"{name}={value} in {where} turns all hooks off"
        for name, (value, where) in values.items()
        if value.lower() in _ON
    ]
