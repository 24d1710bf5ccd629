"""The built-in tools, narrow ones first (RT-9)."""

from __future__ import annotations

from interlock.runtime.tools.builtin.bash import BASH
from interlock.runtime.tools.builtin.edit_file import EDIT_FILE
from interlock.runtime.tools.builtin.glob import GLOB
from interlock.runtime.tools.builtin.grep import GREP
from interlock.runtime.tools.builtin.read_artifact import READ_ARTIFACT
from interlock.runtime.tools.builtin.read_file import READ_FILE
from interlock.runtime.tools.builtin.write_file import WRITE_FILE
from interlock.runtime.tools.definition import ToolDefinition

BUILTIN_TOOLS: tuple[ToolDefinition, ...] = (READ_FILE, EDIT_FILE, WRITE_FILE, GLOB, GREP, READ_ARTIFACT, BASH)
