"""What a standing permission would have covered of past calls, for whoever is about to make one (ASK-4).

Promises: judged by the policy that holds now, with the permission and without; calls that pass anyway or are denied count
as neither; the number of calls that were looked at is told, and whether there are more. Runs in a thread, one at a time
for a session, also when its asker leaves before the end, and nothing waits for it: the ask is open meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.runtime.asks.protocol import PreviewReply
from interlock.runtime.engine.ground import Ground, judge_of
from interlock.runtime.engine.offer import Offer
from interlock.runtime.engine.past import Past, PastCall, past_calls
from interlock.runtime.journal.place import sessions_home
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.tool import command_of
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.verdict.decide import Judge

MOST_EXAMPLES = 5
MOST_EXAMPLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Trial:
    """A permission to be tried: a grant, or a rule as a layer."""

    grant: Grant | None
    layer: Layer | None
    about: str
    """What it is about, to tell near misses from others."""


def trial_of(offer: Offer, layer: Layer | None) -> Trial:
    """The permission that an offer stands for; `layer`: its rule as it was edited."""
    one = offer.suggestion
    if layer is not None:
        rule = layer.rules[0]
        about = rule.commands[0].text if rule.commands else rule.paths.texts[0] if rule.paths else one.value
        return Trial(None, layer, about)
    return Trial(Grant("preview", one.tool, one.field, one.value, one.cwd), None, one.value)


async def preview_of(setting: Ground, call: Call, trial: Trial, *, but: str) -> PreviewReply:
    """Look through the past. `but`: the intent that is asked about now, as `session/intent`, which is not of the past.

    The reply's `ask_id` and `suggestion` are the caller's to fill in.
    """
    judge = judge_of(setting)
    await setting.previewing.acquire()
    look = asyncio.ensure_future(asyncio.to_thread(_preview, judge, call, trial, but))
    look.add_done_callback(lambda done: _over(setting.previewing, done))
    return await asyncio.shield(look)


def _over(previewing: asyncio.Lock, look: asyncio.Future[PreviewReply]) -> None:
    # not when the asker leaves: the thread cannot be stopped, and those of askers that come and go would pile up
    previewing.release()
    if not look.cancelled():
        look.exception()  # told to the asker, if there still is one


def _preview(judge: Judge, call: Call, trial: Trial, but: str) -> PreviewReply:
    past = past_calls(sessions_home(), call.tool, but=but, user_home=call.home)
    covered: list[PastCall] = []
    left: list[PastCall] = []
    # one policy for all calls: the index of its rules is built once
    permitted = judge.allowing(grant=trial.grant, layers=(trial.layer,) if trial.layer is not None else ())
    for one in past.calls:
        asked = _call(one, call)
        if judge.decide(asked).effect == "ask":
            (covered if permitted.allows(asked) else left).append(one)
    return _reply(past, covered, left, trial.about).model_copy(update={"covers_this": permitted.allows(call)})


def _call(one: PastCall, like: Call) -> Call:
    return replace(one.call, home=like.home, risks=like.risks, read_only=like.read_only, protected=like.protected)


def _reply(past: Past, covered: Sequence[PastCall], left: Sequence[PastCall], about: str) -> PreviewReply:
    near = sorted((one for one in left if _likeness(one, about)), key=lambda one: -_likeness(one, about))
    return PreviewReply(
        ask_id="",
        suggestion="",
        calls=len(past.calls),
        sessions=past.sessions,
        since=past.calls[-1].at if past.calls else None,
        whole=past.whole,
        covered=len(covered),
        still_asks=len(left),
        covered_examples=_examples(covered),
        near_misses=_examples(near),
    )


def _likeness(one: PastCall, about: str) -> int:
    """How many first words, or folders, it has in common with what the permission is about."""
    text = _text(one)
    sign = "/" if about.startswith("/") else None
    count = 0
    for mine, wanted in zip(text.split(sign), about.split(sign), strict=False):
        if mine != wanted:
            break
        count += bool(mine)
    return count


def _text(one: PastCall) -> str:
    found = command_of(one.input) or one.input.get("path") or one.input.get("file_path")
    if not isinstance(found, str):
        return json.dumps(one.input, ensure_ascii=False, default=str)
    if command_of(one.input) is None and not found.startswith("/"):
        return f"{one.cwd.rstrip('/')}/{found}"
    return found


def _examples(calls: Sequence[PastCall]) -> tuple[str, ...]:
    texts = dict.fromkeys(_text(one) for one in calls)
    return tuple(t if len(t) <= MOST_EXAMPLE_CHARS else t[: MOST_EXAMPLE_CHARS - 1] + "…" for t in texts)[
        :MOST_EXAMPLES
    ]
