"""Which version of an agent is installed.

Promises: the agent is started only with `--version`, with folders of its own that are empty, and with an end after
`PATIENCE_S`; what cannot be told is "".
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

PATIENCE_S = 30.0
_OWN_FOLDERS = ("GEMINI_CLI_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
_NUMBER = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*")


def installed_version(program: str) -> str:
    """The version that `PROGRAM --version` tells, "" when there is no such program or it tells none."""
    found = shutil.which(program)
    if found is None:
        return ""
    try:
        with tempfile.TemporaryDirectory() as nowhere:
            done = subprocess.run(
                [found, "--version"],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=PATIENCE_S,
                check=False,
                # Gemini CLI brings its settings file up to date even when it is only asked for its version
                env={**os.environ, **dict.fromkeys(_OWN_FOLDERS, nowhere)},
            )
    except (OSError, subprocess.SubprocessError):
        return ""
    number = _NUMBER.search(done.stdout.decode("utf-8", "replace"))
    return number.group() if number else ""


def named(title: str, version: str, known: tuple[str, ...]) -> str:
    """A sentence about the version for a person, "" for one that this gate was run against."""
    if version in known:
        return ""
    tried = ", ".join(known)
    if not version:
        return f"Which version of {title} is installed cannot be told; this gate was run against {tried}."
    return f"{title} {version} is not a version that this gate was run against ({tried}). `interlock doctor` tries it."
