"""What keeps Gemini CLI from running our hook, read where Gemini CLI reads it.

Seen with 0.61.0: defaults of the system, settings of the user, of the folder it is started in, and of the system, the last with a
say winning; `hooksConfig.enabled`, and `hooksConfig.disabled`, in which all files add up; in a folder that is not trusted no hook
runs, and the folder's own settings are not read. With the hook off Gemini CLI asks by itself: our policy file lets nothing pass.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.runtime.gates.connect.plan import MARK
from interlock.runtime.gates.doctor.check import Check
from interlock.runtime.gates.settings import jsonc
from interlock.runtime.gates.settings.document import Document, SettingsError

SYSTEM = Path("/Library/Application Support/GeminiCli" if sys.platform == "darwin" else "/etc/gemini-cli")
PASSES = "deny rules of your policy do not hold then, and what Gemini CLI asks about is asked in its own prompt alone"
_TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"

Layers = list[tuple[Path, Mapping[str, Any]]]


def find_switches(env: Mapping[str, str], cwd: Path, config: Path) -> list[Check]:
    """What turns our hook off in a Gemini CLI that is started in `cwd`; the user's settings are `config`."""
    layers = _layers(env, cwd, config)
    trust = _trust(env, cwd, config, layers)
    if trust is False:
        layers = [layer for layer in layers if layer[0] != _of_folder(cwd)]
    found = [*_enabled(layers), *_disabled(layers)]
    checks = [Check("switches", "problem", f"{text}; {PASSES}") for text in found]
    if trust is False:
        text = f"you have told Gemini CLI not to trust {cwd}, where it therefore runs no hook; {PASSES}"
        checks.append(Check("trust", "problem", text))
    elif trust is None:
        text = f"Gemini CLI will ask whether to trust {cwd}; without trust it runs no hook there"
        checks.append(Check("trust", "unknown", text))
    read = ", ".join(str(path) for path, _ in layers)
    ok = f"nothing in {read} turns our hook off, for a Gemini CLI started in {cwd}"
    return checks if found else [Check("switches", "ok", ok), *checks]


def _of_folder(cwd: Path) -> Path:
    return cwd / ".gemini" / "settings.json"


def _layers(env: Mapping[str, str], cwd: Path, config: Path) -> Layers:
    """From the weakest to the strongest."""
    system = Path(env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or SYSTEM / "settings.json")
    defaults = Path(env.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH") or system.with_name("system-defaults.json"))
    paths = dict.fromkeys([defaults, config, _of_folder(cwd), system])
    return [(path, value) for path in paths if (value := _settings(path))]


def _settings(path: Path) -> Mapping[str, Any]:
    try:
        node = jsonc.parse(Document.decode(path.read_bytes()).text)
    except (OSError, SettingsError):
        return {}
    return node.value if node is not None and isinstance(node.value, dict) else {}


def _hooks_config(value: Mapping[str, Any]) -> Mapping[str, Any]:
    found = value.get("hooksConfig")
    return found if isinstance(found, dict) else {}


def _enabled(layers: Layers) -> list[str]:
    found = ""
    for path, value in layers:
        switch = _hooks_config(value).get("enabled")
        if switch is not None:
            found = "" if switch else f"`hooksConfig.enabled` in {path} turns all hooks off"
    return [found] if found else []


def _disabled(layers: Layers) -> list[str]:
    return [
        f"`hooksConfig.disabled` in {path} names our hook, as `/hooks disable` writes it"
        for path, value in layers
        if any(MARK in str(name) or "gate-hold.sh" in str(name) for name in _names(value))
    ]


def _names(value: Mapping[str, Any]) -> list[Any]:
    found = _hooks_config(value).get("disabled")
    return found if isinstance(found, list) else []


def _trust(env: Mapping[str, str], cwd: Path, config: Path, layers: Layers) -> bool | None:
    """Whether Gemini CLI trusts a folder; None: it would ask."""
    if env.get(_TRUST_VARIABLE) in ("true", "false"):
        return env[_TRUST_VARIABLE] == "true"
    if not _asks_for_trust(layers, cwd):
        return True
    place = Path(env.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or config.with_name("trustedFolders.json"))
    try:
        told = json.loads(place.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    best, trust = -1, None
    for name, level in told.items() if isinstance(told, dict) else ():
        folder = Path(os.path.dirname(name) if level == "TRUST_PARENT" else name)
        if cwd.is_relative_to(folder) and len(folder.parts) > best:
            best, trust = len(folder.parts), level != "DO_NOT_TRUST"
    return trust


def _asks_for_trust(layers: Layers, cwd: Path) -> bool:
    asks = True
    for path, value in layers:
        security = value.get("security")
        folder = security.get("folderTrust") if isinstance(security, dict) else None
        if path != _of_folder(cwd) and isinstance(folder, dict) and isinstance(folder.get("enabled"), bool):
            asks = folder["enabled"]
    return asks
