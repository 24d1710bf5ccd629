"""Which tools there are, and what of them a request shows (RT-2, RT-3).

Promises: names are unique; a menu lists the visible tools in a fixed order and its digest changes whenever anything
that a model is shown of them changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from interlock.runtime.events.message import Menu, MenuTool
from interlock.runtime.tools.definition import ToolDefinition, Visibility
from interlock.runtime.tools.refusal import Refusal


class Registry:
    """The tools of one session."""

    def __init__(self, tools: Iterable[ToolDefinition] = ()) -> None:
        self._tools: dict[str, ToolDefinition] = {}
        for tool in tools:
            self.add(tool)

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self._tools.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def add(self, tool: ToolDefinition) -> None:
        """Register a tool. Raises ValueError when the name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name} is registered already")
        self._tools[tool.name] = tool

    def get(self, name: str) -> ToolDefinition | None:
        """The tool of that name, visible or not."""
        return self._tools.get(name)

    def find(self, name: str, visibility: Visibility) -> ToolDefinition:
        """The tool of that name. Raises Refusal `unknown_tool` or `tool_not_visible`."""
        tool = self._tools.get(name)
        shown = [t.name for t in self.visible(visibility)]
        if tool is None:
            near = get_close_matches(name, shown, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise Refusal(
                "unknown_tool",
                f"there is no tool named {name!r}.{hint}",
                field="tool",
                next_step=f"Use one of: {', '.join(shown)}.",
            )
        if not tool.visible(visibility):
            raise Refusal(
                "tool_not_visible",
                f"{name} is not available in mode {visibility.mode!r}",
                field="tool",
                next_step=f"Use one of: {', '.join(shown)}.",
                retryable=False,
            )
        return tool

    def visible(self, visibility: Visibility) -> list[ToolDefinition]:
        """The tools that may be shown and called now, in the order of registration."""
        return [tool for tool in self._tools.values() if tool.visible(visibility)]

    def menu(self, visibility: Visibility) -> Menu:
        """What a request shows, for the record."""
        tools = self.visible(visibility)
        digest = hashlib.sha256("\n".join(tool.schema_digest for tool in tools).encode()).hexdigest()
        return Menu(digest=digest, tools=tuple(MenuTool(name=tool.name, version=tool.version) for tool in tools))

    def describe(self, visibility: Visibility) -> list[dict[str, Any]]:
        """What a model is shown: name, description and input schema of each visible tool."""
        return [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
            for tool in self.visible(visibility)
        ]
