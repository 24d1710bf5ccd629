"""One session: its timeline, and everything about the row under the cursor (UI-6, UI-7).

Promises: new rows never move what is read; the details are read in a thread and belong to the row that is chosen when
they arrive; a journal that cannot be read is said in the head, and the screen lives on.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from interlock.runtime.state.timeline import Row
from interlock.tui.call_reader import Reading, read_call
from interlock.tui.commands import (
    CopySource,
    Find,
    NextCall,
    NextTab,
    OpenArtifact,
    OpenEditor,
    PreviousCall,
    PreviousTab,
    ShowRecord,
    ToggleFollow,
    bind,
)
from interlock.tui.feed import Feed
from interlock.tui.model.inked import ink
from interlock.tui.model.session_list import session_head
from interlock.tui.model.waterfall import legend
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.call_details import CallDetails
from interlock.tui.widgets.filter_input import FilterInput
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.lines import LineList
from interlock.tui.widgets.waterfall import Waterfall

SIDE_BY_SIDE = 110
"""Columns from which timeline and details stand beside each other."""
DIFF_LIMIT = 4 * 1024 * 1024
"""Bytes of a diff that are shown in place."""


class SessionScreen(FrameScreen):
    """A session on top of a view; Esc closes it."""

    places = ("list", "session", "text")
    BINDINGS: ClassVar[list[BindingType]] = bind(  # type: ignore[assignment]
        OpenArtifact,
        OpenEditor,
        ShowRecord,
        CopySource,
        Find,
        PreviousCall,
        NextCall,
        NextTab,
        PreviousTab,
        ToggleFollow,
    )
    DEFAULT_CSS = """
    SessionScreen #panes { height: 1fr; }
    SessionScreen #top { padding: 0 1; border-bottom: solid $rule; }
    SessionScreen #timeline { width: 3fr; }
    SessionScreen #details { width: 2fr; border-left: solid $rule; }
    SessionScreen #legend { padding: 0 1; }
    SessionScreen.-steps #details { display: none; border-left: none; width: 1fr; }
    SessionScreen.-steps.-details #details { display: block; }
    SessionScreen.-steps.-details #timeline { display: none; }
    """

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self._feed: Feed | None = None
        self._seen = -1
        self._shown: tuple[str, str, int] | None = None

    @property
    def feed(self) -> Feed:
        """The session as it is followed; opened when the screen is first used."""
        if self._feed is None:
            self._feed = self.store.open_session(self.session_id)
        return self._feed

    def compose_content(self) -> ComposeResult:
        yield InkedLines(id="top")
        with Horizontal(id="panes"):
            yield Waterfall(self.feed, self.store.now, ascii_only=self.interlock.ascii_only, id="timeline")
            yield CallDetails(id="details")
        yield InkedLines(id="legend")
        yield FilterInput(id="filter")

    def on_mount(self) -> None:
        super().on_mount()
        self.timeline.follow = True
        self.timeline.focus()

    def on_unmount(self) -> None:
        """Give the session back."""
        self.store.leave_session(self.session_id)

    @property
    def timeline(self) -> Waterfall:
        """The list of rows."""
        return self.query_one("#timeline", Waterfall)

    @property
    def details(self) -> CallDetails:
        """The pane of tabs."""
        return self.query_one("#details", CallDetails)

    # --- drawing

    def refresh_rows(self) -> None:
        """Take over what the feed has read."""
        feed, first = self.feed, self._seen < 0
        self.set_class(self.size.width < SIDE_BY_SIDE, "-steps")
        if feed.version != self._seen:
            self._seen = feed.version
            self.timeline.changed()
            if first and self.timeline.row_count:
                self.timeline.action_go_end()
            elif first:
                self._seen = -1 if not feed.complete else self._seen
        row = feed.row(self.store.now())
        width = max(self.size.width - 2, 20)
        self.query_one("#top", InkedLines).show(
            session_head(row, width, self.store.now(), ascii_only=self.interlock.ascii_only)
        )
        self._draw_legend()
        self._read()

    def _draw_legend(self) -> None:
        note = ink(("   reading the rest of the journal…", "mark")) if self.feed.is_partial else ink("")
        place = self.timeline.index
        where = f"   row {place + 1:,} of {self.feed.count:,}" if place is not None else ""
        follow = "   following" if self.timeline.follow and self.timeline.is_at_end else ""
        bars = legend(self.timeline.scale, ascii_only=self.interlock.ascii_only)
        self.query_one("#legend", InkedLines).show([bars.joined(ink((where + follow, "quiet"))).joined(note)])

    def tick(self) -> None:
        """Bars of what runs grow, ages too."""
        if self.is_current:
            if self.feed.state.running or self.feed.state.asks:
                self.timeline.changed()
            self.changed()

    # --- details

    @on(LineList.Highlighted, "#timeline")
    def _highlighted(self, event: LineList.Highlighted) -> None:
        self._draw_legend()
        self._read()

    def _read(self) -> None:
        row = self.timeline.chosen
        state = (self.timeline.key or "", row.outcome, row.observation_offset) if row is not None else None
        if row is not None and state != self._shown:
            self._shown = state
            self._load(row)

    @work(exclusive=True, group="details", exit_on_error=False)
    async def _load(self, row: Row) -> None:
        reading = await asyncio.to_thread(read_call, self.feed, row)
        diff = await asyncio.to_thread(self._diff, reading)
        note = "some lines of this call lie too far apart to be collected here" if reading.gap else ""
        self.details.show(reading.record, diff, note)

    def _diff(self, reading: Reading) -> str:
        relative = reading.record.diff_path
        if not relative:
            return ""
        from interlock.runtime.journal.artifacts import ArtifactError, inside

        try:
            with open(inside(self.feed.follower.folder, relative), "rb") as file:
                data = file.read(DIFF_LIMIT + 1)
        except (ArtifactError, OSError) as error:
            return f"the diff cannot be read: {error}\n"
        more = "\n… the diff goes on: o opens the whole\n" if len(data) > DIFF_LIMIT else ""
        return data[:DIFF_LIMIT].decode("utf-8", "replace") + more

    # --- commands

    @on(LineList.Selected, "#timeline")
    def _selected(self, event: LineList.Selected) -> None:
        if self.has_class("-steps"):
            self.add_class("-details")
        self.call_after_refresh(self.details.body.focus)

    def action_back(self) -> None:
        """One step back: from the details to the timeline, from there to the view below."""
        if self.has_class("-details"):
            self.remove_class("-details")
            self.timeline.focus()
        elif self.query_one("#filter", FilterInput).has_class("-open"):
            self.query_one("#filter", FilterInput).clear_words()
        elif self.details.body.has_focus:
            self.timeline.focus()
        else:
            self.dismiss()

    def action_next_call(self) -> None:
        self._step(1)

    def action_previous_call(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        place = self.timeline.index
        while place is not None and 0 <= (place := place + step) < self.feed.count:
            if self.feed.timeline.row(place).kind == "call":
                self.timeline.select(self.timeline.rows.key(place))
                return

    def action_next_tab(self) -> None:
        self.details.turn(1)

    def action_previous_tab(self) -> None:
        self.details.turn(-1)

    def action_toggle_follow(self) -> None:
        """Follow, also while the details have the focus."""
        self.timeline.action_toggle_follow()
        self._draw_legend()

    def action_show_record(self) -> None:
        """The raw lines of the row."""
        self.details.choose("Record")
        if self.has_class("-steps"):
            self.add_class("-details")

    def action_copy_source(self) -> None:
        """The tab as it was written."""
        self.interlock.copy(self.details.source)

    def action_open_artifact(self) -> None:
        """The whole output of the call."""
        record = self.details.record
        if record is None or not record.artifacts:
            self.notify("This row has no artifact: all of it is shown here.", markup=False, timeout=4)
            return
        from interlock.runtime.journal.artifacts import ArtifactError, inside
        from interlock.tui.screens.pager import PagerScreen

        try:
            self.app.push_screen(PagerScreen(inside(self.feed.follower.folder, record.artifacts[0].path)))
        except (ArtifactError, OSError) as error:
            self.notify(f"the artifact cannot be opened: {error}", severity="error", markup=False)

    def action_open_editor(self) -> None:
        """By way of the pager, which knows the file."""
        self.action_open_artifact()

    # --- finding

    def action_find(self) -> None:
        """Words to look for, row by row; Enter goes to the next place."""
        self.query_one("#filter", FilterInput).open()

    @on(Input.Submitted, "#filter")
    def _look_for(self, event: Input.Submitted) -> None:
        words = event.value.casefold().split()
        if words:
            self._find(words)

    @work(exclusive=True, group="find", exit_on_error=False)
    async def _find(self, words: list[str]) -> None:
        start = self.timeline.index or 0
        place = await asyncio.to_thread(self._next_place, words, start)
        if place is None:
            self.notify("not found in this timeline", markup=False, timeout=3)
        else:
            self.timeline.select(self.timeline.rows.key(place))

    def _next_place(self, words: list[str], start: int) -> int | None:
        feed = self.feed
        for step in range(1, feed.count + 1):
            place = (start + step) % feed.count
            row = feed.timeline.row(place)
            text = f"{row.tool} {row.outcome} {feed.target(row)}".casefold()
            if all(word in text for word in words):
                return place
        return None

    @on(FilterInput.Left)
    def _filter_left(self) -> None:
        self.timeline.focus()
