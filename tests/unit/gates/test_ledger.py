"""The gate's journal of one foreign session: who decides, and what is on record of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from interlock.runtime.asks.client import AskClient, AskRefused, BlockingClient
from interlock.runtime.asks.discovery import hosts
from interlock.runtime.asks.protocol import AnsweredNotice, ClosedNotice
from interlock.runtime.gates.call import SubAgent

DENY = '[[rule]]\nid = "no-push"\neffect = "deny"\ncommand = "git push"\nreason = "pushing is for people"\n'
ALLOW = '[[rule]]\nid = "deploys"\neffect = "allow"\ncommand = "make deploy"\nreason = "harmless here"\n'


class BlockingClientThread:
    """A blocking client whose calls run beside the loop that the host lives in."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    async def call(self, method, **params):
        def run():
            with BlockingClient(self.path, "test") as client:
                return client.call(method, **params)

        return await asyncio.to_thread(run)


def kinds(written):
    return [event["type"] for event in written]


async def test_journal_says_whose_session_it_stands_beside(ledger, events):
    first = events(ledger)[0]
    assert first["agent"] == {"name": "Claude Code", "version": "2.1.332", "kind": "claude_code"}
    assert first["foreign"] == {"session": "f-1", "log": "/no/log.jsonl"}


async def test_host_is_found_with_all_its_sessions(gate_host, ledger, machine):
    from interlock.runtime.events.session import Agent, Foreign

    other = gate_host.open(Agent(name="Codex", kind="codex"), Foreign(session="f-2"), str(machine.project))
    [found] = hosts()
    assert [s.id for s in found.sessions] == [ledger.session, other.session]
    other.end()
    assert [s.id for s in hosts()[0].sessions] == [ledger.session]


async def test_deny_rule_is_told_with_its_reason_and_asks_nobody(machine, ledger, call, events):
    machine.policy(DENY)
    verdict = await ledger.judge(call("git push", races=True))
    assert verdict.decision == "deny"
    assert "pushing is for people" in verdict.message
    assert "no-push" in verdict.message
    assert kinds(events(ledger)) == ["session.started", "tool.intent", "tool.permission"]


async def test_allow_rule_asks_nobody_and_an_edited_rule_holds_for_the_next_call(machine, ledger, call):
    machine.policy(ALLOW)
    assert (await ledger.judge(call())).decision == "allow"
    machine.policy(ALLOW.replace("allow", "deny"))
    assert (await ledger.judge(call())).decision == "deny"


async def test_with_nobody_watching_a_call_is_left_to_the_agents_prompt_at_once(gate_host, ledger, call):
    verdict = await ledger.judge(call())
    assert verdict.decision == "none"
    assert "nobody watches" in verdict.message
    assert gate_host.broker.pending() == ()


async def test_ask_that_races_stays_open_for_a_screen_that_comes_later(gate_host, ledger, call):
    waiting = asyncio.ensure_future(ledger.judge(call(races=True)))
    await asyncio.sleep(0)
    async with await AskClient.connect(gate_host.reply_to, "late screen") as late:
        [ask] = await late.list()
        assert ask.event["shownInput"] == {"command": "make deploy"}
        assert ask.event["cwd"] == ledger.roots[0]
        await late.answer(ask.ask_id, ask.input_digest, "allow")
    verdict = await waiting
    assert (verdict.decision, verdict.by.client) == ("allow", "late screen")


async def test_persons_words_reach_the_verdict_as_they_are(ledger, call, approver):
    waiting = asyncio.ensure_future(ledger.judge(call()))
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny", message="  use *staging*\nplease ")
    verdict = await waiting
    assert (verdict.decision, verdict.message) == ("deny", "  use *staging*\nplease ")


async def test_answer_is_delivered_only_when_the_agents_record_shows_it(ledger, call, approver, events):
    made = call()
    waiting = asyncio.ensure_future(ledger.judge(made))
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    await waiting
    assert "tool.permission.delivered" not in kinds(events(ledger))
    ledger.delivered(made)
    ledger.delivered(made)
    ledger.result(made, ok=True)
    ledger.result(made, ok=False)
    assert kinds(events(ledger))[-3:] == ["tool.permission.answered", "tool.permission.delivered", "tool.observation"]


async def test_native_yes_ends_the_ask_and_is_told_as_such(ledger, call, approver, events):
    made = call(races=True)
    waiting = asyncio.ensure_future(ledger.judge(made))
    await approver.opened()
    assert ledger.cancel(made, "native_allow")
    assert (await waiting).by.kind == "native_prompt"
    told = await approver.next()
    assert isinstance(told, AnsweredNotice)
    assert (told.answer, told.by.kind) == ("allow", "native_prompt")
    assert kinds(events(ledger))[-2:] == ["tool.permission.answered", "tool.permission.delivered"]
    assert not ledger.cancel(made, "native_allow")


async def test_withdrawn_ask_is_closed_and_a_late_answer_is_refused(ledger, call, approver):
    made = call(races=True)
    waiting = asyncio.ensure_future(ledger.judge(made))
    ask = await approver.opened()
    assert ledger.cancel(made, "withdrawn")
    assert (await waiting).decision == "none"
    assert isinstance(await approver.next(), ClosedNotice)
    with pytest.raises(AskRefused) as refused:
        await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    assert refused.value.name == "ask_closed"


async def test_ask_ends_when_the_agent_waits_no_longer(ledger, call, approver):
    soon = ledger.journal.now() + timedelta(seconds=3)
    verdict = await ledger.judge(call(races=True, expires_at=soon))
    assert verdict.decision == "none"
    await approver.opened()
    assert (await approver.next()).cause == "expired"


async def test_waiter_that_is_cancelled_takes_its_ask_with_it(gate_host, ledger, call, approver):
    waiting = asyncio.ensure_future(ledger.judge(call(races=True)))
    await approver.opened()
    waiting.cancel()
    assert (await approver.next()).cause == "cancelled"
    assert gate_host.broker.pending() == ()


async def test_session_grant_answers_the_next_like_call(ledger, call, approver, events):
    waiting = asyncio.ensure_future(ledger.judge(call("make test")))
    ask = await approver.opened()
    assert "allow.session" in ask.event["choices"]
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow", scope="session")
    assert (await waiting).decision == "allow"
    again = await ledger.judge(call("make test"))
    assert (again.decision, again.source) == ("allow", "session grant")
    assert "grant.made" in kinds(events(ledger))


async def test_grant_is_listed_and_revoked_over_the_socket(ledger, call, approver, gate_host, events):
    waiting = asyncio.ensure_future(ledger.judge(call("make test")))
    ask = await approver.opened()
    [narrow, *_] = ask.event["suggestedRules"]
    assert narrow["scopes"] == ["session", "ten_minutes"]
    with BlockingClientThread(gate_host.reply_to) as client:
        told = await client.call(
            "asks.answer",
            askId=ask.ask_id,
            inputDigest=ask.input_digest,
            answer="allow",
            scope="ten_minutes",
            suggestion=narrow["digest"],
        )
        await waiting
        [grant] = (await client.call("grants.list"))["grants"]
        assert (grant["grantId"], grant["scope"]) == (told["grantId"], "ten_minutes")
        assert grant["expiresAt"]
        await client.call("grants.revoke", grantId=grant["grantId"], session=ledger.session)
        assert (await client.call("grants.list"))["grants"] == []
    assert kinds(events(ledger))[-1] == "grant.revoked"
    again = asyncio.ensure_future(ledger.judge(call("make test", races=True)))
    ask = await approver.opened()
    ledger.end()
    assert (await again).decision == "none"


async def test_question_offers_only_what_can_be_honoured(ledger, call, approver):
    asked = call(races=True, question="the agent asks something", choices=("deny", "deny.message"))
    waiting = asyncio.ensure_future(ledger.judge(asked))
    ask = await approver.opened()
    assert ask.event["choices"] == ["deny", "deny.message"]
    with pytest.raises(AskRefused) as refused:
        await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    assert refused.value.name == "choice_not_offered"
    # yes in the agent's own prompt is no answer that we offered, and ends the ask all the same
    assert ledger.cancel(asked, "native_allow")
    assert (await waiting).decision == "none"


async def test_sub_agent_and_diff_stand_on_the_ask(ledger, call, approver, machine):
    made = call(diff="--- a/x\n+++ b/x\n", sub_agent=SubAgent("a1", "Explore"))
    waiting = asyncio.ensure_future(ledger.judge(made))
    ask = await approver.opened()
    assert ask.event["facts"]["subAgent"] == {"id": "a1", "type": "Explore"}
    assert (ledger.journal.folder / ask.event["diffPath"]).read_text() == "--- a/x\n+++ b/x\n"
    ledger.cancel(made, "withdrawn")
    await waiting


async def test_journal_that_cannot_be_written_leaves_the_call_to_the_prompt_but_denies_hold(machine, ledger, call):
    machine.policy(DENY + ALLOW)
    ledger.journal.path.unlink()
    assert (await ledger.judge(call())).decision == "none"
    assert (await ledger.judge(call("git push"))).decision == "deny"


async def test_end_closes_what_is_open_and_says_what_was_not_seen(gate_host, ledger, call, approver, events):
    made = call(races=True)
    waiting = asyncio.ensure_future(ledger.judge(made))
    await approver.opened()
    ledger.end("completed", "the agent left")
    assert (await waiting).decision == "none"
    written = events(ledger)
    assert kinds(written)[-3:] == ["tool.permission.closed", "tool.observation", "session.ended"]
    assert written[-2]["code"] == "not_recorded"
    assert gate_host.ledgers == ()
    ledger.end()
    assert events(ledger) == written


async def test_two_sessions_ask_at_once_and_each_answer_lands_in_its_own_journal(
    gate_host, ledger, call, approver, events, machine
):
    from interlock.runtime.events.session import Agent, Foreign

    other = gate_host.open(Agent(name="Codex", kind="codex"), Foreign(session="f-2"), str(machine.project))
    first = asyncio.ensure_future(ledger.judge(call("make one")))
    second = asyncio.ensure_future(other.judge(call("make two")))
    asks = {(await approver.opened()).session: None for _ in range(2)}
    assert set(asks) == {ledger.session, other.session}
    for ask in await approver.client.list():
        await approver.client.answer(ask.ask_id, ask.input_digest, "allow" if ask.session == other.session else "deny")
    assert ((await first).decision, (await second).decision) == ("deny", "allow")
    assert events(ledger)[-1]["answer"] == "deny"
    assert events(other)[-1]["answer"] == "allow"


@pytest.mark.parametrize("command", ["cp e/secret copy", "sh run.sh", "make", "git apply p.patch"])
async def test_an_allow_for_something_else_than_was_shown_is_told_as_a_no(
    machine, ledger, call, approver, events, command
):
    """FT-019, FT-022"""
    machine.policy('[[rule]]\nid = "look"\neffect = "ask"\nprogram = "cat"\nreason = "look first"\n')
    for name in ("e/secret", "run.sh", "p.patch"):
        place = machine.project / name
        place.parent.mkdir(exist_ok=True)
        place.write_text("shown\n")
    outside = machine.root / "outside"
    outside.mkdir()
    (outside / "secret").write_text("theirs\n")
    gate_call = call(command)
    verdict = asyncio.create_task(ledger.judge(gate_call))
    ask = await approver.opened()
    assert ask.event["facts"]["footing"]["digest"]
    for name in ("run.sh", "p.patch", "Makefile"):
        (machine.project / name).write_text("all:\n\techo swapped\n")
    (machine.project / "e").rename(machine.root / "moved")
    (machine.project / "e").symlink_to(outside)
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    told = await verdict
    assert (told.decision, told.by.kind) == ("deny", "runtime")
    assert "what was shown changed" in told.message
    ledger.result(gate_call, ok=False)
    assert events(ledger)[-1]["code"] == "stale_file_baseline"
