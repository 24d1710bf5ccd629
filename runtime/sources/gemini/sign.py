"""The sign that our gate puts into the input of a call which it has allowed, and with which Gemini CLI keeps that input.

Promises: what `without_sign` gives is the input as the model gave it; an input without a sign comes back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FOLDER, FIELD = "dir_path", "interlock_gate"
"""Where it stands: as a step down and up again in the folder of a command, as a field of its own in other inputs."""
HEAD = "interlock-gate-"
_SIGN = re.compile(HEAD + r"[0-9a-f]{32}")
_STEP = re.compile(r"(.*)/" + _SIGN.pattern + r"/\.\.")


def without_sign(given: Any) -> Any:
    """The input of a call without our sign."""
    if not isinstance(given, Mapping):
        return given
    plain = {key: value for key, value in given.items() if key != FIELD or not _SIGN.fullmatch(str(value))}
    step = _STEP.fullmatch(str(plain.get(FOLDER)))
    if step is not None:
        plain[FOLDER] = step[1]
        if step[1] == ".":
            del plain[FOLDER]
    return plain
