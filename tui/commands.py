"""Every command of the screen, once: its keys, its words, where it is live.

Promises: bindings, footer, help, palette and docs/keys.md derive from these classes and from nothing else; a person's
own keys are checked before they are used. A widget or screen that binds a command has a method `action_<name>`.
Run as a program (`python -m interlock.tui.commands`) this prints docs/keys.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interlock.tui.command import GROUPS, REGISTRY, Command, Place, bind, key_label

__all__ = [
    "ANSWERS",
    "GROUPS",
    "MOVES",
    "REGISTRY",
    "Command",
    "HelpRow",
    "KeymapError",
    "Place",
    "bind",
    "clashes",
    "help_rows",
    "key_label",
    "keymap",
    "keys_of",
    "keys_page",
]


class KeymapError(ValueError):
    """A person's key map that cannot be used. Says which entry, why, and what would be right."""


class ShowInbox(Command):
    """Show what waits for you."""

    title, keys, group = "Inbox", ("1",), "Views"


class ShowSessions(Command):
    """Show every session with its state."""

    title, keys, group = "Sessions", ("2",), "Views"


class ShowHistory(Command):
    """Search everything that was ever done."""

    title, keys, group = "History", ("3",), "Views"


class ShowRules(Command):
    """Show the policy and the standing grants."""

    title, keys, group = "Rules", ("4",), "Views"


class NextWaiting(Command):
    """Go to the next ask that waits, from anywhere."""

    title, keys, group, footer = "Next waiting", ("n",), "Views", "next waiting"


class PreviousWaiting(Command):
    """Go to the previous ask that waits, from anywhere."""

    title, keys, group = "Previous waiting", ("N",), "Views"


class Back(Command):
    """Close what is open on top, or leave the filter."""

    title, keys, group = "Back", ("escape",), "Views"


class CursorDown(Command):
    """Move to the next line."""

    title, keys, group, footer, when = "Down", ("j", "down"), "Move", "move", ("list", "text", "pager")
    footer_key = "j/k"


class CursorUp(Command):
    """Move to the line before."""

    title, keys, group, when = "Up", ("k", "up"), "Move", ("list", "text", "pager")


class PageDown(Command):
    """Move one screen down."""

    title, keys, group, when = "Page down", ("pagedown", "ctrl+f"), "Move", ("list", "text", "pager")


class PageUp(Command):
    """Move one screen up."""

    title, keys, group, when = "Page up", ("pageup", "ctrl+b"), "Move", ("list", "text", "pager")


class GoTop(Command):
    """Go to the first line."""

    title, keys, group, when = "First", ("g", "home"), "Move", ("list", "text", "pager")


class GoEnd(Command):
    """Go to the last line."""

    title, keys, group, when = "Last", ("G", "end"), "Move", ("list", "text", "pager")


class ScrollLeft(Command):
    """Show what is further to the left when lines are not wrapped."""

    title, keys, group, when = "Left", ("left",), "Move", ("text", "pager")


class ScrollRight(Command):
    """Show what is further to the right when lines are not wrapped."""

    title, keys, group, when = "Right", ("right",), "Move", ("text", "pager")


class NextPane(Command):
    """Move the focus to the next pane."""

    title, keys, group = "Next pane", ("tab",), "Move"


class PreviousPane(Command):
    """Move the focus to the pane before."""

    title, keys, group = "Previous pane", ("shift+tab",), "Move"


class OpenRow(Command):
    """Open the selected line; it never allows anything."""

    title, keys, group, footer, when = "Open", ("enter",), "Move", "open", ("list",)


class Find(Command):
    """Filter a list, or find in a text."""

    title, keys, group, footer, when = "Find or filter", ("slash",), "Find", "find", ("list", "pager")


class FindBackwards(Command):
    """Find towards the beginning of a text."""

    title, keys, group, when = "Find backwards", ("ctrl+r",), "Find", ("pager",)


class NextHit(Command):
    """Go to the next place that was found."""

    title, keys, group, when = "Next hit", ("n",), "Find", ("pager",)


class PreviousHit(Command):
    """Go to the place that was found before."""

    title, keys, group, when = "Previous hit", ("N",), "Find", ("pager",)


class ToggleFollow(Command):
    """Stay at the end while new lines arrive, as long as you are at the end."""

    title, keys, group, footer, when = "Follow", ("f",), "Read", "follow", ("list", "session", "pager")


class ToggleWrap(Command):
    """Wrap long lines, or scroll sideways."""

    title, keys, group, when = "Wrap", ("w",), "Read", ("text", "pager")


class ToggleSplit(Command):
    """Show a diff side by side, or in one column."""

    title, keys, group, when = "Split diff", ("S",), "Read", ("text",)


class ToggleHex(Command):
    """Show bytes instead of text."""

    title, keys, group, when = "Bytes", ("H",), "Read", ("pager",)


class CopySource(Command):
    """Send the source text, as it was written, to the terminal's clipboard."""

    title, keys, group, footer, when = "Copy", ("y",), "Read", "copy", ("list", "text", "pager", "card", "session")


class OpenArtifact(Command):
    """Open the whole output in the pager."""

    title, keys, group, when = "Whole output", ("o",), "Read", ("session",)


class OpenEditor(Command):
    """Open the artifact in $EDITOR."""

    title, keys, group, when = "Editor", ("E",), "Read", ("session", "pager")


class ShowRecord(Command):
    """Show the raw event as it stands in the journal."""

    title, keys, group, when = "Raw event", ("x",), "Read", ("session", "card")


class ShowWhole(Command):
    """Show the whole text or diff of the ask on the whole screen."""

    title, keys, group, footer, when = "Whole", ("v",), "Read", "whole", ("card",)


class AllowOnce(Command):
    """Allow this call, and ask again next time."""

    title, keys, group, footer, when, answers = "Allow once", ("a",), "Answer", "once", ("card", "together"), True


class AllowTurn(Command):
    """Allow calls like this one until the agent's turn ends."""

    title, keys, group, when, answers = "Allow this turn", ("t",), "Answer", ("grant",), True


class AllowSession(Command):
    """Allow calls like this one until the session ends."""

    title, keys, group, when, answers = "Allow this session", ("s",), "Answer", ("card", "grant"), True


class AllowTenMinutes(Command):
    """Allow calls like this one for ten minutes."""

    title, keys, group, when, answers = "Allow ten minutes", ("T",), "Answer", ("grant",), True


class AllowByRule(Command):
    """Keep the rule that is shown in your policy file, so that calls like this one pass in later sessions too."""

    title, keys, group, when, answers = "Allow by rule", ("r",), "Answer", ("grant",), True


class AllowFor(Command):
    """Allow for longer: choose what and until when, with a preview of past calls; nothing is answered yet."""

    title, keys, group, when = "Allow for…", ("A", "r"), "Answer", ("card",)


class EditRule(Command):
    """Change the text of the rule before you allow by it."""

    title, keys, group, when = "Edit the rule", ("e",), "Answer", ("grant",)


class ToggleMark(Command):
    """Leave an ask out of those that are answered together, or take it in again."""

    title, keys, group, when = "Leave out", ("space", "x"), "Answer", ("together",)


class Revoke(Command):
    """End the standing permission under the cursor; it asks first."""

    title, keys, group, footer, when = "Revoke", ("x",), "Answer", "revoke", ("rules",)


class Deny(Command):
    """Deny this call."""

    title, keys, group, footer, when, answers = "Deny", ("d",), "Answer", "deny", ("card", "together"), True


class DenyAndSay(Command):
    """Deny this call and tell the agent why, word for word."""

    title, keys, group, footer, when, answers = "Deny and say…", ("m",), "Answer", "deny and say…", ("card",), True


class AskToExplain(Command):
    """Deny for now and ask the agent to explain, in words that you see first; it may ask again."""

    title, keys, group, when, answers = "Ask to explain", ("i",), "Answer", ("card",), True


class AnswerTogether(Command):
    """Answer asks that are alike together, after a preview of each."""

    title, keys, group, when, answers = "Answer alike together…", ("b",), "Answer", ("card", "list"), True


class UndoAnswer(Command):
    """Take back the last standing or joint answer while its time runs."""

    title, keys, group, when = "Undo", ("u",), "Answer", ("card", "list", "rules")


class PreviousCall(Command):
    """Go to the call before."""

    title, keys, group, when = "Previous call", ("left_square_bracket",), "Session", ("session",)


class NextCall(Command):
    """Go to the next call."""

    title, keys, group, when = "Next call", ("right_square_bracket",), "Session", ("session",)


class NextTab(Command):
    """Show the next side of the call: overview, input, diff, output, what the model saw, record."""

    title, keys, group, when, priority = "Next tab", ("right", "l"), "Session", ("session",), True


class PreviousTab(Command):
    """Show the side of the call before."""

    title, keys, group, when, priority = "Tab before", ("left", "h"), "Session", ("session",), True


class OpenPalette(Command):
    """Find any command by its name."""

    title, keys, group, footer, priority = "Commands", ("ctrl+p",), "Interlock", "commands", True


class ShowHelp(Command):
    """Show the keys of this place."""

    title, keys, group, footer = "Help", ("question_mark",), "Interlock", "help"


class ChangeTheme(Command):
    """Choose colours."""

    title, keys, group = "Theme", ("f2",), "Interlock"


class Quit(Command):
    """Leave the screen; agents go on, and it asks first when asks wait."""

    title, keys, group = "Quit", ("q", "ctrl+q"), "Interlock"


MOVES = (CursorDown, CursorUp, PageDown, PageUp, GoTop, GoEnd)
"""What every list and text can do."""
ANSWERS = tuple(command for command in REGISTRY.values() if command.answers)
"""Every way to answer, in the order of the card's answer line."""

_NEVER_ANSWER = frozenset({"enter", "space", "ctrl+m", "ctrl+j"})
_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super|meta)\+)*(?:[^\s,+]|[a-z][a-z0-9_]*)")


def keymap(changes: Mapping[str, str]) -> dict[str, str]:
    """Check a person's keys (`{"allow_once": "ctrl+y"}`, several keys with commas) for `App.set_keymap`.

    Raises KeymapError for an unknown command, a key that is none, an answer on Enter or Space, or two commands that
    would share a key in one place.
    """
    checked: dict[str, str] = {}
    for name, keys in changes.items():
        if name not in REGISTRY:
            raise KeymapError(f"keys.{name}: no such command; `python -m interlock.tui.commands` lists them")
        parts = [part.strip() for part in keys.split(",") if part.strip()]
        if not parts or not all(_KEY.fullmatch(part) for part in parts):
            raise KeymapError(f"keys.{name}: {keys!r} is not a key; write for example `a`, `ctrl+y` or `f5,pagedown`")
        if REGISTRY[name].answers and (bad := _NEVER_ANSWER.intersection(parts)):
            raise KeymapError(f"keys.{name}: {sorted(bad)[0]} never answers an ask; choose another key")
        checked[name] = ",".join(parts)
    if clash := clashes(checked):
        raise KeymapError(f"keys: {clash[0]}; give one of them another key")
    return checked


def keys_of(command: type[Command], changes: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The keys of a command now."""
    changed = (changes or {}).get(command.name)
    return tuple(changed.split(",")) if changed else command.keys


def clashes(changes: Mapping[str, str] | None = None) -> list[str]:
    """Pairs of commands that share a key where both are live; `anywhere` gives way to a place of its own."""
    found: list[str] = []
    owner: dict[tuple[Place, str], type[Command]] = {}
    for command in REGISTRY.values():
        for place in command.when:
            for key in keys_of(command, changes):
                first = owner.setdefault((place, key), command)
                if first is not command:
                    found.append(f"{first.name} and {command.name} are both on {key_label(key)} in {place}")
    # A letter that answers must not be hidden by a command of the list beside the card, nor hide one.
    everywhere = {key: c for (place, key), c in owner.items() if place == "anywhere"}
    for (place, key), command in owner.items():
        if place == "card" and key in everywhere:
            found.append(f"{everywhere[key].name} and {command.name} are both on {key_label(key)} in card")
    return found


@dataclass(frozen=True, slots=True)
class HelpRow:
    """One line of the help."""

    group: str
    keys: str
    title: str
    help: str
    name: str


def help_rows(places: Iterable[Place] = (), changes: Mapping[str, str] | None = None) -> list[HelpRow]:
    """The help of the given places and of `anywhere`, by group, with the current keys. No places: all of it."""
    wanted = {*places, "anywhere"}
    rows = []
    for group in GROUPS:
        for command in REGISTRY.values():
            if command.group == group and (wanted == {"anywhere"} or wanted.intersection(command.when)):
                labels = "  ".join(key_label(key) for key in keys_of(command, changes))
                rows.append(HelpRow(group, labels, command.title, command.help, command.name))
    return rows


def keys_page() -> str:
    """The text of docs/keys.md."""
    lines = [
        "# Keys",
        "",
        "Every key can be changed in the configuration file: `[keys]`, the command's name, the new key.",
    ]
    group = ""
    for row in help_rows():
        if row.group != group:
            group = row.group
            lines += ["", f"## {group}", "", "| key | what | does | where | command |", "|---|---|---|---|---|"]
        where = ", ".join(REGISTRY[row.name].when)
        keys = " ".join(f"`{key}`" for key in row.keys.split("  "))
        lines.append(f"| {keys} | {row.title} | {row.help} | {where} | `{row.name}` |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    # `python -m` runs this file under another name; the registry of the real module is the one to print.
    from interlock.tui import commands

    print(commands.keys_page(), end="")
