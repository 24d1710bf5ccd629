"""The rules: every standing permission that holds, one of them in full, and the way to end it (ASK-4)."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import Revoke, UndoAnswer, bind
from interlock.tui.model import rules
from interlock.tui.model.inked import Inked, ink
from interlock.tui.model.rules import RuleRow
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.lines import LineList

EMPTY = (
    "No standing grant.",
    "",
    "`s` on an ask allows calls like it until its session ends; `A` has more: a turn, ten minutes, a rule for good.",
    "Each stands here while it holds, and x ends it. Deny rules stand above every grant.",
    "`interlock policy list` shows the rules that decide without asking.",
)


class RulesScreen(FrameScreen):
    """View 4."""

    view = "Rules"
    places = ("list", "rules")
    BINDINGS: ClassVar[list[BindingType]] = bind(Revoke, UndoAnswer)  # type: ignore[assignment]
    DEFAULT_CSS = """
    RulesScreen #details { border-top: solid $rule; height: auto; max-height: 50%; padding: 0 1; }
    RulesScreen #details.hidden { display: none; }
    """

    _standing: frozenset[tuple[str, str]] = frozenset()
    """The permissions of running sessions, as they were listed last."""

    def compose_content(self) -> ComposeResult:
        yield GroupedList[RuleRow](
            self._draw, lambda row: row.key, lambda row: row.kind in ("grant", "kept"), empty=EMPTY, id="list"
        )
        yield InkedLines(id="details")

    def _draw(self, row: RuleRow, width: int) -> Inked:
        return rules.line(row, width, self.store.now())

    @property
    def list(self) -> GroupedList[RuleRow]:
        """The list."""
        return self.query_one("#list", GroupedList)

    def on_mount(self) -> None:
        self.list.opens = False
        self.list.focus()

    def on_screen_resume(self) -> None:
        """On top again: the policy file may be another by now."""
        self.store.look_at_kept_rules()

    def refresh_rows(self) -> None:
        names = {row.id: row.name for row in self.store.sessions}
        standing = frozenset((grant.session, grant.id) for grant in self.store.grants)
        if standing != self._standing:
            # one that came or went may have changed the policy file
            self._standing = standing
            self.store.look_at_kept_rules()
        self.list.show_items(rules.rows(self.store.grants, self.store.kept.rules, names))
        self._draw_details()

    def tick(self) -> None:
        """A second has passed: what ended by its time is gone."""
        super().tick()
        if self.is_current:
            # a host records that a permission ended before it takes its rule out of the file
            self.store.look_at_kept_rules()
            self.refresh_rows()

    @on(LineList.Highlighted, "#list")
    def _draw_details(self) -> None:
        lines = rules.details(self.list.item, max(self.size.width - 2, 20), self.store.now())
        if self.store.kept.fault:
            lines = [
                *ink((f"rules kept by answers: {self.store.kept.fault}", "bold failed")).wrapped(self.size.width - 2),
                *lines,
            ]
        details = self.query_one("#details", InkedLines)
        details.show(lines)
        details.set_class(not lines, "hidden")

    def action_revoke(self) -> None:
        """End the one under the cursor, after a question."""
        from interlock.tui.screens.question import QuestionScreen

        row = self.list.item
        if row is None or row.kind not in ("grant", "kept"):
            return
        lines = [ink((row.covers, "bold")), ink(("From the next call on it is asked about again.", ""))]
        if row.kind == "kept" or (row.grant is not None and row.grant.rule_id):
            lines.append(ink(("Its rule is taken out of your policy file.", "")))
        self.app.push_screen(
            QuestionScreen("Revoke this permission?", lines, "revoke it"), lambda yes: self._revoke(row, yes)
        )

    def _revoke(self, row: RuleRow, yes: bool | None) -> None:
        if not yes:
            return
        if row.grant is not None:
            self.store.revoke(row.grant.session, row.grant.id, row.covers)
        else:
            self.store.drop_kept_rule(row.title)

    def action_undo_answer(self) -> None:
        """Take back the last standing permission."""
        self.interlock.undo()
