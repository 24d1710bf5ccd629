"""Keys that come faster than the screen can follow: none is lost, none overtakes another. (screen rules; lost keys)"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input, TextArea

from interlock.tui.app import InterlockApp
from interlock.tui.keyboard import Keyboard, KeyPassed
from interlock.tui.screens.allow_for import RuleEditor
from interlock.tui.themes import variable_defaults
from interlock.tui.widgets.filter_input import FilterInput
from interlock.tui.widgets.message_input import MessageInput

LEFT, RIGHT, HOME, END, RUBOUT = "left", "right", "home", "end", "backspace"
TYPED = st.lists(st.sampled_from([*"abcxyz", LEFT, RIGHT, HOME, END, RUBOUT]), max_size=25)


def send(app: App[Any], *keys: str) -> None:
    """All at once, as one read of a terminal gives them."""
    assert app._driver is not None
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(app)
        app._driver.send_message(event)


def edited(text: str, keys: list[str]) -> str:
    """What one line holds after these keys, from its beginning on."""
    at = 0
    for key in keys:
        if len(key) == 1:
            text, at = text[:at] + key + text[at:], at + 1
        elif key == RUBOUT and at:
            text, at = text[: at - 1] + text[at:], at - 1
        else:
            at = {LEFT: max(at - 1, 0), RIGHT: min(at + 1, len(text)), HOME: 0, END: len(text)}.get(key, at)
    return text


class Pop(Screen[None]):
    def compose(self) -> ComposeResult:
        yield Input()


class Typed(App[None]):
    """Our editors behind our keyboard."""

    BINDINGS = [Binding("f2", "rule"), Binding("f3", "message"), Binding("f4", "pop"), Binding("f5", "drop")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.keyboard = Keyboard(self, super().on_event)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults()

    def compose(self) -> ComposeResult:
        yield RuleEditor(classes="-open")
        yield MessageInput()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.keyboard.take(event)
        else:
            await super().on_event(event)

    async def on_key_passed(self, message: KeyPassed) -> None:
        await self.keyboard.passed(message)

    def action_rule(self) -> None:
        self.query_one(RuleEditor).focus()

    def action_message(self) -> None:
        self.query_one(MessageInput).focus()

    def action_pop(self) -> None:
        self.push_screen(Pop())

    def action_drop(self) -> None:
        self.query_one(RuleEditor).remove()


async def until_quiet(app: Any, keyboard: Keyboard, pilot: Any) -> None:
    await pilot.pause()
    while keyboard.is_busy:
        await pilot.pause(0.01)
    await pilot.pause()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rule=TYPED, message=TYPED)
async def test_an_editor_holds_what_was_typed_in_the_order_in_which_it_was_typed(rule: list, message: list) -> None:
    app = Typed()
    async with app.run_test() as pilot:
        app.query_one(RuleEditor).text = "rule"
        send(app, "f2", HOME, *rule, "f3", HOME, *message, "f2", END, "!")
        await until_quiet(app, app.keyboard, pilot)
        assert app.query_one(RuleEditor).text == edited("rule", rule) + "!"
        assert app.query_one(MessageInput).value == edited("", message)


async def test_keys_wait_until_a_screen_that_they_opened_has_its_widgets() -> None:
    app = Typed()
    async with app.run_test() as pilot:
        send(app, "f4", *"abc", LEFT, "d")
        await until_quiet(app, app.keyboard, pilot)
        assert app.screen.query_one(Input).value == "abdc"


async def test_a_paste_keeps_its_place_among_the_keys() -> None:
    app = Typed()
    async with app.run_test() as pilot:
        send(app, "f3", *"ab", LEFT)
        paste = events.Paste("123")
        paste.set_sender(app)
        app._driver.send_message(paste)  # type: ignore[union-attr]
        send(app, LEFT, "c")
        await until_quiet(app, app.keyboard, pilot)
        assert app.query_one(MessageInput).value == "a12c3b"


async def test_a_key_that_takes_its_own_editor_away_does_not_stop_the_keyboard() -> None:
    app = Typed()
    async with app.run_test() as pilot:
        send(app, "f2", "a", "f5", "f3", *"still here")
        await until_quiet(app, app.keyboard, pilot)
        assert not app.query(TextArea)
        assert app.query_one(MessageInput).value == "still here"


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_filter_of_the_inbox_holds_every_letter_that_came_with_its_key(size: tuple[int, int]) -> None:
    app = InterlockApp(bell=False)
    async with app.run_test(size=size) as pilot:
        await app.settled()
        send(app, "slash", *"shop", LEFT, LEFT, "x")
        await until_quiet(app, app._keyboard, pilot)
        assert app.screen.query_one(FilterInput).value == "shxop"
        send(app, "escape", "2", "slash", *"dem")
        await until_quiet(app, app._keyboard, pilot)
        assert app.current_mode == "sessions"
        assert app.screen.query_one(FilterInput).value == "dem"
