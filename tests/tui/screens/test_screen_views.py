"""Four views, always in the same place, whatever the size. (spec UI-5, UI-8, UI-9)"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.tui


@pytest.mark.parametrize("size", [(20, 5), (60, 15), (80, 24), (200, 50)])
async def test_every_view_opens_at_every_size_and_teaches_when_it_is_empty(live, size) -> None:
    async with live(size=size) as person:
        for key, words in (
            ("2", "No session yet"),
            ("3", "Nothing is over yet"),
            ("4", "No standing grant"),
            ("1", "Nothing waits"),
        ):
            await person.press(key)
            assert person.app.is_running
            if size[0] >= 60:
                assert words in person.text


async def test_n_goes_to_the_ask_from_anywhere(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live(size=(80, 24)) as person:
        await person.press("2")
        assert "WAITING FOR YOU" in person.text
        await person.press("enter")
        await person.until(lambda: person.app.screen.__class__.__name__ == "SessionScreen")
        await person.press("n")
        await person.until(lambda: "a once" in person.text, "the card")
        assert one.answers() == []


async def test_a_standing_grant_is_listed_while_its_session_lives(host, live) -> None:
    from interlock.runtime.events.permission import GrantMade

    one = await host()
    one.journal.append(
        GrantMade(grant_id="grant_1", ask_id="a", scope="session", tool="bash", matches={"label": "exactly npm test"})
    )
    async with live() as person:
        await person.press("4")
        await person.until(lambda: "exactly npm test" in person.text)
        assert "until the session ends" in person.text


async def test_a_filter_keeps_rows_with_the_words_and_escape_gives_all_back(host, live) -> None:
    one = await host()
    one.ask("npm test")
    one.ask("make deploy")
    async with live() as person:
        await person.press("slash", *"deploy")
        left = [row.ask.prompt for row in person.app.screen.list.items if row.ask]
        assert left == ["make deploy"]
        assert one.answers() == []
        await person.press("escape")
        assert len([row for row in person.app.screen.list.items if row.ask]) == 2


async def test_help_lists_the_keys_of_the_place_and_the_palette_opens(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.press("question_mark")
        assert "Allow once" in person.text
        await person.press("escape", "ctrl+p")
        assert "CommandPalette" in type(person.app.screen).__name__
        await person.press("escape")
        assert one.answers() == []


async def test_how_often_the_tool_was_allowed_before_stands_on_the_card(host, live) -> None:
    one = await host()
    one.ask("npm test")
    one.ask("npm run build")
    async with live() as person:
        await person.arm()
        await person.press("a")
        await person.until(lambda: "you allowed bash 1 time in this session, denied 0" in person.text)


@pytest.mark.parametrize("view", ["1", "2", "3", "4"])
async def test_help_tells_of_no_key_that_the_view_does_not_know(host, live, view: str) -> None:
    one = await host()
    one.ask("git push")
    async with live() as person:
        await person.press(view, "question_mark")
        shown = str(person.app.screen.query_one("#help")._built)
        assert ("Find or filter" in shown) == (view != "4")
        assert ("Allow once" in shown) == (view == "1")
        assert ("'Open'" in shown or "Open   " in shown) == (view != "4")
        assert "Revoke" not in shown or view == "4"
