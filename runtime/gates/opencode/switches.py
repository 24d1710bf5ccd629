"""What keeps opencode from loading our plugin: the folders it looks in, and its own report of what it found.

Seen with 1.18.33: plugins are taken from the folder `opencode` of the user's configuration, from OPENCODE_CONFIG_DIR and from the
project's `.opencode`; OPENCODE_PURE and `--pure` load none. `opencode debug config` tells what would be loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from interlock.runtime.gates.connect.probe import ask_program
from interlock.runtime.gates.doctor.check import Check

PLUGIN = "plugin/interlock.js"
PASSES = "calls that opencode does not ask about run then with nobody asked"
_REPORT_S = 20.0


def config_folders(env: Mapping[str, str]) -> list[Path]:
    """The folders that opencode reads settings and plugins from, the first one for what is written."""
    base = (
        Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else Path(env.get("HOME") or Path.home(), ".config")
    )
    own = env.get("OPENCODE_CONFIG_DIR")
    return [*([Path(own)] if own else []), base / "opencode"]


def find_switches(env: Mapping[str, str], cwd: Path, plugin: Path) -> list[Check]:
    """What keeps an opencode that is started in `cwd` from loading the plugin."""
    if (env.get("OPENCODE_PURE") or "").lower() in ("1", "true"):
        return [Check("switches", "problem", f"OPENCODE_PURE has opencode load no plugin; {PASSES}")]
    told = ask_program("opencode", ("debug", "config"), env, cwd=cwd, patience_s=_REPORT_S)
    if told.fault:
        return [*_by_folder(env, cwd, plugin), Check("own report", "unknown", f"opencode debug config: {told.fault}")]
    if plugin.as_uri() not in told.text and os.path.realpath(plugin) not in told.text:
        text = f"opencode, asked by `opencode debug config` in {cwd}, does not load {plugin}; {PASSES}"
        return [Check("own report", "problem", text)]
    return [Check("own report", "ok", f"opencode loads {plugin} in {cwd}, says `opencode debug config`")]


def _by_folder(env: Mapping[str, str], cwd: Path, plugin: Path) -> list[Check]:
    folders = [*config_folders(env), *(folder / ".opencode" for folder in (cwd, *cwd.parents))]
    if plugin.parent.parent in folders:
        return []
    named = ", ".join(map(str, config_folders(env)))
    return [Check("switches", "problem", f"{plugin} is not in a folder that opencode reads ({named}); {PASSES}")]
