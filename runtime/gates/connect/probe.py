"""Asking an installed agent something with a command of its own.

Promises: the program ends with all that it started after the patience, also when it hangs; its standard input is empty; what it
left open holds nobody up. Never raises.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

VERSION_S = 4.5
_OWN_FOLDERS = ("GEMINI_CLI_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
_NUMBER = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Told:
    """What a program said."""

    text: str = ""
    fault: str = ""
    """Why it said nothing that counts; "" when it did."""


def ask_program(
    program: str, words: Sequence[str], env: Mapping[str, str], *, cwd: Path | None = None, patience_s: float
) -> Told:
    """What a program prints for these words."""
    found = shutil.which(program, path=env.get("PATH"))
    if found is None:
        return Told(fault=f"no program {program} is on the PATH; other places are not searched")
    with tempfile.TemporaryFile() as written:
        try:
            process = subprocess.Popen(
                [found, *words],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=dict(env),
                cwd=cwd,
            )
        except OSError as error:
            return Told(fault=f"{found} cannot be started: {error.strerror}")
        try:
            code = process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return Told(fault=f"{program} did not answer within {patience_s:.0f} s")
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        written.seek(0)
        text = written.read(_MOST_BYTES).decode("utf-8", "replace")
    return Told(text, "" if code == 0 else f"{program} ended with {code}")


def ask_version(program: str, env: Mapping[str, str]) -> Told:
    """The version that `PROGRAM --version` tells. The agent sees no settings: its folders are empty ones."""
    with tempfile.TemporaryDirectory() as nowhere:
        # Gemini CLI brings its settings file up to date even when it is only asked for its version
        told = ask_program(
            program, ("--version",), {**env, **dict.fromkeys(_OWN_FOLDERS, nowhere)}, patience_s=VERSION_S
        )
    number = _NUMBER.search(told.text)
    if told.fault or number is None:
        return Told(fault=told.fault or f"{program} --version tells no version")
    return Told(number.group())


def name_version(title: str, version: str, known: tuple[str, ...]) -> str:
    """A sentence about the version for a person, "" for one that this gate was run against."""
    if version in known:
        return ""
    tried = ", ".join(known)
    if not version:
        return f"Which version of {title} is installed cannot be told; this gate was run against {tried}."
    return f"{title} {version} is not a version that this gate was run against ({tried})."
