"""The digest that ties an answer to what was shown (ASK-3).

Promises: equal exactly when tool, version, input and directory are equal, whatever the order of keys.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def input_digest(tool: str, version: str, shown_input: Any, cwd: str) -> str:
    """SHA-256 in hex of the canonical JSON of tool, version, input and working directory."""
    shown = {"cwd": cwd, "input": shown_input, "tool": tool, "toolVersion": version}
    return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
