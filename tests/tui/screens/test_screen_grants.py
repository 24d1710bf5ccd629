"""Allowing for longer, undoing, revoking, answering together: a real session of the runtime and a person at the keys.
(spec ASK-4, ASK-5, UI-4)"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from textual import events

from interlock.runtime.tools.policy_files import user_file
from interlock.tui.model.allow_for import Preview
from interlock.tui.screens.allow_for import AllowForScreen
from interlock.tui.screens.together import TogetherScreen

pytestmark = pytest.mark.tui


async def opened(person, key: str = "A"):
    """The panel over the card, its preview there."""
    await person.arm()
    await person.press(key)
    await person.until(lambda: isinstance(person.app.screen, AllowForScreen), "the panel")
    await person.until(lambda: "looking through" not in person.text, "the preview")
    return person.app.screen


async def test_the_panel_shows_what_would_be_granted_and_what_it_would_have_covered(work, live) -> None:
    async with work() as one:
        await one.want("touch a", "touch b")
        one.answer_all()
        await one.want("touch c")
        async with live(size=(80, 24)) as person:
            await person.press("enter")
            await opened(person)
            assert "exactly this command, and only in this folder" in person.text
            assert "all 2 calls on record" in person.text
            assert "0 of the 2 that asked before would pass" in person.text
            await person.press("j")
            await person.until(lambda: "2 of the 2 that asked before would pass" in person.text, "the other preview")
            assert 'command = "touch *"' in person.text
            assert "pass touch b" in person.text
            assert "rule, for good" in person.text


@pytest.mark.parametrize(("key", "scope"), [("t", "turn"), ("s", "session"), ("T", "ten_minutes")])
async def test_a_longer_allow_grants_exactly_the_suggestion_that_was_picked(work, live, key: str, scope: str) -> None:
    async with work() as one:
        await one.want("touch a")
        async with live() as person:
            await opened(person)
            await person.press("j")
            await person.until(lambda: "looking through" not in person.text)
            await person.arm()
            await person.press(key)
            await person.until(lambda: one.calls[0].done(), "the call")
        (grant,) = one.events("grant.made")
        assert (grant.scope, grant.matches["value"]) == (scope, "touch *")
        assert one.events("tool.permission.answered")[0].suggestion == grant.matches["digest"]
        assert (one.folder / "a").exists()


async def test_nothing_is_granted_before_the_panel_was_read_and_the_keyboard_quiet(work, live) -> None:
    async with work() as one:
        await one.want("touch a")
        async with live() as person:
            await opened(person)
            await person.press("s", "t")
            assert "not yet" in person.text
            await person.arm()
            await person.press("j")
            await person.press("s")
            await person.arm()
            for key in ("enter", "space", "enter"):
                await person.press(key)
            await person.arm()
            for key in "sT":
                person.app.post_message(events.Key(key, key))
            await person.pilot.pause()
            await person.rest()
            person.app.post_message(events.Paste("s\n"))
            await person.pilot.pause()
            assert isinstance(person.app.screen, AllowForScreen)
            assert one.events("tool.permission.answered") == []
            await person.press("escape")
            await person.until(lambda: not isinstance(person.app.screen, AllowForScreen))
        assert one.events("tool.permission.answered") == []
        one.answer_all()


async def test_an_ask_that_was_not_read_to_its_end_cannot_be_allowed_for_longer_either(work, live) -> None:
    async with work() as one:
        await one.want("touch a\n" + "\n".join(f"touch b{n}" for n in range(60)))
        async with live(size=(80, 24)) as person:
            await person.press("enter")
            await opened(person)
            await person.press("end")
            await person.arm()
            assert "the ask itself is locked" in person.text
            await person.press("s", "t")
            assert one.events("tool.permission.answered") == []
            await person.press("escape", "end")
            await opened(person)
            await person.press("end")
            await person.arm()
            await person.press("s")
            await person.until(lambda: one.events("grant.made"))
            await person.until(lambda: one.calls[0].done(), seconds=15)


async def test_what_does_not_fit_has_to_be_read_to_its_end_first(work, live) -> None:
    async with work() as one:
        await one.want("touch " + " ".join(f"a{n}" for n in range(400)))
        async with live(size=(80, 24)) as person:
            await person.press("enter")
            await person.press("end")
            await opened(person)
            await person.arm()
            assert "read to the end to allow" in person.text
            await person.press("s")
            assert one.events("tool.permission.answered") == []
            await person.press("end")
            await person.arm()
            await person.press("s")
            await person.until(lambda: one.events("grant.made"))
            await person.until(lambda: one.calls[0].done())


async def test_a_rule_is_edited_in_place_judged_by_its_host_and_kept_as_it_was_shown(work, live) -> None:
    async with work() as one:
        await one.want("touch a1")
        async with live() as person:
            screen = await opened(person)
            await person.press("j", "e")
            editor = screen.query_one("#editor")
            assert editor.has_focus
            editor.text = editor.text.replace("touch *", "* *")
            await person.press("escape")
            await person.until(lambda: "cannot be kept" in person.text, "the host's word")
            assert "would allow every program" in person.text
            await person.arm()
            await person.press("r")
            assert one.events("tool.permission.answered") == []
            await person.press("e")
            editor.text = editor.text.replace("* *", "touch a*")
            await person.press("s", "r", "t")  # typed into the rule, not answered
            editor.text = editor.text.removeprefix("srt")
            await person.press("escape")
            await person.until(lambda: "looking" not in person.text and "cannot" not in person.text, "the new preview")
            assert "your rule" in person.text
            await person.arm()
            await person.press("r")
            await person.until(lambda: one.calls[0].done(), "the call")
            await person.until(lambda: "u undoes" in person.text, "the way back")
            assert 'command = "touch a*"' in user_file().read_text()
        (answered,) = one.events("tool.permission.answered")
        assert answered.rule in user_file().read_text()


async def test_undo_takes_the_permission_back_and_says_whether_the_call_ran(work, live) -> None:
    async with work() as one:
        await one.want("touch a")
        async with live() as person:
            await person.arm()
            await person.press("s")
            await person.until(lambda: one.calls[0].done() and "u undoes" in person.text, "the way back")
            await person.press("u")
            await person.until(lambda: "the call itself had already begun" in person.text, "what came of it")
            assert len(one.events("grant.revoked")) == 1
            await person.press("x")
            assert "already begun" not in person.text
            await person.press("u")
            assert "nothing to undo" in person.text
            await one.want("touch a")
            one.answer_all()


async def test_undo_is_over_after_its_seconds(work, live) -> None:
    async with work() as one:
        await one.want("touch a")
        async with live() as person:
            person.app.store._hosts.errands.clock = person.clock
            await person.arm()
            await person.press("s")
            await person.until(lambda: "u undoes" in person.text)
            person.clock.seconds += 16
            person.app.screen.tick()
            await person.rest()
            assert "u undoes" not in person.text
            await person.press("u")
            assert "nothing to undo" in person.text
        assert one.events("grant.revoked") == []


async def test_the_rules_list_what_holds_and_end_it_after_a_question(work, live) -> None:
    async with work() as one:
        await one.want("touch a", "touch b")
        async with live(size=(80, 24)) as person:
            await person.press("enter")
            await person.arm()
            await person.press("s")
            await person.until(lambda: len(one.events("grant.made")) == 1)
            await opened(person)
            await person.press("j")
            await person.until(lambda: "looking" not in person.text)
            await person.arm()
            await person.press("r")
            await person.until(lambda: len(one.events("grant.made")) == 2)
            await person.press("4")
            await person.until(lambda: "touch *" in person.text and "exactly touch a" in person.text, "both grants")
            assert "for good" in person.text
            assert "by you at interlock screen" in person.text
            assert 'command = "touch *"' in person.text
            await person.press("x")
            assert "Its rule is taken out of your policy file" in person.text
            await person.press("n")
            assert one.events("grant.revoked") == []
            await person.press("x", "y")
            await person.until(lambda: "is out of your policy file" in person.text)
            await person.until(lambda: "touch *" not in person.text.split("revoked")[0])
            assert user_file().read_text() == ""


async def test_a_rule_of_an_earlier_session_is_listed_and_taken_out(live) -> None:
    from datetime import UTC, datetime

    from interlock.runtime.tools.kept_rule import keep_rule

    text = '[[rule]]\nid = "allow-x"\neffect = "allow"\ntool = "bash"\ncommand = "touch *"\n'
    keep_rule(text, "allow-x", datetime.now(UTC))
    async with live(size=(80, 24)) as person:
        await person.press("4")
        await person.until(lambda: "allow-x" in person.text)
        assert "RULES KEPT FROM EARLIER ANSWERS" in person.text
        await person.press("x", "y")
        await person.until(lambda: "out of your policy file" in person.text)
        assert user_file().read_text() == ""


async def test_alike_asks_are_answered_together_each_with_its_own_digest(work, live) -> None:
    async with work() as one:
        await one.want("touch a", "mkdir m", "touch b", "touch c")
        async with live(size=(100, 30)) as person:
            await person.arm()
            person.app.store._hosts.errands.hold = 1.0
            await person.press("b")
            await person.until(lambda: isinstance(person.app.screen, TogetherScreen))
            assert "3 asks alike" in person.text
            assert "mkdir" not in person.text
            await person.press("j", "x")
            assert "2 of 3 marked" in person.text
            await person.press("a")
            assert one.events("tool.permission.answered") == []
            await person.arm()
            for key in ("enter",):
                await person.press(key)
            assert one.events("tool.permission.answered") == []
            await person.arm()
            await person.press("a")
            await person.until(lambda: "u undoes: 2 asks allowed together" in person.text, "the way back")
            assert one.events("tool.permission.answered") == []
            await person.until(lambda: len(one.events("tool.permission.answered")) == 2, seconds=15)
            await person.until(lambda: "2 asks allowed" in person.text, "what came of it")
        asked = {e.ask_id: e for e in one.events("tool.permission")}
        answered = one.events("tool.permission.answered")
        assert {asked[e.ask_id].shown_input["command"] for e in answered} == {"touch a", "touch c"}
        assert all(asked[e.ask_id].input_digest == e.input_digest for e in answered)
        one.answer_all()


async def test_answers_given_together_are_taken_back_before_anything_was_sent(work, live) -> None:
    async with work() as one:
        await one.want("touch a", "touch b")
        async with live() as person:
            await person.arm()
            await person.press("b")
            await person.until(lambda: isinstance(person.app.screen, TogetherScreen))
            await person.arm()
            await person.press("d")
            await person.until(lambda: "u undoes: 2 asks denied together" in person.text)
            await person.press("u")
            await person.until(lambda: "taken back, nothing was sent" in person.text)
            assert "2 waiting" in person.text
            assert one.events("tool.permission.answered") == []
            await person.arm()
            await person.press("b")
            await person.until(lambda: isinstance(person.app.screen, TogetherScreen))
            await person.arm()
            await person.press("d")
            await person.until(lambda: "u undoes: 2 asks denied together" in person.text)
        # the screen was left: what was given is sent
        assert len(one.events("tool.permission.answered")) == 2


async def test_a_failure_among_answers_given_together_is_told_by_itself(host, live) -> None:
    one = await host()
    for name in "abc":
        one.ask(f"touch {name}", facts={"parts": [{"text": "t", "program": "touch"}]})
    async with live(size=(100, 30)) as person:
        person.app.store._hosts.errands.hold = 0.1
        await person.arm()
        await person.press("b")
        await person.until(lambda: isinstance(person.app.screen, TogetherScreen))
        await person.arm()
        real = one.broker._record

        def refuse(event, durable):
            if getattr(event, "ask_id", "") == "ask2" and event.type.endswith("answered"):
                raise OSError("the disk is full")
            return real(event, durable)

        one.broker._record = refuse
        await person.press("a")
        await person.until(lambda: "2 allowed, 1 had no effect" in person.text, "what came of it", seconds=15)
        assert "touch b" in person.text
        one.broker._record = real
        assert [ask.ask_id for ask in one.broker.pending()] == ["ask2"]
    assert len(one.answers()) == 2


async def test_an_ask_with_a_wait_says_until_when_and_ends_as_timed_out(work, live) -> None:
    rules = '[[rule]]\nid = "soon"\neffect = "ask"\ncommand = "touch *"\nreason = "mine"\nwait = 3600\n'
    async with work(rules) as one:
        await one.want("touch a")
        async with live() as person:
            await person.rest()
            assert "then denied as timed out" in person.text
            assert "rule soon" in person.text
            assert "your policy" in person.text
            one.session.setting.broker.expire(one.session.journal.now().replace(year=2200))
            await person.until(lambda: "timed out: nobody answered" in person.text)
        assert (await asyncio.wait_for(one.calls[0], 10)).code == "ask_timed_out"


async def test_where_nothing_could_stand_the_panel_does_not_open(work, live) -> None:
    async with work() as one:
        await one.want("python3 -c 'print(1)'")
        async with live() as person:
            await person.arm()
            assert "for…" not in person.text
            await person.press("A")
            assert "only once" in person.text
            await person.press("s")
            assert one.events("tool.permission.answered") == []
            one.answer_all()


async def test_an_ask_that_ended_closes_the_panel(work, live) -> None:
    async with work() as one:
        await one.want("touch a")
        async with live() as person:
            await opened(person)
            one.answer_all()
            await person.until(lambda: not isinstance(person.app.screen, AllowForScreen), "the card again")
            await person.until(lambda: "denied by other" in person.text)


RULE = """[[rule]]
id = "allow-npm-run-lint-3fa9c1"
effect = "allow"
tool = "bash"
command = "npm run lint"
reason = "allowed by you from an ask"
"""


def suggested(digest: str, field: str, label: str, rule: str = "") -> dict[str, object]:
    scopes = ["turn", "session", "ten_minutes", *(["rule"] if rule else [])]
    value = {"tool": "bash", "field": field, "value": "npm run lint", "cwd": "/home/dev/app", "label": label}
    return {**value, "digest": digest, "rule": rule, "scopes": scopes}


SUGGESTED = (
    suggested("d1", "command", "exactly this command, in this folder"),
    suggested("d2", "pattern", "npm run lint, in any folder", RULE),
)
EVERY = ("allow.once", "allow.turn", "allow.session", "allow.ten_minutes", "allow.rule", "deny", "deny.message")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_panel_looks_as_drawn(host, live, fixed_now, golden, size: tuple[int, int]) -> None:
    one = await host(clock=lambda: datetime(2026, 1, 10, 9, 0, tzinfo=UTC))
    one.ask("npm run lint", suggested_rules=SUGGESTED, choices=EVERY)
    async with live(size=size, now=fixed_now) as person:
        seen = Preview(
            "known", calls=212, sessions=9, since=fixed_now() - 86_400_000_000 * 8, whole=False, covered=14, still_asks=31,
            examples=("npm run lint", "npm run lint -- --fix"), near=("npm run build", "npm run lint:css"),
        )  # fmt: skip
        for digest in ("d1", "d2"):
            person.app.store._hosts.errands.previews["ask1", digest, ""] = seen
        await person.press("enter")
        await opened(person)
        await person.press("j")
        await person.arm()
        golden(person.app, f"screen-allow-for-{size[0]}x{size[1]}")


async def test_asks_answered_together_look_as_drawn(host, live, fixed_now, golden) -> None:
    one = await host(clock=lambda: datetime(2026, 1, 10, 9, 0, tzinfo=UTC))
    for name in ("cart", "price"):
        one.ask(
            tool="edit_file",
            shown_input={"path": f"shop/{name}.py"},
            prompt=f"Edit shop/{name}.py",
            diff_text=f"--- a/shop/{name}.py\n+++ b/shop/{name}.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
        )
    async with live(size=(80, 24), now=fixed_now) as person:
        await person.press("enter")
        await person.arm()
        await person.press("b")
        await person.until(lambda: isinstance(person.app.screen, TogetherScreen))
        await person.arm()
        golden(person.app, "screen-together-80x24")


async def test_a_card_says_which_permission_given_since_would_allow_it(work, live) -> None:
    async with work() as one:
        await one.want("touch a", "touch b")
        async with live() as person:
            await opened(person)
            assert "allowed since" not in person.text
            await person.press("j")
            await person.until(lambda: "looking through" not in person.text)
            await person.arm()
            await person.press("s")
            await person.until(
                lambda: "allowed since this was asked, for this session: touch *" in person.text, "the word"
            )
            assert "$ touch b" in person.text
            assert len(one.events("tool.permission.answered")) == 1
            await person.press("u")
            await person.until(lambda: "allowed since" not in person.text, "the word gone with the permission")
