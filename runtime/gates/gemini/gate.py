"""The gate of Gemini CLI: its BeforeTool hook.

Promises: a deny of the policy or a person keeps the call from running and reaches the model in words; what nobody decides
here is asked in Gemini CLI's own prompt (`ask`). What is allowed is marked, since our policy file lets pass nothing else.
Calls that Gemini CLI never asks about are left to it, unless a rule of the user says ask or deny.
Does not promise: a race. While a question is held here Gemini CLI shows no prompt of its own (docs/gates.md).
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.runtime.gates.call import ForeignCall, Verdict
from interlock.runtime.gates.edit_diff import edit_diff
from interlock.runtime.gates.gemini.permit import OPENED, sign_of, with_sign
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.hook_session import HookSession, SessionGate
from interlock.runtime.gates.service.config import ServiceConfigError, read_config
from interlock.runtime.gates.wording import said
from interlock.runtime.journal.place import PlaceError
from interlock.runtime.sources.gemini.sign import without_sign

_log = logging.getLogger(__name__)
_RULES = ("managed", "user", "project")
ASK = {"decision": "ask"}
"""Gemini CLI asks in its own prompt. Without a terminal it would wait for ever, so it is not told that there."""
NOBODY = {
    "decision": "deny",
    "reason": "Nobody is there to allow this: no screen of Interlock is open and Gemini CLI has no terminal. Nothing was run.",
}


class GeminiGate(SessionGate):
    """All sessions of Gemini CLI of this user."""

    name, kind = "Gemini CLI", "gemini"
    unheard = ASK

    async def answer(self, event: str, session: HookSession | None, hook: Hook) -> Mapping[str, Any]:
        """The answer to one hook."""
        if event == "AfterTool" and session is not None:
            self._after(session, hook.body)
        if event != "BeforeTool":
            return {}
        call = made(hook.body)
        if session is None:
            return self._unrecorded(call)
        session.confirm_denied(_shows)
        return await self._before(session, call, hook)

    async def _before(self, session: HookSession, call: ForeignCall, hook: Hook) -> Mapping[str, Any]:
        session.add(call)
        if call.tool not in OPENED:
            decision = session.ledger.decide(call)
            if decision.effect == "ask" and decision.source not in _RULES:
                return {}  # Gemini CLI's own rules know this tool
        call.diff = edit_diff("gemini", call.tool, call.input, call.cwd)
        answer = answer_of(await session.judged(call, hook), call, self._sign())
        return NOBODY if answer == ASK and is_headless(session.pid) else answer

    def _unrecorded(self, call: ForeignCall) -> Mapping[str, Any]:
        words = self._host.deny_unrecorded(self.kind, call)
        if words is not None:
            return {"decision": "deny", "reason": words}
        return ASK if call.tool in OPENED else {}

    def _after(self, session: HookSession, body: Mapping[str, Any]) -> None:
        told = made(body)
        told.input = without_sign(told.input)
        call = session.alike(told.tool, told.input, lambda c: c.verdict is None or c.verdict.decision != "deny")
        response = body.get("tool_response")
        response = response if isinstance(response, Mapping) else {}
        if call is not None:
            text = response.get("llmContent")
            size = len(text) if isinstance(text, str) else 0
            failed = bool(response.get("error"))
            session.ran(call, ok=not failed, summary="Gemini CLI says that it failed" if failed else "", size=size)

    def _sign(self) -> str:
        """ "" where our configuration cannot be read: then Gemini CLI asks about what is allowed here, too."""
        try:
            config = read_config()
        except (ServiceConfigError, PlaceError) as error:
            _log.error("%s", error)
            return ""
        return sign_of(config.key) if config is not None else ""


def is_headless(pid: int | None) -> bool:
    """Whether this Gemini CLI has no terminal to ask in; what cannot be seen counts as having one."""
    if pid is None:
        return False
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        if not os.readlink(f"/proc/{pid}/fd/0").startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
            return True
    except OSError:
        told = subprocess.run(
            ["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
        words = told.stdout.split()
    return any(word in ("-p", "--prompt") or word.startswith("--prompt=") for word in words[1:])


def answer_of(verdict: Verdict, call: ForeignCall, sign: str) -> Mapping[str, Any]:
    """The answer to BeforeTool."""
    if verdict.decision == "none":
        return ASK
    if verdict.decision == "deny":
        return {"decision": "deny", "reason": said(verdict)}
    if not sign or call.tool not in OPENED:
        return {"decision": "allow"}
    marked = {"hookEventName": "BeforeTool", "tool_input": with_sign(call.tool, call.input, sign)}
    return {"decision": "allow", "hookSpecificOutput": marked}


def made(body: Mapping[str, Any]) -> ForeignCall:
    """The call that a hook speaks of. Gemini CLI gives it no id."""
    given = body.get("tool_input")
    given = dict(given) if isinstance(given, Mapping) else {"input": given}
    why = given.get("description") or given.get("instruction")
    return ForeignCall(
        tool=str(body.get("tool_name") or "unknown"),
        input=given,
        cwd=str(body.get("cwd") or "/"),
        reason=why if isinstance(why, str) else None,
    )


def _shows(call: ForeignCall, tail: bytes) -> bool:
    """Whether Gemini CLI's own record has the refusal, in the words that it was given."""
    assert call.verdict is not None
    words = json.dumps(said(call.verdict), ensure_ascii=False)[1:-1]
    return words.encode() in tail or json.dumps(said(call.verdict))[1:-1].encode() in tail
