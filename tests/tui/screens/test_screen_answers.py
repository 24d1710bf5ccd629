"""Asks are answered on the screen, and only on purpose. (spec UI-4, ASK-3, ASK-7; the public cases named in each test)"""

from __future__ import annotations

import pytest
from textual import events

pytestmark = pytest.mark.tui


async def test_allow_carries_the_ask_and_the_digest_that_were_shown(host, live) -> None:
    one = await host()
    ask = one.ask("npm test")
    async with live() as person:
        await person.arm()
        await person.press("a")
        await person.until(lambda: ask.future.done(), "the answer")
    outcome = ask.future.result()
    assert (outcome.answer, outcome.scope, outcome.input_digest) == ("allow", "once", "digest-1")


async def test_nothing_is_answered_before_the_guard_time(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.press("a", "s", "d")
        assert one.answers() == []
        assert "not yet" in person.text


async def test_a_key_within_the_guard_time_begins_it_anew(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        for _ in range(8):
            await person.press("x")
            await person.press("1")
        await person.press("a")
        assert one.answers() == []


async def test_the_second_of_three_is_answered_when_it_was_chosen(host, live) -> None:
    """BC-032."""
    one = await host()
    for number in (1, 2, 3):
        one.ask(f"echo {number}")
    async with live(size=(100, 30)) as person:
        await person.arm()
        await person.press("down")
        await person.arm()
        await person.press("a")
        await person.until(lambda: len(one.answers()) == 1)
        assert one.answers() == [("ask2", "allow", "once", None)]
        assert [a.ask_id for a in one.broker.pending()] == ["ask1", "ask3"]
        assert person.card.ask.id in ("ask1", "ask3")
        assert not person.card.is_armed("allow_once")


async def test_a_held_key_answers_one_ask_and_no_more(host, live) -> None:
    """PR-027: the first repeat comes after the usual pause, the others thirty times a second."""
    one = await host()
    for number in range(4):
        one.ask(f"echo {number}")
    async with live() as person:
        await person.arm()
        await person.pilot.press("a")
        await person.until(lambda: len(one.answers()) == 1)
        person.clock.seconds += 0.66
        for _ in range(30):
            await person.pilot.press("a")
            person.clock.seconds += 0.033
        await person.rest()
        assert len(one.answers()) == 1
        await person.arm()
        await person.press("a")
        await person.until(lambda: len(one.answers()) == 2)


async def test_a_burst_of_keys_is_a_paste_and_answers_nothing(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.arm()
        for key in "add":
            person.app.post_message(events.Key(key, key))
        await person.pilot.pause()
        await person.rest()
        assert one.answers() == []
        assert "taken as a paste" in person.text or "not yet" in person.text


async def test_a_bracketed_paste_answers_nothing_and_begins_the_guard_anew(host, live) -> None:
    """BC-059."""
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.arm()
        person.app.post_message(events.Paste("y\na\n"))
        await person.pilot.pause()
        await person.press("a")
        assert one.answers() == []


@pytest.mark.parametrize("key", ["space", "enter", "tab", "y", "escape"])
async def test_other_keys_never_allow(host, live, key: str) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.arm()
        await person.press(key)
        await person.press(key)
        assert one.answers() == []


async def test_editing_keys_only_edit_and_enter_alone_sends(host, live) -> None:
    """BC-034."""
    one = await host()
    one.ask("git push")
    async with live(size=(100, 30)) as person:
        await person.arm()
        await person.press("m")
        await person.press("n", "o", "t", "left", "delete", "backspace", "backspace", "backspace")
        assert one.answers() == []
        assert person.card.query_one("#message").value == ""
        await person.press("enter")
        assert one.answers() == []
        await person.press("x", "enter")
        await person.until(lambda: one.answers())
        assert one.answers() == [("ask1", "deny", "once", "x")]


async def test_i_denies_for_now_with_words_that_are_seen_first(host, live) -> None:
    one = await host()
    one.ask("git push")
    async with live(size=(140, 40)) as person:
        await person.arm()
        assert "i explain…" in person.text
        await person.press("i")
        assert "deny for now" in person.text
        assert "Explain what this does" in person.text
        assert "/ find" not in person.text  # a slash is text now
        await person.press("escape")
        assert one.answers() == []
        assert "/ find" in person.text
        await person.arm()
        await person.press("i", "enter")
        await person.until(lambda: one.answers())
        ((ask, answer, scope, said),) = one.answers()
        assert (ask, answer, scope) == ("ask1", "deny", "once")
        assert said.startswith("Not yet. Explain")


async def test_escape_leaves_the_message_without_an_answer(host, live) -> None:
    one = await host()
    one.ask("git push")
    async with live() as person:
        await person.arm()
        await person.press("m", "d", "a", "escape")
        assert one.answers() == []
        assert not person.card.is_writing
        assert "git push" in person.text


async def test_the_card_is_back_after_every_toggle_and_size(host, live) -> None:
    """BC-035."""
    one = await host()
    one.ask("make deploy")
    async with live(size=(100, 30)) as person:
        await person.arm()
        await person.press("v")
        one.ask("make clean")
        await person.until(lambda: len(person.app.store.asks) == 2)
        await person.press("v")
        for size in ((60, 15), (200, 50), (20, 5), (100, 30)):
            await person.pilot.resize_terminal(*size)
            await person.rest()
            assert [ask.id for ask in person.app.store.asks] == ["ask1", "ask2"]
            if size == (20, 5):
                assert "needs 60x15" in person.text
        assert "make deploy" in person.text
        assert "2 waiting" in person.text
        await person.arm()
        await person.press("a")
        await person.until(lambda: one.answers())
        assert one.answers()[0][0] == "ask1"


async def test_after_always_the_next_ask_is_on_its_main_page(host, live) -> None:
    """BC-036."""
    one = await host()
    one.ask("npm test")
    one.ask("npm publish")
    async with live(size=(100, 30)) as person:
        await person.arm()
        await person.press("s")
        await person.until(lambda: one.answers())
        person.clock.seconds += 0.4
        await person.press("enter")
        person.clock.seconds += 0.8
        await person.press("enter")
        assert one.answers() == [("ask1", "allow", "session", None)]
        assert person.card.ask.id == "ask2"
        assert not person.card.is_writing


async def test_a_choice_that_the_host_cannot_honour_is_not_offered(host, live) -> None:
    one = await host()
    one.ask("npm test", choices=("allow.once", "deny"))
    async with live() as person:
        await person.arm()
        assert "a once" in person.text
        assert "session" not in person.text.split("a once")[1].split("\n")[0]
        await person.press("s", "m")
        assert one.answers() == []
        assert not person.card.is_writing


async def test_a_late_answer_is_told_it_came_late(host, live) -> None:
    """ASK-7: what is drawn stays, with the cause, until the person moves on."""
    from interlock.runtime.asks.client import AskClient

    one = await host()
    ask = one.ask("npm test")
    async with live() as person:
        await person.arm()
        other = await AskClient.connect(one.server.path, "another screen")
        await other.answer(ask.ask_id, ask.input_digest, "deny")
        await person.until(lambda: person.card.ask.stage == "answered", "the other's answer")
        assert "denied by another screen" in person.text
        await person.press("a")
        await other.close()
    assert len(one.answers()) == 1


async def test_an_ask_that_is_over_leaves_list_and_counts_at_once_and_its_card_stays(host, live) -> None:
    """FT-027: answered elsewhere while it was read."""
    from interlock.runtime.asks.client import AskClient

    one = await host()
    ask = one.ask("npm test")
    async with live() as person:
        await person.arm()
        async with await AskClient.connect(one.server.path, "interlock answer") as other:
            await other.answer(ask.ask_id, ask.input_digest, "deny")
        await person.until(lambda: person.card.ask.is_over, "the other's answer")
        assert "WAITING FOR YOU" not in person.text
        assert "denied by interlock answer" in person.text
        one.ask("echo second")
        await person.until(lambda: "WAITING FOR YOU" in person.text, "the second ask")
        assert person.card.ask.id == ask.ask_id, "what is read stays"
        await person.press("n")
        await person.until(lambda: person.card.ask.id != ask.ask_id, "the next ask")
        assert "1 of 1" in person.text
        assert "npm test" not in person.text


async def test_the_next_ask_from_one_that_is_over_where_none_waits_clears_the_card(host, live) -> None:
    """FT-027."""
    one = await host()
    ask = one.ask("npm test")
    async with live() as person:
        await person.arm()
        one.broker.cancel(ask.ask_id)
        await person.until(lambda: person.card.ask.is_over, "the end")
        await person.press("n")
        await person.until(lambda: person.card.ask is None, "an empty card")
        assert "npm test" not in person.text


async def test_a_host_that_vanishes_closes_its_ask_with_that_cause(host, live) -> None:
    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.arm()
        await one.server.close()
        await person.until(lambda: person.card.ask.stage == "closed")
        assert "host is gone" in person.text
        assert "npm test" in person.text
        await person.press("a")
    assert one.answers() == []


async def test_an_ask_from_before_the_screen_is_shown_again_and_again(host, live) -> None:
    """BC-039: also to a screen that was killed and started again."""
    one = await host()
    one.ask("git push")
    for _ in range(2):
        async with live() as person:
            assert "git push" in person.text
            assert "waiting" in person.text


async def test_a_new_ask_moves_neither_card_nor_cursor_nor_focus(host, live) -> None:
    one = await host()
    one.ask("echo first")
    async with live() as person:
        await person.arm()
        before = person.card.ask.id, person.app.focused, person.app.screen.list.key
        one.ask("echo second")
        await person.until(lambda: len(person.app.store.asks) == 2)
        assert (person.card.ask.id, person.app.focused, person.app.screen.list.key) == before
        assert person.card.is_armed("allow_once")


async def test_quitting_asks_first_when_asks_wait(host, live) -> None:
    one = await host()
    one.ask("echo first")
    async with live() as person:
        await person.press("q")
        assert "in their own prompt" in person.text
        await person.press("n")
        assert person.app.is_running
        await person.press("q", "y")
        assert person.app.return_value == 0


async def test_replies_of_the_terminal_are_no_keys_even_when_split(host, live) -> None:
    """BC-059: the bytes go through the parser that reads the terminal; a pause lets it give up on half a sequence."""
    from interlock.tui.terminal import ReplyFreeParser

    one = await host()
    one.ask("npm test")
    async with live() as person:
        await person.arm()
        parser = ReplyFreeParser()
        screen, focused, key = person.app.screen, person.app.focused, person.app.screen.list.key
        chunks = (
            "\x1b[?62;4;22c",
            "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
            "\x1b[?997;1n",
            "\x1bP>|tmux 3.5a\x1b\\",
            "\x1b[",
            "1;1R",
            "\x1b[200~y\na\n\x1b[201~",
        )
        for chunk in chunks:
            messages = list(parser.feed(chunk))
            for _ in range(30):
                await person.pilot.pause(0.01)
                messages += list(parser.tick())
            for message in messages:
                person.app.post_message(message)
            person.clock.seconds += 0.6
            await person.rest()
        assert one.answers() == []
        assert person.app.is_running
        assert (person.app.screen, person.app.focused, person.app.screen.list.key) == (screen, focused, key)
        await person.arm()
        await person.press("a")
        await person.until(lambda: one.answers())
