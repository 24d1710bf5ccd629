"""The gate of Claude Code: hooks in, answers out. docs/gates.md says what was seen of each.

Promises: PreToolUse answers denies of the policy in every mode, and in a terminal has asked about what a rule of a policy
file asks about; PermissionRequest answers policy and
person, with the person's words as they are; every other event is answered at once; what is not understood is left to Claude
Code's own prompt. Where no journal can be written, denies still hold and nothing is allowed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import Verdict
from interlock.runtime.gates.claude.record import version_in
from interlock.runtime.gates.claude.registry import folder_of, live_session
from interlock.runtime.gates.claude.session import ClaudeSession, made
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.gates.wording import said
from interlock.runtime.journal.place import PlaceError
from interlock.runtime.journal.writer import JournalWriteError

_log = logging.getLogger(__name__)

NAME = "Claude Code"
KIND = "claude_code"
_BEGINNING = ("PreToolUse", "PermissionRequest")


class ClaudeGate:
    """All sessions of Claude Code of this user."""

    def __init__(self, host: GateHost) -> None:
        self._host = host
        self._sessions: dict[str, ClaudeSession] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a standing permission would be lost."""
        return any(s.ledger.grants.standing() and s.is_alive for s in self._sessions.values())

    async def hook(self, hook: Hook) -> Mapping[str, Any]:
        """The answer to one hook; `{}` leaves it to Claude Code."""
        event, session_id = hook.body.get("hook_event_name"), hook.body.get("session_id")
        if not isinstance(event, str) or not isinstance(session_id, str) or not session_id:
            _log.warning("a hook of Claude Code names no event or no session: left to Claude Code")
            return {}
        if session_id not in self._sessions and event not in _BEGINNING:
            return {}  # of a session without a call there is nothing to keep
        session = self._session(session_id, hook)
        if session is None:
            return self._unrecorded(event, hook.body)
        session.moved(hook.body.get("transcript_path"))
        session.look()
        match event:
            case "PreToolUse":
                return self._before(session, hook.body)
            case "PermissionRequest":
                verdict = await session.judged(session.asked(hook.body), hook)
                return permission_answer(verdict)
            case "PostToolUse" | "PostToolUseFailure":
                self._after(session, event, hook.body)
            case "Stop":
                self._stopped(session, hook.body)
            case "SessionEnd":
                del self._sessions[session_id]
                session.end("completed", f"Claude Code says: {hook.body.get('reason') or 'ended'}")
            case _:
                pass
        return {}

    def look(self) -> None:
        """End the sessions whose process is gone without a word."""
        for session_id, session in list(self._sessions.items()):
            session.look()
            if session.is_alive is False:
                del self._sessions[session_id]
                session.end("crashed", "its process has ended without a word")

    def _session(self, session_id: str, hook: Hook) -> ClaudeSession | None:
        found = self._sessions.get(session_id)
        if found is None:
            ledger = self._opened(session_id, hook)
            if ledger is None:
                return None
            found = self._sessions[session_id] = ClaudeSession(ledger, ledger.foreign.log or "")
        if hook.agent_pid is not None:
            found.pid = hook.agent_pid
        elif found.pid is None and (live := found.live) is not None:
            found.pid = live.pid
            self._host.learn([live.pid])
        return found

    def _opened(self, session_id: str, hook: Hook) -> Ledger | None:
        transcript = str(hook.body.get("transcript_path") or "")
        cwd = str(hook.body.get("cwd") or "/")
        live = live_session(folder_of(transcript), session_id, hook.agent_pid)
        version = live.version if live is not None else ""
        agent = Agent(name=NAME, version=version or version_in(transcript), kind=KIND)
        try:
            return self._host.open(agent, Foreign(session=session_id, log=transcript or None), cwd)
        except (JournalWriteError, PlaceError) as error:
            _log.error("no journal for the session %s of Claude Code: %s", session_id, error)
            return None

    def _unrecorded(self, event: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        words = self._host.deny_unrecorded(KIND, made(body)) if event == "PreToolUse" else None
        return deny_before(words) if words is not None else {}

    def _before(self, session: ClaudeSession, body: Mapping[str, Any]) -> Mapping[str, Any]:
        call = session.call_of(body)
        verdict = session.ledger.refuse(call)
        if verdict is None and call.asking_rule and session.has_dialog:
            # Claude Code opens its dialog then, whatever its mode and its own rules; headless it would refuse the call
            return _before("ask", f"Interlock: {call.asking_rule}")
        if verdict is None:
            return {}
        session.follow(call)
        return deny_before(said(verdict))

    def _after(self, session: ClaudeSession, event: str, body: Mapping[str, Any]) -> None:
        call = session.known(body)
        if call is None:
            return
        spent = body.get("duration_ms")
        error = body.get("error")
        session.ran(
            call,
            ok=event == "PostToolUse",
            duration_ms=spent if isinstance(spent, int) else None,
            why=error[:300] if isinstance(error, str) else "",
        )

    def _stopped(self, session: ClaudeSession, body: Mapping[str, Any]) -> None:
        """A turn that is over waits for nothing; sub-agents in the background may still."""
        for call in session.ledger.open_calls:
            if call.sub_agent is None:
                session.ledger.cancel(call, "withdrawn")


def permission_answer(verdict: Verdict) -> Mapping[str, Any]:
    """The answer to PermissionRequest."""
    if verdict.decision == "none":
        return {}
    decision = {"behavior": "allow"} if verdict.decision == "allow" else {"behavior": "deny", "message": said(verdict)}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def deny_before(message: str) -> Mapping[str, Any]:
    """The answer to PreToolUse that keeps a call from running."""
    return _before("deny", message)


def _before(decision: str, reason: str) -> Mapping[str, Any]:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": answer}
