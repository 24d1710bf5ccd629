"""The inbox: what waits for a person, and the card that answers it (UI-1).

Promises: a new ask never changes the card, the cursor or the focus; after an answer the next ask takes its place,
unarmed; an ask that ended under the person's eyes stays with its cause until they move on. Side by side from 100
columns on, else list and card are two steps.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from interlock.tui.commands import (
    MOVES,
    AllowFor,
    AllowOnce,
    AllowSession,
    AnswerTogether,
    AskToExplain,
    CopySource,
    Deny,
    DenyAndSay,
    Find,
    ShowRecord,
    ShowWhole,
    UndoAnswer,
    bind,
)
from interlock.tui.model.alike import alike
from interlock.tui.model.answers import BY_COMMAND, may_stand, offered, why_only_once
from interlock.tui.model.ask import Ask
from interlock.tui.model.given import Given, given
from interlock.tui.model.inbox import InboxRow, place, row_age, row_line, rows
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.ask_card import AskCard
from interlock.tui.widgets.filter_input import FilterInput
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.lines import LineList

SIDE_BY_SIDE = 100
"""Columns from which list and card stand beside each other."""
CARD_LEAST = (40, 12)
"""A card smaller than this cannot show the answer line and some text."""
_MOVES = frozenset(key for command in MOVES for key in command.keys)
EMPTY = (
    "Nothing waits for you.",
    "",
    "When an agent asks to run or change something, it stands here.",
    "`interlock demo` shows how that looks: two scripted agents on a scratch project.",
)
NOTHING_CHOSEN = (
    "No ask is chosen.",
    "",
    "Enter opens the session under the cursor; n goes to the next ask that waits.",
)


class InboxScreen(FrameScreen):
    """View 1."""

    view = "Inbox"
    places = ("list", "card", "text")
    BINDINGS: ClassVar[list[BindingType]] = bind(  # type: ignore[assignment]
        AllowOnce,
        AllowSession,
        AllowFor,
        Deny,
        DenyAndSay,
        AskToExplain,
        AnswerTogether,
        UndoAnswer,
        ShowWhole,
        ShowRecord,
        CopySource,
        Find,
    )
    DEFAULT_CSS = """
    InboxScreen #panes { height: 1fr; }
    InboxScreen #left { width: 1fr; max-width: 60; min-width: 38; padding-right: 1; }
    InboxScreen AskCard { width: 2fr; border-left: solid $rule; }
    InboxScreen.-steps #left { width: 1fr; max-width: 100%; }
    InboxScreen.-steps AskCard { display: none; border-left: none; width: 1fr; }
    InboxScreen.-steps.-card #left { display: none; }
    InboxScreen.-steps.-card AskCard { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.reading = ""
        """Id of the ask on the card."""
        self._own: set[str] = set()
        """Asks that were answered here and whose record has not come back."""
        self._drawn: set[str] = set()

    def compose_content(self) -> ComposeResult:
        app = self.interlock
        with Horizontal(id="panes"):
            yield GroupedList[InboxRow](
                lambda row, width: row_line(row, width, self.store.now(), ascii_only=app.ascii_only),
                lambda row: row.key,
                lambda row: row.kind in ("ask", "session"),
                age=lambda row: row_age(row, self.store.now()),
                empty=EMPTY,
                id="left",
            )
            yield AskCard(
                now=lambda: self.store.now(), clock=app.clock, guard=app.guard_seconds, empty=NOTHING_CHOSEN, id="card"
            )
        yield FilterInput(id="filter")

    @property
    def list(self) -> GroupedList[InboxRow]:
        """The list."""
        return self.query_one("#left", GroupedList)

    @property
    def card(self) -> AskCard:
        """The card."""
        return self.query_one("#card", AskCard)

    def on_mount(self) -> None:
        self.list.focus()

    # --- rows

    def tick(self) -> None:
        """A second has passed: the card's times grow with those of the list, in one frame."""
        super().tick()
        if self.is_current:
            self.card.tick()

    def refresh_rows(self) -> None:
        """Pull rows; the card keeps its ask whatever happens to the list."""
        asks = self.store.asks
        self._settle_own(asks)
        self._forget_ended(asks)
        known = {ask.id: ask for ask in self.store.asks}
        words = self.query_one("#filter", FilterInput).words
        self._take_first(known)
        self.list.show_items(rows(list(known.values()), self.store.sessions, self.store.now(), words=words))
        self._follow_cursor()
        self._lay_out()
        self._show_card(known)

    def _take_first(self, known: dict[str, Ask]) -> None:
        """An empty card takes the first ask, unless the person put the cursor on something else."""
        if not self.reading and not self._is_parked:
            self.reading = next((ask.id for ask in known.values() if ask.is_open), "")

    _is_parked = False
    """Whether the person moved the cursor to a session."""
    _last_key = ""
    _clicked = False

    def _settle_own(self, asks: list[Ask]) -> None:
        for ask in asks:
            if ask.id in self._own and ask.stage in ("answered", "closed"):
                self._own.discard(ask.id)
                if ask.stage == "answered" and ask.id == self.reading:
                    self._go_on(asks, ask)
            elif ask.id in self._own and ask.is_open:
                self._own.discard(ask.id)

    def _go_on(self, asks: list[Ask], done: Ask) -> None:
        """The record of the person's own answer came back: the next ask takes the place, unarmed."""
        ids = [ask.id for ask in asks if ask.is_open or ask.id == done.id]
        at = ids.index(done.id)
        following = ids[at + 1] if at + 1 < len(ids) else ids[at - 1] if at else ""
        self.interlock.tell(f"{done.tool} {done.prompt or done.command or ''}", done.outcome)
        self.reading = following
        if not following:
            self.remove_class("-card")
            self.list.focus()

    def _forget_ended(self, asks: list[Ask]) -> None:
        for ask in asks:
            if ask.stage in ("answered", "closed") and ask.id != self.reading:
                self.store.forget(ask.id)

    def _follow_cursor(self) -> None:
        """Keep the cursor on the ask that is read, when it is on an ask at all."""
        if self.reading and not self._is_parked and not self._is_over and self.list.key != f"ask:{self.reading}":
            self.list.select(f"ask:{self.reading}")

    def _show_card(self, known: dict[str, Ask]) -> None:
        ask = known.get(self.reading)
        self.card.show(ask, place(list(known.values()), self.reading) if ask else "")
        self.card.set_in_view(self._card_in_view)

    @property
    def _is_over(self) -> bool:
        """Whether the ask on the card has ended; it has no row then."""
        ask = self.store.ask(self.reading) if self.reading else None
        return ask is not None and ask.is_over

    @property
    def _steps_open(self) -> bool:
        return self.has_class("-card")

    @property
    def _card_in_view(self) -> bool:
        fits = self.size.width >= CARD_LEAST[0] and self.size.height >= CARD_LEAST[1]
        return self.is_current and fits and (not self.has_class("-steps") or self._steps_open)

    def _lay_out(self) -> None:
        self.set_class(self.size.width < SIDE_BY_SIDE, "-steps")
        if self.size.width < CARD_LEAST[0] or self.size.height < CARD_LEAST[1]:
            self.list.remove_class("hidden")

    # --- moving

    @on(LineList.Highlighted, "#left")
    def _highlighted(self, event: LineList.Highlighted) -> None:
        item = self.list.item
        by_person = self._last_key in _MOVES or self._clicked
        self._clicked = False
        if self._is_over and not by_person:
            return  # its row has gone and the cursor stands on another: what is read stays
        self._last_key = ""
        if item is not None and item.ask is not None:
            self._is_parked = False
            self.read(item.ask.id)
        elif item is not None and item.kind == "session" and not self._steps_open and by_person:
            self._is_parked = True
            self.read("")

    @on(LineList.Selected, "#left")
    def _selected(self, event: LineList.Selected) -> None:
        item = self.list.item
        if item is None:
            return
        if item.ask is not None:
            self.open_card(item.ask.id)
        elif item.session is not None:
            self.interlock.open_session(item.session.id)

    def read(self, ask_id: str) -> None:
        """Put this ask on the card; empty: none."""
        if ask_id == self.reading or self.card.is_writing:
            return
        self.reading = ask_id
        self.call_after_refresh(self.changed)

    def open_card(self, ask_id: str) -> None:
        """Read this ask with the card on top and the focus in its text."""
        self._is_parked = False
        if not self.card.is_writing:
            self.reading = ask_id
        if self.size.width >= CARD_LEAST[0] and self.size.height >= CARD_LEAST[1]:
            self.add_class("-card")
            self.changed()
            self.set_focus(self.card.body)  # now, for the next key may be here already

    def go_to_waiting(self, step: int) -> None:
        """The next or previous ask that waits, from where the person is."""
        waiting = [ask.id for ask in self.store.asks if ask.is_open]
        if not waiting:
            if self._is_over:
                self.reading = ""
                self.changed()
            return
        if self.reading in waiting:
            target = waiting[(waiting.index(self.reading) + step) % len(waiting)]
        else:
            target = waiting[0 if step > 0 else -1]
        self.open_card(target)
        self.list.select(f"ask:{target}")

    def action_back(self) -> None:
        if self.card.is_writing:
            self.card.close_message()
        elif self._steps_open:
            self.remove_class("-card")
            self.list.focus()
            self.changed()
        elif self.query_one("#filter", FilterInput).words:
            self.query_one("#filter", FilterInput).clear_words()

    def action_find(self) -> None:
        """Open the filter."""
        self.query_one("#filter", FilterInput).open()

    @on(FilterInput.Filtered)
    def _filtered(self) -> None:
        self.changed()

    @on(FilterInput.Left)
    def _filter_left(self) -> None:
        self.list.focus()

    def action_open_row(self) -> None:
        """Enter, when the list has not the focus: never an answer."""

    def action_show_whole(self) -> None:
        """Everything of the ask on the whole screen."""
        ask = self.store.ask(self.reading)
        if ask is not None:
            self.interlock.show_whole(ask)

    def action_show_record(self) -> None:
        """The session of the ask, where its record is."""
        ask = self.store.ask(self.reading)
        if ask is not None:
            self.interlock.open_session(ask.session)

    def action_copy_source(self) -> None:
        """The raw text of the ask."""
        ask = self.store.ask(self.reading)
        if ask is not None:
            self.interlock.copy(ask.diff if ask.diff is not None else self.card.body.source_text)

    # --- answering

    def note_key(self, event: events.Key) -> None:
        """Every key, before it does anything."""
        super().note_key(event)
        self._last_key = event.key
        self.card.note_key(event.key)

    @property
    def is_sending(self) -> bool:
        """Whether an answer waits to be sent."""
        return self.card.is_sending

    def disturb(self) -> None:
        """A paste, or the terminal came back."""
        if self.is_mounted:
            self.card.disturb()

    def on_click(self, event: events.Click) -> None:
        """A click in the list moves the cursor by hand."""
        self._clicked = True

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """A drag restarts the guard time."""
        if event.button:
            self.disturb()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An answer is bound only where its ask offers it."""
        if action in BY_COMMAND:
            ask = self.store.ask(self.reading) if self.is_mounted else None
            return ask is not None and (BY_COMMAND[action] in offered(ask)) and self._card_in_view
        return super().check_action(action, parameters)

    def action_allow_once(self) -> None:
        self.card.answer("allow_once")

    def action_allow_session(self) -> None:
        self.card.answer("allow_session")

    def action_deny(self) -> None:
        self.card.answer("deny")

    def action_deny_and_say(self) -> None:
        self.card.answer("deny_and_say")

    def action_ask_to_explain(self) -> None:
        self.card.answer("ask_to_explain")

    @on(AskCard.Answered)
    def _answered(self, event: AskCard.Answered) -> None:
        self._send(given(event.ask, event.choice, message=event.message))

    def _send(self, *answers: Given) -> None:
        self._own |= {one.ask_id for one in answers}
        self.store.answer(*answers)

    def action_allow_for(self) -> None:
        """Longer than once: what and until when is chosen on top."""
        from interlock.tui.screens.allow_for import AllowForScreen

        ask = self.store.ask(self.reading)
        if ask is None or not self._card_in_view:
            return
        if not may_stand(ask):
            self.card.say(f"only once: {why_only_once(ask)}" if ask.is_open else "")
            return
        app, lock = self.interlock, self.card.locked_because
        screen = AllowForScreen(ask, clock=app.clock, guard=app.guard_seconds, lock=lock)
        self.app.push_screen(screen, lambda one: self._send(one) if one is not None else None)

    def action_answer_together(self) -> None:
        """Those that are like the one on the card, together."""
        from interlock.tui.screens.together import TogetherScreen

        ask = self.store.ask(self.reading)
        found = alike(ask, self.store.asks) if ask is not None else ()
        if len(found) < 2:
            self.card.say("no other ask that waits is like this one")
            return
        screen = TogetherScreen(found, clock=self.interlock.clock, guard=self.interlock.guard_seconds)
        self.app.push_screen(screen, lambda answers: self._send(*answers) if answers else None)

    def action_undo_answer(self) -> None:
        """Take back the last standing permission."""
        self.interlock.undo()

    @on(AskCard.Drawn)
    def _was_drawn(self, event: AskCard.Drawn) -> None:
        if event.ask_id not in self._drawn:
            self._drawn.add(event.ask_id)
            self.store.shown(event.ask_id)

    @on(Input.Changed, "#message")
    def _writing(self, event: Input.Changed) -> None:
        event.stop()
