"""Standing permissions of gated agents: the same choices as our own runtime's, kept rules and previews among them."""

from __future__ import annotations

import asyncio

import pytest

from interlock.runtime.asks.client import AskRefused
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.tools.kept_rule import kept_rules
from interlock.runtime.tools.policy_files import user_file

OTHERS = (
    ("codex", "exec_command", "cmd"),
    ("gemini", "run_shell_command", "command"),
    ("opencode", "bash", "command"),
    ("acp", "execute", "command"),
)


def kinds(written):
    return [event["type"] for event in written]


async def asked(ledger, call, approver):
    """(the waiting verdict, its ask)"""
    waiting = asyncio.ensure_future(ledger.judge(call))
    return waiting, await approver.opened()


async def by_rule(ledger, call, approver, rule=None):
    """Allow a call by the rule that its ask suggests, or one made of it."""
    waiting, ask = await asked(ledger, call, approver)
    chosen = suggestion(ask)
    await approver.client.answer(
        ask.ask_id, ask.input_digest, "allow", scope="rule", suggestion=chosen["digest"], rule=rule
    )
    assert (await waiting).decision == "allow"
    return chosen


def suggestion(ask):
    return next(one for one in ask.event["suggestedRules"] if "rule" in one["scopes"])


async def test_an_ask_offers_what_our_own_runtime_does_but_for_turns(ledger, call, approver):
    waiting, ask = await asked(ledger, call("touch a.txt"), approver)
    assert ask.event["choices"] == [
        "allow.once", "allow.session", "allow.ten_minutes", "allow.rule", "deny", "deny.message",
    ]  # fmt: skip
    assert all("turn" not in one["scopes"] for one in ask.event["suggestedRules"])
    ledger.end()
    await waiting


async def test_a_rule_is_kept_and_the_next_equal_call_passes_by_it(ledger, call, approver, events):
    chosen = await by_rule(ledger, call("touch a.txt"), approver)
    assert chosen["rule"] in user_file().read_text()
    again = await ledger.judge(call("touch b.txt"))
    assert (again.decision, again.source) == ("allow", "user")
    made = next(event for event in events(ledger) if event["type"] == "grant.made")
    assert (made["scope"], made["rule"]) == ("rule", chosen["rule"])


@pytest.mark.parametrize(("kind", "tool", "field"), OTHERS)
async def test_the_rule_holds_at_once_for_running_sessions_of_other_agents(
    gate_host, ledger, call, approver, machine, kind, tool, field
):
    other = gate_host.open(Agent(name=kind, kind=kind), Foreign(session="f-2"), str(machine.project))
    like = ForeignCall(tool=tool, input={field: "touch c.txt"}, cwd=str(machine.project))
    waiting, ask = await asked(other, like, approver)
    assert other.cancel(like, "withdrawn")
    await waiting
    assert "allow.rule" in ask.event["choices"]
    await by_rule(ledger, call("touch a.txt"), approver)
    same = ForeignCall(tool=tool, input={field: "touch c.txt"}, cwd=str(machine.project))
    assert (await other.judge(same)).source == "user"


async def test_an_edit_by_rule_covers_the_file_and_no_other(ledger, approver, machine):
    def edit(name):
        given = {"file_path": str(machine.project / name), "old_string": "a", "new_string": "b"}
        return ForeignCall(tool="Edit", input=given, cwd=str(machine.project))

    await by_rule(ledger, edit("a.py"), approver)
    assert (await ledger.judge(edit("a.py"))).decision == "allow"
    waiting, _ = await asked(ledger, edit("b.py"), approver)
    ledger.end()
    assert (await waiting).decision == "none"


async def test_an_edited_rule_that_covers_more_is_refused_and_a_narrower_one_is_kept(ledger, call, approver):
    waiting, ask = await asked(ledger, call("touch a.txt"), approver)
    chosen = suggestion(ask)
    wide = chosen["rule"].replace('"touch *"', '"*"')
    assert wide != chosen["rule"]
    with pytest.raises(AskRefused) as refused:
        await approver.client.answer(
            ask.ask_id, ask.input_digest, "allow", scope="rule", suggestion=chosen["digest"], rule=wide
        )
    assert refused.value.name == "rule_refused"
    narrow = chosen["rule"].replace('"touch *"', '"touch a.txt"')
    await approver.client.answer(
        ask.ask_id, ask.input_digest, "allow", scope="rule", suggestion=chosen["digest"], rule=narrow
    )
    assert (await waiting).decision == "allow"
    assert (await ledger.judge(call("touch a.txt"))).decision == "allow"
    waiting, _ = await asked(ledger, call("touch b.txt"), approver)
    ledger.end()
    assert (await waiting).decision == "none"


async def test_a_revoked_rule_leaves_the_file_and_the_next_call_is_asked(ledger, call, approver):
    await by_rule(ledger, call("touch a.txt"), approver)
    [grant] = await approver.client.grants()
    told = await approver.client.revoke(grant.grant_id)
    assert (told.rule_removed, kept_rules()) == (True, ())
    waiting, _ = await asked(ledger, call("touch a.txt"), approver)
    ledger.end()
    assert (await waiting).decision == "none"


async def test_a_rule_taken_out_of_the_file_by_hand_is_told_as_taken_back(ledger, call, approver, machine, events):
    await by_rule(ledger, call("touch a.txt"), approver)
    machine.policy("# nothing here any more\n")
    waiting, _ = await asked(ledger, call("touch a.txt"), approver)
    assert "grant.revoked" in kinds(events(ledger))
    assert await approver.client.grants() == ()
    ledger.end()
    await waiting


async def test_a_policy_file_that_cannot_take_the_rule_lets_it_pass_once_and_says_why(
    ledger, call, approver, machine, events
):
    waiting, ask = await asked(ledger, call("touch a.txt"), approver)
    (machine.root / "config").mkdir()
    user_file().write_bytes(b"# caf\xe9\n")
    told = await approver.client.answer(
        ask.ask_id, ask.input_digest, "allow", scope="rule", suggestion=suggestion(ask)["digest"]
    )
    assert "no rule was kept" in (told.grant_fault or "")
    assert (await waiting).decision == "allow"
    assert user_file().read_bytes() == b"# caf\xe9\n"
    assert kinds(events(ledger))[-1] == "grant.revoked"


async def test_a_preview_counts_calls_of_every_agent_in_our_words(gate_host, ledger, call, approver, machine):
    codex = gate_host.open(Agent(name="Codex", kind="codex"), Foreign(session="f-2"), str(machine.project))
    for number in range(3):
        past = ForeignCall(tool="exec_command", input={"cmd": f"touch {number}.txt"}, cwd=str(machine.project))
        waiting, ask = await asked(codex, past, approver)
        await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
        await waiting
    waiting, ask = await asked(ledger, call("touch a.txt"), approver)
    seen = await approver.client.preview(ask.ask_id, suggestion(ask)["digest"])
    assert (seen.calls, seen.covered, seen.still_asks) == (3, 3, 0)
    assert "touch 2.txt" in seen.covered_examples
    narrow = suggestion(ask)["rule"].replace('"touch *"', '"touch a.txt"')
    seen = await approver.client.preview(ask.ask_id, suggestion(ask)["digest"], narrow)
    assert (seen.covered, seen.still_asks) == (0, 3)
    ledger.end()
    await waiting


async def test_a_call_that_no_rule_can_name_offers_once_alone(ledger, approver, machine):
    unknown = ForeignCall(tool="mcp__thing__do", input={"x": 1}, cwd=str(machine.project))
    waiting, ask = await asked(ledger, unknown, approver)
    assert ask.event["choices"] == ["allow.once", "deny", "deny.message"]
    ledger.end()
    await waiting


async def test_a_route_that_can_only_say_no_offers_nothing_that_stands(ledger, call, approver):
    waiting, ask = await asked(ledger, call("touch a.txt", choices=("deny",)), approver)
    assert (ask.event["choices"], ask.event.get("suggestedRules") or []) == (["deny"], [])
    ledger.end()
    await waiting


async def test_the_prompt_is_the_command_alone_and_the_sandbox_is_not_known(ledger, call, approver):
    waiting = asyncio.ensure_future(ledger.judge(call("touch a.txt")))
    notice = await approver.next()
    assert isinstance(notice, OpenedNotice)
    assert (notice.ask.event["tool"], notice.ask.event["prompt"]) == ("Bash", "touch a.txt")
    assert notice.ask.event["sandbox"]["provider"] == "unknown"
    ledger.end()
    await waiting
