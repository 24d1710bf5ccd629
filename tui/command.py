"""What a command is: one class for each thing that a person can do. The commands themselves stand in `commands`.

Promises: a subclass enters the registry when it is declared; its name, help and binding derive from the class.
"""

from __future__ import annotations

import re
from typing import ClassVar

from textual.binding import Binding

Place = str
"""Where a command is live: `anywhere`, `list`, `text`, `pager`, `card`, `grant`, `together`, `session` or `rules`."""

REGISTRY: dict[str, type[Command]] = {}
"""Commands by name, in the order of declaration, which is the order of help."""

GROUPS = ("Views", "Move", "Find", "Read", "Answer", "Session", "Interlock")
"""Headings of the help, in order."""


class Command:
    """One thing a person can do. Subclasses give class attributes; they are never instantiated."""

    name: ClassVar[str]
    """Stable id, snake case, from the class name; it is what a key map names."""
    title: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """Textual key names, the first one is shown in the footer."""
    footer: ClassVar[str] = ""
    """Short words for the footer; empty when the footer does not show it."""
    footer_key: ClassVar[str] = ""
    """What the footer shows for the keys while they are the shipped ones, for commands that come in pairs (`j/k`)."""
    group: ClassVar[str]
    help: ClassVar[str]
    """One sentence: what happens. It is the tooltip too."""
    when: ClassVar[tuple[Place, ...]] = ("anywhere",)
    priority: ClassVar[bool] = False
    answers: ClassVar[bool] = False
    """Whether it answers an ask, and so waits for the guard time and is drawn dim until then."""

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        cls.help = (cls.__doc__ or "").strip().split("\n")[0]
        REGISTRY[cls.name] = cls

    @classmethod
    def binding(cls) -> Binding:
        """The Textual binding; its id is the name, so that `App.set_keymap` can change the keys."""
        return Binding(
            ",".join(cls.keys),
            cls.name,
            cls.footer or cls.title,
            show=bool(cls.footer),
            key_display=key_label(cls.keys[0]),
            priority=cls.priority,
            tooltip=cls.help,
            id=cls.name,
        )


def bind(*commands: type[Command]) -> list[Binding]:
    """The `BINDINGS` of a widget or screen."""
    return [command.binding() for command in commands]


_LABELS = {
    "slash": "/",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "Esc",
    "enter": "Enter",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def key_label(key: str) -> str:
    """A key as a person reads it: `Ctrl+P`, `/`, `Esc`."""
    *mods, last = key.split("+") if key != "+" else [key]
    last = _LABELS.get(last, last.upper() if mods or re.fullmatch(r"f\d+", last) else last)
    return "+".join([*(mod.capitalize() for mod in mods), last])
