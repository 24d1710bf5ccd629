"""The gate of opencode, as its plugin (`opencode/plugin.js`) tells of calls and questions.

Promises: a deny keeps the call from running and the model reads why; opencode's own questions are answered while its prompt
stays usable, whichever answer comes first; calls that opencode would let through are held while somebody watches, and left
to opencode's settings otherwise. A reject takes the session's other open questions with it (opencode does that): each of
them is closed here at once with that reason, none vanishes without a word.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.edit_diff import edit_diff
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.hook_session import HookSession, SessionGate, nobody
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.question import (
    REFUSED_ALONE,
    TAKEN_DOWN,
    call_of,
    is_about,
    merged_into,
    native_cause,
)
from interlock.runtime.gates.wording import said

_log = logging.getLogger(__name__)
_REFUSED = ("The user rejected permission", "The user has specified a rule")
"""How opencode begins what it says of a call that it did not run."""


class OpencodeGate(SessionGate):
    """All sessions of opencode of this user whose plugin talks to us."""

    name, kind = "opencode", "opencode"

    def __init__(self, host: GateHost) -> None:
        super().__init__(host)
        self._questions: dict[str, tuple[HookSession, ForeignCall]] = {}
        self._rejected: set[str] = set()
        """Sessions in which we have just rejected something."""

    def version_in(self, body: Mapping[str, Any]) -> str:
        """As the plugin tells it."""
        return str(body.get("version") or "")

    async def hook(self, hook: Hook) -> Mapping[str, Any]:
        """The answer to what the plugin tells; `{}` leaves it to opencode."""
        body, event = hook.body, hook.body.get("event")
        told = body.get("properties")
        told = told if isinstance(told, Mapping) else body
        session_id = told.get("sessionID")
        if not isinstance(session_id, str) or not session_id or not isinstance(event, str):
            return {}
        if event == "session.deleted":
            self._sessions.end(session_id, "opencode has removed the session")
            return {}
        if event == "permission.replied":
            self._replied(told, is_headless=body.get("headless") is True)
            return {}
        session = self._sessions.get(session_id, str(body.get("directory") or "/"), None, hook)
        if event == "tool.execute.before":
            return await self._before(session, hook)
        if session is None:
            return {}
        match event:
            case "permission.asked":
                return await self._asked(session, told, hook)
            case "tool.part":
                self._part(session, told)
            case "session.idle":
                self._rejected.discard(session_id)
                session.turn_over()
            case _:
                pass
        return {}

    async def _before(self, session: HookSession | None, hook: Hook) -> Mapping[str, Any]:
        body = hook.body
        call = made(body)
        if session is None:
            words = self._host.deny_unrecorded(self.kind, call)
            return {"decision": "deny", "message": words} if words is not None else {}
        session.add(call)
        if body.get("asks") or session.ledger.decide(call).effect != "ask":
            verdict = session.ledger.refuse(call)
            if verdict is None and not body.get("asks"):
                verdict = await session.judged(call, hook)  # a rule allows it: on record
        else:
            session.ledger.refuse(call)
            call.diff = edit_diff("opencode", call.tool, call.input, call.cwd)
            verdict = await session.judged(call, hook)
            if verdict.decision == "none" and call.asking_rule:
                return {"decision": "deny", "message": nobody(call.asking_rule)}
        if verdict is not None and verdict.decision == "deny":
            return {"decision": "deny", "message": said(verdict)}
        return {}

    async def _asked(self, session: HookSession, told: Mapping[str, Any], hook: Hook) -> Mapping[str, Any]:
        question = told.get("id")
        if not isinstance(question, str):
            return {}
        tool = told.get("tool")
        known = session.by_id(tool.get("callID") if isinstance(tool, Mapping) else None)
        fresh = call_of(told, session.cwd)
        is_known = known is not None and known.ask_id is None and is_about(known, fresh)
        call = merged_into(known, fresh) if known is not None and is_known else session.add(fresh)
        self._questions[question] = (session, call)
        try:
            verdict = await session.judged(call, hook)
        finally:
            is_ours = self._questions.pop(question, None) is not None
        if verdict.decision == "none" or not is_ours:
            return {}
        if verdict.decision == "allow":
            return {"reply": "once"}
        self._rejected.add(session.ledger.foreign.session)
        return {"reply": "reject", "message": said(verdict)}

    def _replied(self, told: Mapping[str, Any], *, is_headless: bool) -> None:
        session, call = self._questions.get(str(told.get("requestID") or told.get("permissionID")), (None, None))
        if session is None or call is None:
            return
        self._questions.pop(str(told.get("requestID") or told.get("permissionID")))
        if told.get("reply") == "reject" and session.ledger.foreign.session in self._rejected:
            session.ledger.cancel(call, "withdrawn", TAKEN_DOWN)
        elif told.get("reply") == "reject" and is_headless:
            session.ledger.cancel(call, "withdrawn", REFUSED_ALONE)
        else:
            session.ledger.cancel(call, native_cause(told.get("reply")))

    def _part(self, session: HookSession, told: Mapping[str, Any]) -> None:
        """opencode's own record of a call that is over."""
        call = session.by_id(told.get("callID"))
        if call is None:
            return
        if told.get("status") == "completed":
            code, spent = told.get("exit"), told.get("durationMs")
            session.ran(
                call,
                ok=code in (None, 0),
                summary=f"exit code {code}" if code is not None else "",
                duration_ms=spent if isinstance(spent, int) else None,
                size=told["bytes"] if isinstance(told.get("bytes"), int) else 0,
            )
            return
        error = str(told.get("error") or "")
        # a call that ran and failed shows a yes as well; one that opencode refused by itself does not
        shown = "allow" if not error.startswith(_REFUSED) else "deny"
        if call.verdict is not None and call.verdict.decision in ("deny", shown):
            session.ledger.delivered(call)
        session.ledger.cancel(call, "withdrawn")
        is_own = error.startswith(_REFUSED) and (call.verdict is None or call.verdict.decision == "none")
        session.ledger.result(call, ok=False, code="policy_denied" if is_own else "", summary=error[:300])
        session.forget(call)


def made(body: Mapping[str, Any]) -> ForeignCall:
    """The call that the plugin tells of before it runs."""
    given, call_id = body.get("args"), body.get("callID")
    given = dict(given) if isinstance(given, Mapping) else {"args": given}
    why = given.get("description")
    return ForeignCall(
        tool=str(body.get("tool") or "unknown"),
        input=given,
        cwd=str(body.get("directory") or "/"),
        call_id=call_id if isinstance(call_id, str) else None,
        reason=why if isinstance(why, str) else None,
    )
