"""The last line: what can be done here, with the keys as they are now, and beside it what happened last.

Promises: one line, from the bindings that are active; a command that is not live yet is dim; what does not fit is left
out from the right, after what is the same everywhere, `? help` last of all; a click does what the key does.
"""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual import events
from textual.keys import key_to_character
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from interlock.tui.commands import REGISTRY, Command, NextWaiting, OpenPalette, ShowHelp, ToggleFollow, key_label
from interlock.tui.safe_text import cells, one_line, to_strip

_ALWAYS = (OpenPalette.name, ShowHelp.name)
_LEAST = (ToggleFollow.name, NextWaiting.name)
"""What is left out before the keys of the present view."""
_GAP = 3


class KeyFooter(Widget):
    """Put it at the bottom of a screen. It reads the screen's active bindings."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--dim", "footer--said"}
    DEFAULT_CSS = """
    KeyFooter { dock: bottom; height: 1; background: $surface; color: $foreground; }
    KeyFooter > .footer--key { color: $ask; text-style: bold; }
    KeyFooter > .footer--dim { color: $quiet; text-style: none; }
    KeyFooter > .footer--said { color: $running; }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(name=name, id=id, classes=classes)
        self._places: list[tuple[int, int, str]] = []
        self._said = ""

    def say(self, words: str) -> None:
        """Our own words about what happened last, at the right end; empty to say nothing. Foreign text is escaped."""
        self._said = words
        self.refresh()

    def on_mount(self) -> None:
        """Follow the bindings of the screen."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()

    def shown(self) -> list[tuple[str, str, bool, str]]:
        """What would be shown with room enough: key, words, whether it is live, binding key."""
        rows: dict[str, tuple[str, str, bool, str]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            command = REGISTRY.get(binding.id or "")
            words = command.footer if command else binding.description if binding.show else ""
            if words and not self._is_text(binding.key):
                name = command.name if command else binding.action
                if name not in rows or (command and binding.key == command.keys[0]):
                    rows[name] = (_label(command, binding.key), words, active.enabled, binding.key)
        return [row for name, row in rows.items() if name not in _ALWAYS] + [
            rows[name] for name in _ALWAYS if name in rows
        ]

    def _is_text(self, key: str) -> bool:
        """Whether an editor has the focus that takes this key as text."""
        focused = self.screen.focused
        character = "/" if key == "slash" else key_to_character(key)  # the one that Textual gives a name of its own
        return focused is not None and character is not None and focused.check_consume_key(key, character)

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        said = one_line(self._said, max(width // 2, 10)) if self._said else None
        room = width - 1 - (cells(said) + _GAP if said else 0)
        strips, self._places, at = [to_strip(" ")], [], 1
        for label, words, live, key in self._fitting(room):
            plain = self._style("footer--dim") if not live else Style.null()
            strips += [to_strip(label, plain if not live else self._style("footer--key")), to_strip(f" {words}", plain)]
            size = cells(f"{label} {words}")
            self._places.append((at, at + size, key if live else ""))
            strips.append(to_strip(" " * _GAP))
            at += size + _GAP
        line = Strip.join(strips).adjust_cell_length(width)
        if said:
            line = Strip.join(
                [line.crop(0, width - cells(said) - 1), to_strip(said, self._style("footer--said")), to_strip(" ")]
            )
        return line.apply_style(self.rich_style)

    def _fitting(self, room: int) -> list[tuple[str, str, bool, str]]:
        rows = self.shown()
        while rows and sum(cells(f"{row[0]} {row[1]}") + _GAP for row in rows) - _GAP > room:
            # The last two say where everything else is to be found.
            first = next((n for name in _LEAST for n, row in enumerate(rows) if row[1] == REGISTRY[name].footer), None)
            del rows[first if first is not None else -3 if len(rows) > 2 else 0]
        return rows

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)

    async def on_click(self, event: events.Click) -> None:
        """A click on words does what their key does; answers are only given by keys."""
        for start, end, key in self._places:
            active = self.screen.active_bindings.get(key)
            if start <= event.x < end and active is not None:
                command = REGISTRY.get(active.binding.id or "")
                if command is None or not command.answers:
                    await self.app.run_action(active.binding.action, active.node)
                return


def _label(command: type[Command] | None, key: str) -> str:
    """The key as it is shown; a pair of commands is shown by both keys while they are the shipped ones."""
    if command is not None and command.footer_key and key == command.keys[0]:
        return command.footer_key
    return key_label(key)
