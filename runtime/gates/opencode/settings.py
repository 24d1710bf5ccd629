"""What opencode has to load for our gate: a plugin, and on request the setting that makes it ask. Pure.

Seen with 1.18.33: `tool.execute.before` sees every call and an error thrown there is what the model reads; the event
`permission.asked` tells of opencode's own question, which is answered over its own client while its prompt stays usable.
"""

from __future__ import annotations

import json
import shlex
from importlib.resources import files

from interlock.runtime.gates.connect.plan import MARK
from interlock.runtime.gates.service.config import ServiceConfig
from interlock.runtime.gates.service.tell_hook import program

ROUTE = "opencode"
KNOWN_VERSIONS = ("1.18.33",)
"""Versions this gate was run against."""
ASK_FIRST = {"bash": "ask", "edit": "ask", "webfetch": "ask"}
"""What `--ask-first` puts under `permission`."""


def opencode_plugin(service: ServiceConfig) -> str:
    """The text of the plugin."""
    text = (files("interlock.runtime.gates.opencode") / "plugin.js").read_text(encoding="utf-8")
    head = f"// {MARK}: made by `interlock connect opencode`, removed by `interlock disconnect opencode`.\n"
    start = [*shlex.split(program()), "gate", "serve", "--detach"]
    return head + text.replace("@SOCKET@", json.dumps(service.socket)).replace("@START@", json.dumps(start))
