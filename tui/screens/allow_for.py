"""Allow for longer (ASK-4): which permission, for how long, with what it would have covered.

Promises: what would be granted is shown in full, and its digest goes along; Enter and Space never allow; keys arm as on
the card, and anew with every change: another suggestion, another text, a preview that came; nothing can be allowed before
the end of it was on the screen. Esc goes back without an answer; an ask that ended meanwhile closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from interlock.tui.commands import (
    MOVES,
    REGISTRY,
    AllowByRule,
    AllowSession,
    AllowTenMinutes,
    AllowTurn,
    Back,
    EditRule,
    ShowHelp,
    bind,
    key_label,
    keys_of,
)
from interlock.tui.model import allow_for
from interlock.tui.model.allow_for import Chosen, Preview
from interlock.tui.model.answers import BY_COMMAND, Choice, standing
from interlock.tui.model.ask import Ask
from interlock.tui.model.given import Given, given
from interlock.tui.model.inked import Inked, beside, fitted, ink
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.answer_gate import AnswerGate
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines
from interlock.tui.widgets.wrapped import WrappedView

_AROUND = 7
"""Rows around what would be granted: two of the head, three lines, the keys, one for a note."""


class RuleEditor(TextArea):
    """The text of a rule. Esc leaves it with what was written."""

    DEFAULT_CSS = """
    RuleEditor { height: 1fr; border: round $ask; padding: 0 1; background: $background; display: none; }
    RuleEditor.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Done", show=False)]

    def action_leave(self) -> None:
        """Esc."""
        self.screen.close_editor()  # type: ignore[attr-defined]


class AllowForScreen(Overlay[Given | None]):
    """Gives the answer, or None when the person went back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bind(AllowTurn, AllowSession, AllowTenMinutes, AllowByRule, EditRule, ShowHelp, *MOVES),  # type: ignore[list-item]
    ]
    AUTO_FOCUS = ""  # the keys are the screen's own: j and k choose, the pages scroll what is shown
    DEFAULT_CSS = """
    AllowForScreen { layout: vertical; padding: 0 1; }
    AllowForScreen #offers { border-top: solid $rule; border-bottom: solid $rule; height: auto; }
    AllowForScreen #what { height: 1fr; }
    AllowForScreen #note { margin-top: 0; }
    AllowForScreen #keys { border-top: solid $rule; height: auto; }
    AllowForScreen.-editing #what { display: none; }
    """

    def __init__(self, ask: Ask, *, clock: Callable[[], float], guard: float, lock: str = "") -> None:
        """`clock`: steady seconds; `guard`: seconds; `lock`: why the card itself allows nothing now."""
        super().__init__()
        self._card_lock = lock
        self.ask_id = ask.id
        self._ask = ask
        self._chosen = [Chosen(one) for one in allow_for.offers(ask)]
        self._at = 0
        self._drawn: object = None
        self._gate = AnswerGate(self, clock, guard, self._watch)

    def compose(self) -> ComposeResult:
        yield InkedLines(id="head")
        yield InkedLines(id="offers")
        yield InkedBlock(id="what")
        yield RuleEditor(id="editor", soft_wrap=True)
        yield InkedLines(id="note")
        yield InkedLines(id="keys")

    def on_mount(self) -> None:
        self._draw()

    # --- what is shown

    @property
    def chosen(self) -> Chosen:
        """The suggestion that is picked."""
        return self._chosen[self._at]

    @property
    def preview(self) -> Preview | None:
        """What it would have covered, as far as it is known."""
        one = self.chosen
        return self.interlock.store.preview(self.ask_id, one.suggestion.digest, one.edited if one.is_edited else "")

    @property
    def is_editing(self) -> bool:
        """Whether the rule is being written."""
        return self.has_class("-editing")

    def store_changed(self) -> None:
        """The ask ended, or a preview came."""
        ask = self.interlock.store.ask(self.ask_id)
        if ask is None or not ask.is_open:
            self.dismiss(None)
            return
        self._ask = ask
        self._draw()

    def on_resize(self) -> None:
        """Another size is another panel."""
        self._draw()

    def _draw(self) -> None:
        if not self.is_mounted or not self._chosen:
            return
        width = max(self.size.width - 2, 20)
        self.query_one("#head", InkedLines).show(self._head(width))
        rows = [
            row
            for number, one in enumerate(self._chosen)
            for row in allow_for.row(one.suggestion, number + 1, width, picked=number == self._at)
        ]
        self.query_one("#offers", InkedLines).show(rows)
        chosen, preview = self.chosen, self.preview
        height = self.size.height - len(rows) - _AROUND
        if (chosen, preview, height) != self._drawn:
            self._drawn = (chosen, preview, height)
            self.query_one("#what", InkedBlock).show(
                lambda room: allow_for.body(chosen, preview, room, height), chosen.rule or chosen.suggestion.value
            )
        self._watch()

    def _head(self, width: int) -> list[Inked]:
        place = f"{self._at + 1} of {len(self._chosen)}   j/k" if len(self._chosen) > 1 else ""
        said = ink(("allow for longer", "bold accent"), ("   nothing is answered yet", "quiet"))
        ask = self._ask
        asked = (ask.command or ask.prompt or "").split("\n")[0]
        who = f"{ask.agent}   " if ask.agent else ""
        first = fitted(ink((ask.tool, "bold"), "   ", (who, "quiet"), asked), width)
        return [beside(said, ink((place, "quiet")), width), first]

    def _watch(self) -> None:
        """Tell the gate what is in view, and draw which keys are live."""
        if not self.is_mounted:
            return
        block = self.query_one("#what", InkedBlock)
        subject = None if self.is_editing else (self._ask.identity, self._drawn, self.size)
        choices = self._choices
        self._gate.watch(subject, [self._raw_key(c.command) for c in choices])
        lock = allow_for.lock_of(self._ask, card_lock=self._card_lock, end_seen=block.seen_to_end)
        self._show_keys(choices, lock)

    @property
    def _choices(self) -> tuple[Choice, ...]:
        """For how long what is shown can be allowed: a text of the person's own only as the rule that it is."""
        found = standing(self._ask, self.chosen.suggestion) if self._chosen else ()
        return tuple(c for c in found if c.scope == "rule") if self._chosen and self.chosen.is_edited else found

    def _show_keys(self, choices: tuple[Choice, ...], lock: str) -> None:
        width = max(self.size.width - 2, 20)
        if self.is_editing:
            said = " done writing; nothing is kept before you allow by it; an empty text is the suggested one"
            keys = ink(("Esc", "bold"), (said, "quiet"))
            notes = []
        else:
            live = [c for c in choices if not lock and not self._lock_of(c)]
            armed = frozenset(c.command for c in live if self._gate.is_armed(self._raw_key(c.command)))
            labels = {c.command: key_label(self._raw_key(c.command)) for c in choices}
            edit = key_label(self._raw_key(EditRule.name)) if self._can_edit else ""
            keys = allow_for.line(choices, labels, armed, edit_key=edit, back_key=key_label(Back.keys[0]))
            notes = [
                (lock, "mark"),
                (allow_for.rule_lock(self.chosen, self.preview), "bold mark"),
                (allow_for.EDITED_ALONE if self.chosen.is_edited else "", "quiet"),
                (self._gate.hint, "mark"),
            ]
        self.query_one("#keys", InkedLines).show(keys.wrapped(width))
        self.query_one("#note", InkedLines).show(
            [r for text, style in notes if text for r in ink((text, style)).wrapped(width)]
        )

    def _lock_of(self, choice: Choice) -> str:
        return allow_for.rule_lock(self.chosen, self.preview) if choice.scope == "rule" else ""

    def _raw_key(self, command: str) -> str:
        return keys_of(REGISTRY[command], self.interlock.key_changes)[0]

    @on(WrappedView.EndSeen)
    def _end_seen(self) -> None:
        self._watch()

    # --- choosing and writing

    def action_show_help(self) -> None:
        """The keys of this panel."""
        self.interlock.show_panel_help("list", "grant")

    def _pick(self, step: int) -> None:
        if not self.is_editing and self._chosen:
            self._at = (self._at + step) % len(self._chosen)
            self._draw()

    def action_cursor_down(self) -> None:
        self._pick(1)

    def action_cursor_up(self) -> None:
        self._pick(-1)

    def action_page_down(self) -> None:
        self.query_one("#what", InkedBlock).action_page_down()

    def action_page_up(self) -> None:
        self.query_one("#what", InkedBlock).action_page_up()

    def action_go_top(self) -> None:
        self.query_one("#what", InkedBlock).action_go_top()

    def action_go_end(self) -> None:
        self.query_one("#what", InkedBlock).action_go_end()

    @property
    def _can_edit(self) -> bool:
        return bool(self.chosen.suggestion.rule) and "rule" in self.chosen.suggestion.scopes

    def action_edit_rule(self) -> None:
        """Write in the rule."""
        if not self._chosen or not self._can_edit or self.is_editing:
            return
        editor = self.query_one("#editor", RuleEditor)
        editor.text = self.chosen.rule
        editor.add_class("-open")
        self.add_class("-editing")
        self.set_focus(editor)
        self._watch()

    def close_editor(self) -> None:
        """Back to reading, with what was written."""
        editor = self.query_one("#editor", RuleEditor)
        text = editor.text.strip("\n") + "\n" if editor.text.strip() else ""
        same = text in ("", self.chosen.suggestion.rule)
        self._chosen[self._at] = replace(self.chosen, edited="" if same else text)
        editor.remove_class("-open")
        self.remove_class("-editing")
        self.set_focus(None)
        self._draw()

    def action_back(self) -> None:
        if self.is_editing:
            self.close_editor()
        else:
            self._gate.cancel()
            self.dismiss(None)

    # --- answering

    def note_key(self, event: events.Key) -> None:
        """Every key, before it does anything."""
        if not self.is_editing:
            self._gate.note_key(event.key)

    def disturb(self) -> None:
        """A paste, or the terminal came back."""
        self._gate.disturb()

    @property
    def is_sending(self) -> bool:
        """Whether an answer waits to be sent."""
        return self._gate.is_sending

    def _answer(self, command: str) -> None:
        choice, chosen, ask = BY_COMMAND[command], self.chosen, self._ask
        if self.is_editing or choice not in self._choices:
            return
        block = self.query_one("#what", InkedBlock)
        lock = allow_for.lock_of(ask, card_lock=self._card_lock, end_seen=block.seen_to_end) or self._lock_of(choice)
        one = given(ask, choice, suggestion=chosen.suggestion, rule=chosen.edited)
        self._gate.take(lambda: self._leave_with(one), lock)

    def _leave_with(self, one: Given) -> None:
        if self.is_current:
            self.dismiss(one)

    def action_allow_turn(self) -> None:
        self._answer("allow_turn")

    def action_allow_session(self) -> None:
        self._answer("allow_session")

    def action_allow_ten_minutes(self) -> None:
        self._answer("allow_ten_minutes")

    def action_allow_by_rule(self) -> None:
        self._answer("allow_by_rule")
