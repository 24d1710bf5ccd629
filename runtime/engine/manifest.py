"""The manifest of limits (RT-12): `[worker.tool_output]` in a TOML file.

Promises: a missing file or section means the defaults; a value that is none ends with file, line and what was
expected; a tool name that nobody knows is a logged warning.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEFAULT_MAX_BYTES = 16_384
"""Bytes of content of one result (RT-12)."""
FILE_NAME = "interlock.toml"
"""Looked for in the first workspace root."""

_LARGEST = 1 << 20
_AT = re.compile(r"\(at line (\d+), column \d+\)$")
_LOG = logging.getLogger(__name__)


class ManifestError(Exception):
    """The manifest cannot be used; the message says file, line and what was expected."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Limits of results."""

    default_max_bytes: int = DEFAULT_MAX_BYTES
    per_tool: Mapping[str, int] = field(default_factory=dict)

    def limit(self, tool: str, own: int | None = None) -> int:
        """Bytes of content for a tool; `own` is what the tool itself asks for where the manifest is silent."""
        return self.per_tool.get(tool, self.default_max_bytes if own is None else own)


def load_manifest(path: Path, known_tools: Container[str]) -> Manifest:
    """Read the manifest. Raises ManifestError."""
    try:
        data = _plain_file(path)
    except FileNotFoundError:
        return Manifest()
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{path}:{line}: byte {error.start} is not UTF-8; expected TOML in UTF-8") from None
    return parse_manifest(text, str(path), known_tools)


def _plain_file(path: Path) -> bytes:
    # a pipe or a device in its place must not make every session wait, or read for ever
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is no plain file; expected a TOML file, or none")
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(f"it is larger than {_LARGEST:,} bytes; expected a short TOML file")
    return data


def parse_manifest(text: str, name: str, known_tools: Container[str]) -> Manifest:
    """The manifest in a text; `name` stands in messages. Raises ManifestError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        where = f"{name}:{at[1]}" if at else name
        raise ManifestError(f"{where}: no valid TOML: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{name}: cannot be read as TOML: {error}; expected plain tables of numbers") from None
    worker = _table(data, "worker", text, name, "[worker]")
    section = _table(worker, "tool_output", text, name, "[worker.tool_output]")
    for key in section:
        if key not in ("default_max_bytes", "per_tool"):
            where = _where(text, name, key)
            raise ManifestError(f"{where}: unknown key {key!r}; expected default_max_bytes or the table per_tool")
    default = _bytes(section.get("default_max_bytes", DEFAULT_MAX_BYTES), "default_max_bytes", text, name)
    table = _table(section, "per_tool", text, name, "[worker.tool_output.per_tool]")
    limits = {tool: _bytes(value, tool, text, name) for tool, value in table.items()}
    for tool in limits:
        if tool not in known_tools:
            _LOG.warning("%s: there is no tool named %r; its limit is not used", _where(text, name, tool), tool)
    return Manifest(default, limits)


def _table(parent: Mapping[str, Any], key: str, text: str, name: str, shown: str) -> Mapping[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        raise ManifestError(f"{_where(text, name, key)}: {key} must be the table {shown}, found {value!r}")
    return value


def _bytes(value: object, key: str, text: str, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        where = _where(text, name, key)
        raise ManifestError(f"{where}: {key} must be a whole number of bytes, 0 or more, found {value!r}")
    return value


def _where(text: str, name: str, key: str) -> str:
    """`file:line` of the first line that gives the key; the file alone when none is found."""
    for number, line in enumerate(text.split("\n"), 1):
        left = line.partition("=")[0].strip().strip("[]\"' ")
        if key in (left, left.rpartition(".")[2]):
            return f"{name}:{number}"
    within = re.compile(rf"(?<![\w-])[\"']?{re.escape(key)}[\"']?\s*=")  # in a table on one line
    found = next((number for number, line in enumerate(text.split("\n"), 1) if within.search(line)), None)
    return f"{name}:{found}" if found else name
