"""Alike asks answered together (ASK-4): every one is shown in full, and every answer carries its own digest.

Promises: allow waits until the end of the last ask was on the screen; leaving one out, one that ends and one whose card
changes make the keys arm anew; Enter and Space never answer; only "once" and "deny" are given here, never a standing permission.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import REGISTRY, AllowOnce, Back, Deny, ShowHelp, ToggleMark, bind, key_label, keys_of
from interlock.tui.model import alike
from interlock.tui.model.answers import BY_COMMAND
from interlock.tui.model.ask import Ask
from interlock.tui.model.given import Given, given
from interlock.tui.model.inked import Inked, beside, ink
from interlock.tui.model.moment import count
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.answer_gate import AnswerGate
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines
from interlock.tui.widgets.lines import LineList
from interlock.tui.widgets.wrapped import WrappedView


class TogetherScreen(Overlay[tuple[Given, ...]]):
    """Gives the answers, none when the person went back."""

    BINDINGS: ClassVar[list[BindingType]] = bind(AllowOnce, Deny, ToggleMark, ShowHelp)  # type: ignore[assignment]
    DEFAULT_CSS = """
    TogetherScreen { layout: vertical; padding: 0 1; }
    TogetherScreen #list { height: auto; max-height: 30%; min-height: 2; border-top: solid $rule; }
    TogetherScreen #each { height: 1fr; border-top: solid $rule; }
    TogetherScreen #keys { border-top: solid $rule; height: auto; }
    """

    def __init__(self, asks: Sequence[Ask], *, clock: Callable[[], float], guard: float) -> None:
        """`clock`: steady seconds; `guard`: seconds."""
        super().__init__()
        self._asks = tuple(asks)
        self._left_out: set[str] = set()
        self._starts: list[int] = []
        self._gate = AnswerGate(self, clock, guard, self._watch)

    def compose(self) -> ComposeResult:
        yield InkedLines(id="head")
        yield GroupedList[Ask](self._row, lambda ask: ask.id, id="list")
        yield InkedBlock(id="each")
        yield InkedLines(id="keys")

    def _row(self, ask: Ask, width: int) -> Inked:
        return alike.row(ask, ask.id not in self._left_out, width, self.interlock.store.now())

    def on_mount(self) -> None:
        asks = self.query_one("#list", GroupedList)
        asks.opens = False
        asks.focus()
        self._show_each()
        self._draw()

    def store_changed(self) -> None:
        """An ask of them ended: it is taken off, and the keys arm anew."""
        store = self.interlock.store
        now = [found for ask in self._asks if (found := store.ask(ask.id)) is not None]
        kept = tuple(one for one in now if one.is_open and one.digest == self._of(one.id).digest)
        if [one.id for one in kept] != [one.id for one in self._asks]:
            self._asks = kept
            if not kept:
                self.dismiss(())
                return
            self._show_each()
        self._draw()

    def _of(self, ask_id: str) -> Ask:
        return next(ask for ask in self._asks if ask.id == ask_id)

    @property
    def marked(self) -> tuple[Ask, ...]:
        """The asks that would be answered."""
        return tuple(ask for ask in self._asks if ask.id not in self._left_out)

    def _show_each(self) -> None:
        asks = self._asks

        def build(width: int) -> list[Inked]:
            rows, self._starts = alike.previews(asks, width)
            return rows

        self.query_one("#each", InkedBlock).show(build, "\n".join(ask.command or ask.prompt for ask in asks))

    def _draw(self) -> None:
        width = max(self.size.width - 2, 20)
        said = ink(
            ("answer together", "bold accent"),
            (f"   {count(len(self._asks), 'ask')} alike, each shown in full", "quiet"),
        )
        right = ink((alike.verdict_words(len(self.marked), len(self._asks)), "bold"))
        self.query_one("#head", InkedLines).show([beside(said, right, width)])
        self.query_one("#list", GroupedList).show_items(self._asks)
        self._watch()

    def on_resize(self) -> None:
        """Another size is another card."""
        if self.is_mounted:
            self._draw()

    # --- the gate

    @property
    def _lock(self) -> str:
        block = self.query_one("#each", InkedBlock)
        if not self.marked:
            return "none is marked"
        return "" if block.seen_to_end else f"{block.rows_below:,} more lines below: read to the end to allow"

    def _watch(self) -> None:
        if not self.is_mounted:
            return
        subject = (tuple(ask.identity for ask in self._asks), frozenset(self._left_out), self.size)
        keys = {name: keys_of(REGISTRY[name], self.interlock.key_changes)[0] for name in ("allow_once", "deny")}
        self._gate.watch(subject if self.marked else None, keys.values())
        lock, number = self._lock, len(self.marked)
        line = ink(("▸ ", "bold ok")) if any(map(self._gate.is_armed, keys.values())) else ink(("· ", "quiet"))
        for name, words in (("allow_once", f"allow {number} once"), ("deny", f"deny {number}")):
            live = bool(number) and self._gate.is_armed(keys[name]) and not (name == "allow_once" and lock)
            colour = ("bold ok" if name == "allow_once" else "bold denied") if live else "quiet"
            line = line.joined(ink((key_label(keys[name]), colour), (f" {words}   ", "" if live else "quiet")))
        line = line.joined(ink(("x", "bold"), (" leave out   ", "quiet"), ("j/k", "bold"), (" show each   ", "quiet")))
        line = line.joined(ink((key_label(Back.keys[0]), "bold"), (" back", "quiet")))
        width = max(self.size.width - 2, 20)
        notes = [row for text in (lock, self._gate.hint) if text for row in ink((text, "mark")).wrapped(width)]
        self.query_one("#keys", InkedLines).show([*line.wrapped(width), *notes])

    @on(WrappedView.EndSeen)
    def _end_seen(self) -> None:
        self._watch()

    @on(LineList.Highlighted, "#list")
    def _highlighted(self, event: LineList.Highlighted) -> None:
        if event.index < len(self._starts):
            self.query_one("#each", InkedBlock).scroll_to(y=self._starts[event.index], animate=False, force=True)

    def note_key(self, event: events.Key) -> None:
        """Every key, before it does anything."""
        self._gate.note_key(event.key)

    def disturb(self) -> None:
        """A paste, or the terminal came back."""
        self._gate.disturb()

    @property
    def is_sending(self) -> bool:
        """Whether answers wait to be sent."""
        return self._gate.is_sending

    # --- what a person does

    def action_show_help(self) -> None:
        """The keys of this panel."""
        self.interlock.show_panel_help("list", "together")

    def action_toggle_mark(self) -> None:
        """Leave the ask under the cursor out, or take it in again."""
        ask = self.query_one("#list", GroupedList).item
        if ask is not None:
            self._left_out ^= {ask.id}
            self._draw()

    def action_allow_once(self) -> None:
        self._answer("allow_once", self._lock)

    def action_deny(self) -> None:
        self._answer("deny", "" if self.marked else self._lock)

    def _answer(self, command: str, lock: str) -> None:
        asks = tuple(given(ask, BY_COMMAND[command]) for ask in self.marked)
        self._gate.take(lambda: self._leave_with(asks), lock)

    def _leave_with(self, asks: tuple[Given, ...]) -> None:
        if self.is_current:
            self.dismiss(asks)

    def action_back(self) -> None:
        self._gate.cancel()
        self.dismiss(())
