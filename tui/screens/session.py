"""A session: its timeline, and everything about the row under the cursor (UI-6, UI-7).

Promises: opens at once whatever the size of the journal, its end first; follows the end only while the person is at the
end; whatever is wrong with the journal is said in words above the rows, and the screen lives on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from interlock.tui.commands import (
    CopySource,
    NextCall,
    NextTab,
    OpenArtifact,
    PreviousCall,
    PreviousTab,
    ShowRecord,
    bind,
)
from interlock.tui.model.call import CallRecord, source_of
from interlock.tui.model.inked import Inked, fitted, ink
from interlock.tui.model.session import head_line, model_lines, trouble
from interlock.tui.model.waterfall import legend
from interlock.tui.screens.overlay import Overlay
from interlock.tui.screens.ways import EVERYWHERE, Ways
from interlock.tui.widgets.call_details import CallDetails
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.key_footer import KeyFooter
from interlock.tui.widgets.lines import LineList
from interlock.tui.widgets.waterfall import TimelineRows, Waterfall
from interlock.tui.widgets.wrapped import WrappedView

if TYPE_CHECKING:
    from interlock.tui.feed import Feed

SIDE_BY_SIDE = 120
"""Columns from which timeline and details stand beside each other."""


class SessionScreen(Ways, Overlay[None]):
    """On top of a view; Esc closes it."""

    places: ClassVar[tuple[str, ...]] = ("list", "session")
    BINDINGS: ClassVar[list[BindingType]] = bind(  # type: ignore[assignment]
        *EVERYWHERE, OpenArtifact, ShowRecord, CopySource, PreviousCall, NextCall, NextTab, PreviousTab
    )
    DEFAULT_CSS = """
    SessionScreen > InkedLines { padding: 0 1; }
    SessionScreen #panes { height: 1fr; border-top: solid $rule; border-bottom: solid $rule; }
    SessionScreen Waterfall { width: 6fr; }
    SessionScreen CallDetails { width: 5fr; border-left: solid $rule; }
    SessionScreen.-steps CallDetails { display: none; border-left: none; width: 1fr; }
    SessionScreen.-steps.-details CallDetails { display: block; }
    SessionScreen.-steps.-details Waterfall { display: none; }
    """

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.feed: Feed | None = None
        self.record = CallRecord(())
        self._shown: tuple[str, int] = ("", -1)
        self._reading = False

    def compose(self) -> ComposeResult:
        app = self.interlock
        yield InkedLines(id="header")
        yield InkedLines(id="trouble")
        with Horizontal(id="panes"):
            yield Waterfall(
                lambda row: self.feed.target(row) if self.feed is not None else "",
                app.store.now,
                ascii_only=app.ascii_only,
                empty=(
                    "Nothing is recorded yet.",
                    "",
                    "Calls, asks and messages of the agent stand here as they happen.",
                ),
                id="timeline",
            )
            yield CallDetails(id="details")
        yield InkedLines(id="legend")
        yield KeyFooter(id="footer")

    @property
    def timeline(self) -> Waterfall:
        """The rows."""
        return self.query_one("#timeline", Waterfall)

    @property
    def details(self) -> CallDetails:
        """The tabs."""
        return self.query_one("#details", CallDetails)

    def on_mount(self) -> None:
        self.feed = self.interlock.store.open_session(self.session_id)
        self.timeline.follow = True
        self.timeline.focus()
        self.set_interval(1.0, self._tick)
        self.store_changed()

    def on_unmount(self) -> None:
        self.interlock.store.leave_session(self.session_id)

    def on_resize(self) -> None:
        """Another size."""
        self.set_class(self.size.width < SIDE_BY_SIDE, "-steps")
        self.call_after_refresh(self.store_changed)

    def _tick(self) -> None:
        if self.is_current and self.feed is not None:
            self._draw_head()
            if self.feed.state.open_calls:
                self.timeline.tick()

    def store_changed(self) -> None:
        """Pull what is new; the rows being read do not move."""
        if self.feed is None or not self.is_mounted:
            return
        first = not self.timeline.row_count
        self.timeline.show_timeline(self.feed.timeline, self.feed.count)
        if first and self.feed.count:
            self.timeline.action_go_end()
        self._draw_head()
        self._want_details()

    def _draw_head(self) -> None:
        assert self.feed is not None
        width = max(self.size.width - 2, 1)
        row = self.interlock.store.row_of(self.feed)
        self.query_one("#header", InkedLines).show(
            [fitted(head_line(row, self.feed, self.interlock.store.now()), width)]
        )
        said = [line for text in trouble(self.feed) for line in ink((text, "bold failed")).wrapped(width)]
        about = model_lines(self.feed.state.models, width)
        if limits := self.interlock.store.limits(self.session_id):
            about += ink((" ".join(limits), "quiet")).wrapped(width)[:2]
        # a small terminal needs its rows for the timeline
        self.query_one("#trouble", InkedLines).show([*said, *(about if self.size.height >= 30 else [])])
        follows = "following the end" if self.timeline.follow and self.timeline.is_at_end else "f follows the end"
        foot: Inked = legend(self.timeline.scale, foreign=self.feed.is_foreign, ascii_only=self.interlock.ascii_only)
        self.query_one("#legend", InkedLines).show([fitted(foot.joined(ink((f"   {follows}", "quiet"))), width)])

    # --- details

    @on(LineList.Highlighted, "#timeline")
    def _highlighted(self) -> None:
        self._want_details()

    def _want_details(self) -> None:
        rows, index = self.timeline.rows, self.timeline.index
        if self.feed is None or index is None or not isinstance(rows, TimelineRows):
            return
        wanted = (rows.key(index), self.feed.version if rows.timeline.row(index).outcome in _UNFINISHED else -1)
        if wanted != self._shown:
            self._shown = wanted
            self._read(index)

    @work(exclusive=True, group="details", exit_on_error=True)
    async def _read(self, index: int) -> None:
        """Read the lines of one row in a thread; only the last wanted row is shown."""
        feed, rows = self.feed, self.timeline.rows
        if feed is None or not isinstance(rows, TimelineRows) or (row := rows.at(index)) is None:
            return
        self.record = await asyncio.to_thread(feed.record, row)
        diff = await asyncio.to_thread(feed.read_text, self.record.diff_path) if self.record.diff_path else ""
        diff = diff or self.record.inline_diff
        self.details.show(self.record, diff)

    @on(LineList.Selected, "#timeline")
    def _selected(self) -> None:
        self.add_class("-details")
        self.details.focus_body()

    def action_back(self) -> None:
        if self.has_class("-steps") and self.has_class("-details"):
            self.remove_class("-details")
            self.timeline.focus()
        elif self.details.has_focus_within and not self.has_class("-steps"):
            self.timeline.focus()
        else:
            self.dismiss()

    def action_open_row(self) -> None:
        """Enter outside of the list does nothing."""

    def action_show_record(self) -> None:
        """The raw lines."""
        self.details.open_tab("Record")
        self.add_class("-details")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Left and right turn the tabs unless they scroll a text that is not wrapped."""
        if action in ("next_tab", "previous_tab") and isinstance(self.focused, WrappedView):
            return self.focused.wraps
        return super().check_action(action, parameters)

    def action_next_tab(self) -> None:
        """The tab beside."""
        self.details.turn(1)

    def action_previous_tab(self) -> None:
        """The tab before."""
        self.details.turn(-1)

    def action_previous_call(self) -> None:
        """One call up."""
        self._to_call(-1)

    def action_next_call(self) -> None:
        """One call down."""
        self._to_call(1)

    def _to_call(self, step: int) -> None:
        rows, index = self.timeline.rows, self.timeline.index
        if index is None or not isinstance(rows, TimelineRows):
            return
        place = index + step
        while (row := rows.at(place)) is not None and row.kind != "call":
            place += step
        if row is not None:
            self.timeline.select(rows.key(place))

    def action_open_artifact(self) -> None:
        """The whole output, in the pager."""
        artifact = next((a for a in self.record.artifacts if a.kind != "diff"), None) or next(
            iter(self.record.artifacts), None
        )
        if artifact is None or self.feed is None:
            self.query_one(KeyFooter).say("this row has no artifact: what there is stands in the tabs")
            return
        self.interlock.open_artifact(self.feed.folder, artifact.path)

    def action_copy_source(self) -> None:
        """The raw lines of the row."""
        self.interlock.copy(source_of(self.record))

    @on(WrappedView.CopyAsked)
    def _copy(self, event: WrappedView.CopyAsked) -> None:
        self.interlock.copy(event.text)


_UNFINISHED = frozenset({"waiting", "queued", "running", "open"})
