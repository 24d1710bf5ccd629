"""The gate of Codex where it has no app-server that we are on: its command hooks.

Promises: PreToolUse answers denies of the policy, and holds what a rule of the user asks about and what leaves a shell open
into which Codex could type what no hook sees; PermissionRequest answers
policy and person, with the person's words; with nobody watching Codex's own prompt appears at once. What is not understood is
left to Codex.
Does not promise: a race. While a question is held here Codex shows no prompt of its own (docs/gates.md).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.call import ForeignCall, Verdict
from interlock.runtime.gates.claude.gate import deny_before, permission_answer
from interlock.runtime.gates.codex.command import leaves_sandbox, run_outside, unwrap
from interlock.runtime.gates.codex.open_shell import OPENED, opens_shell
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.hook_session import HookSession, SessionGate, first_line, nobody
from interlock.runtime.gates.wording import said

_log = logging.getLogger(__name__)


class CodexGate(SessionGate):
    """All sessions of Codex of this user whose hooks come here."""

    name, kind = "Codex", "codex"

    def version_in(self, body: Mapping[str, Any]) -> str:
        """From the head of its record."""
        path = body.get("transcript_path")
        meta = first_line(path if isinstance(path, str) else None).get("payload")
        return str(meta.get("cli_version") or "") if isinstance(meta, dict) else ""

    async def answer(self, event: str, session: HookSession | None, hook: Hook) -> Mapping[str, Any]:
        """The answer to one hook; `{}` leaves it to Codex."""
        body = hook.body
        if session is None:
            return self._unrecorded(event, body)
        session.confirm_denied(_shows, _shows_own_no)
        match event:
            case "PreToolUse":
                return await self._before(session, session.add(made(body)), hook)
            case "PermissionRequest":
                return permission_answer(await self._permit(session, _asked(session, body), hook))
            case "PostToolUse":
                self._after(session, body)
            case "Stop":
                session.turn_over()
            case _:
                pass
        return {}

    async def _permit(self, session: HookSession, call: ForeignCall, hook: Hook) -> Verdict:
        if leaves_sandbox(session.ledger.foreign.log, call):
            run_outside(call)
        elif call.verdict is not None and call.verdict.decision == "allow":
            return call.verdict  # a person allowed it a moment ago, because a rule asks about it
        return await session.judged(call, hook)

    async def _before(self, session: HookSession, call: ForeignCall, hook: Hook) -> Mapping[str, Any]:
        """Denies of the policy; and what a rule of the user asks about is asked here, for Codex may not ask at all."""
        verdict = session.ledger.refuse(call)
        if verdict is None and not call.asking_rule and opens_shell(session.ledger.decide(call).facts()):
            call.asking_rule = OPENED
        if verdict is None and call.asking_rule:
            verdict = await session.judged(call, hook)
            if verdict.decision == "none":
                return deny_before(nobody(call.asking_rule))
        return deny_before(said(verdict)) if verdict is not None and verdict.decision == "deny" else {}

    def _unrecorded(self, event: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        words = self._host.deny_unrecorded(self.kind, made(body)) if event == "PreToolUse" else None
        return deny_before(words) if words is not None else {}

    def _after(self, session: HookSession, body: Mapping[str, Any]) -> None:
        call = session.by_id(body.get("tool_use_id"))
        if call is not None:
            text = body.get("tool_response")
            session.ran(call, ok=True, summary="Codex says that it ran", size=len(text) if isinstance(text, str) else 0)


def made(body: Mapping[str, Any]) -> ForeignCall:
    """The call that a hook speaks of."""
    given = body.get("tool_input")
    given = dict(given) if isinstance(given, Mapping) else {"input": given}
    if "command" in given and body.get("tool_name") == "Bash":
        given["command"] = unwrap(given["command"])
    why = given.pop("description", None)
    call_id = body.get("tool_use_id")
    facts = {"codex": {"permissionMode": body["permission_mode"]}} if body.get("permission_mode") else {}
    return ForeignCall(
        tool=str(body.get("tool_name") or "unknown"),
        input=given,
        cwd=str(body.get("cwd") or "/"),
        call_id=call_id if isinstance(call_id, str) else None,
        reason=why if isinstance(why, str) and why else None,
        facts=facts,
    )


def _asked(session: HookSession, body: Mapping[str, Any]) -> ForeignCall:
    """The call of a permission request, which has no id: the oldest alike that was not asked about."""
    fresh = made(body)
    known = session.alike(fresh.tool, fresh.input, lambda call: not call.is_asked)
    found = known if known is not None else session.add(fresh)
    found.is_asked = True
    found.reason = found.reason or fresh.reason
    return found


def _shows(call: ForeignCall, tail: bytes) -> bool:
    """Whether Codex's own record has the output of a call."""
    return bool(_output(call, tail))


def _shows_own_no(call: ForeignCall, tail: bytes) -> bool:
    """Whether the person said no in Codex's own prompt."""
    return b"rejected by user" in _output(call, tail)


def _output(call: ForeignCall, tail: bytes) -> bytes:
    mark = f'"{call.call_id}"'.encode()
    lines = tail.splitlines() if call.call_id is not None else []
    return next((line for line in lines if mark in line and b'_output"' in line), b"")
