"""The ways that lead on from every view and every session: to other views, to what waits, to help, and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from interlock.tui.commands import (
    Back,
    ChangeTheme,
    NextPane,
    NextWaiting,
    OpenPalette,
    PreviousPane,
    PreviousWaiting,
    Quit,
    ShowHelp,
    ShowHistory,
    ShowInbox,
    ShowRules,
    ShowSessions,
)

if TYPE_CHECKING:
    from textual.screen import Screen

    from interlock.tui.app import InterlockApp

    _Base = Screen
else:
    _Base = object

EVERYWHERE = (
    ShowInbox,
    ShowSessions,
    ShowHistory,
    ShowRules,
    NextWaiting,
    PreviousWaiting,
    OpenPalette,
    ShowHelp,
    ChangeTheme,
    NextPane,
    PreviousPane,
    Back,
    Quit,
)
"""What a screen with `Ways` binds."""


class Ways(_Base):
    """For screens: put it before their class."""

    places: ClassVar[tuple[str, ...]] = ("list",)
    """Places of the commands that the help of this screen shows."""

    @property
    def interlock(self) -> InterlockApp:
        """The app, with its own type."""
        return self.app  # type: ignore[return-value]

    def action_show_inbox(self) -> None:
        self.interlock.show_view("inbox")

    def action_show_sessions(self) -> None:
        self.interlock.show_view("sessions")

    def action_show_history(self) -> None:
        self.interlock.show_view("history")

    def action_show_rules(self) -> None:
        self.interlock.show_view("rules")

    def action_next_waiting(self) -> None:
        self.interlock.go_to_waiting(1)

    def action_previous_waiting(self) -> None:
        self.interlock.go_to_waiting(-1)

    def action_open_palette(self) -> None:
        self.app.action_command_palette()

    def action_change_theme(self) -> None:
        self.app.action_change_theme()

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_show_help(self) -> None:
        self.interlock.show_help(self.places)

    def action_quit(self) -> None:
        self.interlock.ask_to_quit()
