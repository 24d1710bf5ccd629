"""The ask card (UI-2, UI-4): one ask, whole, with its answer line.

Promises: what is shown is what is answered (the digest goes along); no answer before the guard time, none while text
below was not on screen; a burst of keys is a paste and answers nothing; errors stand in their own line and cover
nothing; an ask that ended stays on the card with its cause until the person moves on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from interlock.tui.commands import REGISTRY, AllowFor, ShowHelp, ShowWhole, key_label
from interlock.tui.model import answers, card
from interlock.tui.model.answers import BY_COMMAND, Choice
from interlock.tui.model.ask import Ask
from interlock.tui.model.guard import GUARD_SECONDS
from interlock.tui.model.inked import Inked, ink
from interlock.tui.widgets.answer_gate import AnswerGate
from interlock.tui.widgets.diff_view import DiffView
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines
from interlock.tui.widgets.message_input import MessageInput
from interlock.tui.widgets.wrapped import WrappedView

LEAST_BODY = 4
"""Rows of text that facts must leave."""


class AskCard(Widget):
    """Shows one ask, or teaches what would be here. `show` it, tell it every key with `note_key`."""

    DEFAULT_CSS = """
    AskCard { layout: vertical; background: $background; padding: 0 1; }
    AskCard > #body { height: 1fr; }
    AskCard #text, AskCard #diff { height: 1fr; }
    AskCard #facts { border-top: solid $rule; }
    AskCard #answers { margin-top: 1; }
    AskCard.-short #answers { margin-top: 0; }
    AskCard.-short #facts { border-top: none; }
    AskCard .hidden { display: none; }
    """

    class Answered(Message):
        """The person has answered exactly this ask."""

        def __init__(self, ask: Ask, choice: Choice, message: str | None = None) -> None:
            super().__init__()
            self.ask, self.choice, self.message = ask, choice, message

    class Drawn(Message):
        """An open ask has come into view."""

        def __init__(self, ask_id: str) -> None:
            super().__init__()
            self.ask_id = ask_id

    def __init__(
        self,
        *,
        now: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
        guard: float = GUARD_SECONDS,
        empty: tuple[str, ...] = (),
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        """`now`: microseconds since 1970; `clock`: steady seconds; `guard`: seconds; `empty`: our lines without an ask."""
        super().__init__(id=id)
        self.ask: Ask | None = None
        self._place = ""
        self._now = now
        self._gate = AnswerGate(self, clock, guard, self._watch)
        self._empty = empty
        self._folded = 0
        self._body_rows = 0
        """Rows of the text, as it was drawn last; a diff counts its own."""
        self._end_asked = False
        self._in_view = False
        self._said = ""
        """Our words about the last key, before the gate's own."""
        self._noted = ""
        """Those that were drawn last."""
        self._writes = "deny_and_say"
        """The answer whose words are written, or were last."""
        self._says_what_stands = True
        """Whether the row that says what a longer allow covers is drawn."""

    def compose(self) -> ComposeResult:
        yield InkedLines(id="head")
        with Vertical(id="body"):
            yield InkedBlock(id="text")
            yield DiffView(id="diff")
        yield InkedLines(id="facts")
        yield InkedLines(id="note")
        yield MessageInput(id="message", classes="hidden")
        yield InkedLines(id="answers")

    def on_mount(self) -> None:
        self._draw(anew=True)

    # --- what is shown

    def show(self, ask: Ask | None, place: str = "") -> None:
        """Show this ask. Another one begins at its top, unarmed, with the message editor closed."""
        before, self.ask, self._place = self.ask, ask, place
        if ask is None or before is None or ask.id != before.id:
            self._said = self._gate.hint = ""
            self._gate.cancel()
            self.close_message()
        anew = (before and before.identity) != (ask and ask.identity)
        if anew and ask is not None and (before is None or (before.id, before.digest) != (ask.id, ask.digest)):
            self._end_asked = False
        if self.is_mounted:
            self._draw(anew=anew or before is None)

    def set_in_view(self, value: bool) -> None:
        """Whether the card is on the screen and on top; the guard time runs only then."""
        self._in_view = value
        self._watch()

    @property
    def body(self) -> WrappedView:
        """The part that scrolls."""
        is_diff = self.ask is not None and self.ask.diff is not None
        return self.query_one("#diff", DiffView) if is_diff else self.query_one("#text", InkedBlock)

    def _draw(self, *, anew: bool) -> None:
        ask = self.ask
        for name in ("#facts", "#answers", "#body"):
            self.query_one(name).set_class(ask is None, "hidden")
        if ask is None:
            self.query_one("#head", InkedLines).show([ink((text, "quiet")) for text in ("", *self._empty)])
            self.query_one("#note", InkedLines).show(())
            self._watch()
            return
        if anew:
            self._draw_body(ask)
        self._draw_frame()
        self._watch()

    def _draw_body(self, ask: Ask) -> None:
        text, diff = self.query_one("#text", InkedBlock), self.query_one("#diff", DiffView)
        text.set_class(ask.diff is not None, "hidden")
        diff.set_class(ask.diff is None, "hidden")
        if ask.diff is not None:
            self._folded = 0
            if diff.source_text != ask.diff:
                diff.show_diff(ask.diff)
            return

        def build(width: int) -> tuple[Inked, ...]:
            body = card.body(ask, width)
            self._folded = body.folded
            self._body_rows = len(body.lines)
            return body.lines

        source = ask.command if ask.command is not None else card.flat(ask.input)
        text.show(build, source)

    def _draw_frame(self) -> None:
        """Head, facts, note and answer line: all that depends on time and room."""
        ask = self.ask
        if ask is None:
            return
        width = max(self.size.width - 2, 20)
        self.set_class(self.size.height < 20, "-short")
        head = card.head(ask, width, self._now(), self._place)
        note = self._note(width)
        self.query_one("#head", InkedLines).show(head)
        self.query_one("#note", InkedLines).show(note)
        kept = card.kept_facts(card.facts(ask, width), self._room_for_facts(len(head) + len(note)))
        # what `s` would allow must be seen for `s` to be live
        self._says_what_stands = not ask.suggestions or any(fact.name == card.COVERS for fact in kept)
        facts = self.query_one("#facts", InkedLines)
        facts.show([line for fact in kept for line in fact.lines])
        facts.set_class(not kept, "hidden")
        self._draw_answers()

    def _room_for_facts(self, above: int) -> int:
        """Rows that facts may take: the text comes first, where it can be had whole; a long one scrolls beside them."""
        free = self.size.height - above - 4
        rows = self.body.rows_total if self.ask is not None and self.ask.diff is not None else self._body_rows
        needed = rows if rows <= free else max(LEAST_BODY, free * 2 // 3)
        return max(free - max(needed, LEAST_BODY), 0)

    def _note(self, width: int) -> list[Inked]:
        assert self.ask is not None
        words, style = answers.state_of(self.ask)
        found = [
            (self.ask.covered, "ok"),
            (words, style),
            (self.ask.fault, "bold failed"),
            (self._said or self._gate.hint, "mark"),
        ]
        return [row for text, ink_style in found if text for row in ink((text, ink_style)).wrapped(width)]

    def _draw_answers(self) -> None:
        ask = self.ask
        if ask is None:
            return
        lines = []
        if ask.is_open and not self.is_writing:
            lock = self.locked_because
            keys = {choice.command: self._key(choice.command) for choice in self._offered(ask)}
            armed = frozenset(c for c in keys if self._gate.is_armed(self._raw_key(c)))
            width = self.size.width - 2
            lines = [
                answers.line(
                    ask,
                    keys,
                    armed=armed,
                    lock=lock,
                    whole_key=self._key(ShowWhole.name),
                    help_key=self._key(ShowHelp.name),
                    for_key=self._key(AllowFor.name) if answers.may_stand(ask) else "",
                    room=width,
                )
            ]
            lines = [row for line in lines for row in line.wrapped(max(width, 20))]
            if lock:
                lines.append(ink((f"allow is locked: {lock}", "mark")))
        self.query_one("#answers", InkedLines).show(lines)

    def _offered(self, ask: Ask | None) -> tuple[Choice, ...]:
        """What can be answered on this card as it is drawn."""
        found = answers.offered(ask)
        return found if self._says_what_stands else tuple(c for c in found if c.command != "allow_session")

    def _raw_key(self, command: str) -> str:
        changes = getattr(self.app, "key_changes", {})
        return (changes.get(command) or ",".join(REGISTRY[command].keys)).split(",")[0]

    def _key(self, command: str) -> str:
        return key_label(self._raw_key(command))

    @property
    def locked_because(self) -> str:
        """Why allow is not live apart from the guard, or nothing."""
        if self.ask is None:
            return "nothing is asked"
        body = self.body
        return answers.lock_of(
            self.ask,
            end_seen=body.seen_to_end,
            rows_below=body.rows_below + 1 if body.rows_below else 0,
            folded=self._folded,
            end_asked=self._end_asked,
        )

    def tick(self) -> None:
        """A second has passed: the times of the head grow, and the rest stays unless the head wants other room."""
        if self.ask is None or not self.ask.is_open or not self._in_view:
            return
        shown = self.query_one("#head", InkedLines)
        head = card.head(self.ask, max(self.size.width - 2, 20), self._now(), self._place)
        if len(head) == len(shown.lines):
            shown.show(head)
        else:
            self._draw_frame()

    # --- the guard

    def _watch(self) -> None:
        """Tell the guard what is in view, and come back when it is armed."""
        ask = self.ask if self._in_view else None
        subject = (ask.identity, self.size) if ask is not None and ask.is_open else None
        self._gate.watch(subject, [self._raw_key(choice.command) for choice in self._offered(ask)])
        if self._noted != (words := self._said or self._gate.hint):
            self._noted = words
            self._draw_frame()
        else:
            self._draw_answers()
        if ask is not None and ask.is_open and not ask.missing:
            self.post_message(self.Drawn(ask.id))

    def is_armed(self, command: str) -> bool:
        """Whether the key of this answer would count now."""
        choice = BY_COMMAND[command]
        locked = bool(self.locked_because) and choice.answer == "allow"
        return not locked and self._gate.is_armed(self._raw_key(command))

    def note_key(self, key: str) -> None:
        """Every key of the screen, before it does anything: the guard time begins anew."""
        self._gate.note_key(key)

    def disturb(self) -> None:
        """A paste, a drag, the terminal coming back: the guard time begins anew."""
        self._gate.disturb()

    def on_resize(self, _event: events.Resize) -> None:
        """Another size is another card."""
        self._draw_frame()
        self._watch()

    @on(WrappedView.EndSeen)
    def _end_seen(self) -> None:
        self._watch()

    @on(InkedBlock.EndAsked)
    def _end_was_asked(self) -> None:
        self._end_asked = True
        self._watch()

    # --- answering

    def answer(self, command: str) -> None:
        """The key of an answer was pressed."""
        choice, ask = BY_COMMAND[command], self.ask
        if ask is None or not self._in_view:
            return
        self._said = ""
        if choice not in self._offered(ask):
            self._say(f"{choice.label} is not offered for this ask" if ask.is_open else "")
            return
        lock = self.locked_because if choice.answer == "allow" else ""
        if command in answers.WRITTEN:
            self._gate.take(lambda: self._open_message(command), lock, at_once=True)
        else:
            self._gate.take(lambda: self._send(ask, choice), lock)

    def _send(self, ask: Ask, choice: Choice, message: str | None = None) -> None:
        if self.ask is not None and self.ask.identity == ask.identity and self._in_view:
            self.post_message(self.Answered(ask, choice, message))

    @property
    def is_sending(self) -> bool:
        """Whether an answer waits to be sent."""
        return self._gate.is_sending

    def say(self, words: str) -> None:
        """Our words about the last key, in their own line; empty to say nothing."""
        self._say(words)

    def _say(self, words: str) -> None:
        self._said, self._gate.hint = words, ""
        self._watch()

    # --- deny and say

    @property
    def is_writing(self) -> bool:
        """Whether the message editor is open."""
        return not self.query_one("#message").has_class("hidden") if self.is_mounted else False

    def _open_message(self, command: str) -> None:
        self._writes, (says, words) = command, answers.WRITTEN[command]
        editor = self.query_one("#message", MessageInput)
        editor.value = words
        editor.remove_class("hidden")
        editor.focus()
        self._say(says)

    def close_message(self) -> None:
        """Back to the card; nothing is sent."""
        if self.is_writing:
            editor = self.query_one("#message", MessageInput)
            had_focus = editor.has_focus
            editor.add_class("hidden")
            self._say("")
            if had_focus:
                self.body.focus()

    @on(MessageInput.Left)
    def _left(self) -> None:
        self.close_message()

    @on(Input.Submitted, "#message")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        ask = self.ask
        if not event.value.strip():
            self._say("the message is empty: write why, or Esc goes back")
        elif ask is None or not ask.offers("deny.message"):
            self._say("this ask is no longer open: nothing was sent")
        else:
            self.close_message()
            self._send(ask, BY_COMMAND[self._writes], event.value)
