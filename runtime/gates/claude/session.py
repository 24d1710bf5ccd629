"""One session of Claude Code at the gate: which hook speaks of which call, and what its transcript says became of it.

Promises: a permission request is tied to the oldest call of the same tool, input and sub-agent that was not asked about;
an answer of ours counts as delivered when PostToolUse or the transcript shows it. Does not promise: to know the native
answer where Claude Code keeps no record of it; then the ask is closed as withdrawn, never as a yes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from interlock.runtime.gates.call import CHOICES, ForeignCall, NativeCause, SubAgent, Verdict
from interlock.runtime.gates.claude.diff import diff_of
from interlock.runtime.gates.claude.record import Told, Transcript, sub_agent_transcript
from interlock.runtime.gates.claude.registry import LiveSession, folder_of, live_session
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.ledger import EndReason, Ledger
from interlock.runtime.journal.alive import is_running

QUESTIONS = {
    "AskUserQuestion": "a question of the agent: it can be answered in its own terminal, or declined here with a word",
    "ExitPlanMode": "a plan of the agent: it can be accepted in its own terminal, or sent back here with a word",
}
"""Tools that ask the person something: no permission, and a plain yes would answer nothing."""
_QUESTION_CHOICES = ("deny", "deny.message")
_LOOKS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pauses between looks at the transcript after something was decided; later hooks look again."""
_WHY_GONE_S = (0.0, 0.05, 0.1, 0.2, 0.3, 0.35, 0.5, 0.5, 0.5)
"""Pauses between looks why the agent has hung up; its transcript is some hundred milliseconds behind."""
_DIALOG_S = 0.5
"""Between two looks whether a dialog is open while an ask waits."""
_MARGIN_S = 1.0
"""An ask is closed so long before the agent hangs up."""


class ClaudeSession:
    """One session. `transcript`: the path that its hooks name."""

    def __init__(self, ledger: Ledger, transcript: str) -> None:
        self.ledger = ledger
        self.transcript = transcript
        self.pid: int | None = None
        self._registry = folder_of(transcript)
        self._tails = {transcript: Transcript(transcript, from_end=True)}
        self._calls: list[ForeignCall] = []
        """Oldest first."""
        self._following: set[asyncio.Task[None]] = set()

    def moved(self, transcript: Any) -> None:
        """A hook names the transcript; Claude Code moves it when the session goes into a worktree or comes back."""
        name = f"{self.ledger.foreign.session}.jsonl"
        if transcript == self.transcript or not isinstance(transcript, str) or os.path.basename(transcript) != name:
            return
        self.transcript = transcript
        # from its beginning: what was written since the last look stands in the moved file
        self._tails.setdefault(transcript, Transcript(transcript, from_end=False))

    @property
    def live(self) -> LiveSession | None:
        """Its entry among the live sessions."""
        return live_session(self._registry, self.ledger.foreign.session, self.pid)

    @property
    def has_dialog(self) -> bool:
        """Whether a person can answer in the agent's own prompt, too."""
        live = self.live
        return live is not None and live.has_dialog

    @property
    def is_alive(self) -> bool | None:
        """Whether its process lives; None: it is not known which it is."""
        return None if self.pid is None else is_running(self.pid)

    def call_of(self, body: Mapping[str, Any]) -> ForeignCall:
        """The call that a hook with an id speaks of, known or new. An id that comes with another input names another call."""
        fresh = made(body)
        found = self._with_id(fresh.call_id)
        if found is not None and found.tool == fresh.tool and found.input == fresh.input and found.cwd == fresh.cwd:
            return found
        self._keep(fresh)
        return fresh

    def known(self, body: Mapping[str, Any]) -> ForeignCall | None:
        """The call that a hook with an id speaks of, when it was seen before."""
        call_id = body.get("tool_use_id")
        return self._with_id(call_id) if isinstance(call_id, str) else None

    def _with_id(self, call_id: str | None) -> ForeignCall | None:
        """The newest call with this id."""
        calls = reversed(self._calls) if call_id is not None else ()
        return next((call for call in calls if call.call_id == call_id), None)

    def asked(self, body: Mapping[str, Any]) -> ForeignCall:
        """The call that a permission request, which names no id, speaks of."""
        wanted = made(body)
        agent = wanted.sub_agent.id if wanted.sub_agent else None
        for call in self._calls:
            same = call.tool == wanted.tool and call.input == wanted.input
            here = (call.sub_agent.id if call.sub_agent else None) == agent
            if same and here and not call.is_asked and call.verdict is None and not call.is_over:
                call.facts, call.is_asked = wanted.facts, True
                return call
        wanted.is_asked = True
        self._keep(wanted)
        return wanted

    async def judged(self, call: ForeignCall, hook: Hook) -> Verdict:
        """Policy, then whoever answers first: a screen, or the native dialog."""
        call.races = self.has_dialog
        call.diff = diff_of(call.tool, call.input, call.cwd)
        if hook.wait_s is not None:
            call.expires_at = self.ledger.journal.now() + timedelta(seconds=max(hook.wait_s - _MARGIN_S, 0.1))
        work = asyncio.ensure_future(self.ledger.judge(call))
        gone = asyncio.ensure_future(hook.gone.wait())
        dialog = asyncio.ensure_future(self._dialog_closed())
        try:
            await asyncio.wait({work, gone, dialog}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and gone.done():
                self.ledger.cancel(call, await self._why_gone(call))
            elif not work.done():
                self.ledger.cancel(call, "withdrawn", "its dialog is closed: it was answered in the agent's terminal")
            return await work
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        finally:
            gone.cancel()
            dialog.cancel()
            self.follow(call)

    def follow(self, call: ForeignCall) -> None:
        """Look for the end of a call in the transcript for some seconds."""
        task = asyncio.ensure_future(self._follow(call))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    def ran(self, call: ForeignCall, *, ok: bool, duration_ms: int | None = None, size: int = 0, why: str = "") -> None:
        """A hook says that the call ran."""
        self.ledger.cancel(call, "native_allow")
        self.ledger.delivered(call)
        code = "" if ok else "failed"
        self.ledger.result(call, ok=ok, code=code, summary=why, duration_ms=duration_ms, output_bytes=size)

    def look(self) -> None:
        """Take what the transcripts say by now."""
        for tail in list(self._tails.values()):
            for told in tail.look():
                self._take(told)

    def end(self, reason: EndReason, message: str) -> None:
        """The session is over."""
        self.look()
        for task in list(self._following):
            task.cancel()
        self.ledger.end(reason, message)

    def _keep(self, call: ForeignCall) -> None:
        self._calls.append(call)
        if call.sub_agent is not None:
            path = sub_agent_transcript(self.transcript, call.sub_agent.id)
            self._tails.setdefault(path, Transcript(path, from_end=False))
        for old in [old for old in self._calls if old.is_over][:-500]:
            self._calls.remove(old)

    def _take(self, told: Told) -> None:
        call = self._with_id(told.call_id)
        if call is None or call.is_over:
            return
        if told.is_decision:
            self.ledger.delivered(call)
            return
        cause: NativeCause = "native_deny" if told.denied_natively else "withdrawn" if told.is_error else "native_allow"
        self.ledger.cancel(call, cause)
        self.ledger.delivered(call)
        if told.denied_natively:
            self.ledger.result(call, ok=False, code="user_denied", summary="no in the agent's own prompt")
        elif not told.is_error:
            self.ledger.result(call, ok=True, summary="the agent's transcript says that it ran")
        elif call.verdict is not None and call.verdict.decision == "deny":
            self.ledger.result(call, ok=False, summary=f"the model was told: {told.text}"[:300])
        else:
            self.ledger.result(call, ok=False, code="failed", summary=told.text[:300])

    async def _follow(self, call: ForeignCall) -> None:
        for pause in _LOOKS_S:
            await asyncio.sleep(pause)
            self.look()
            if call.is_over or self.ledger.is_ended:
                return

    async def _why_gone(self, call: ForeignCall) -> NativeCause:
        """Claude Code hangs up for a native no, an Esc, and when it ends; its transcript tells which soon after."""
        for pause in _WHY_GONE_S:
            await asyncio.sleep(pause)
            self.look()
            if call.is_over:
                break
        return "session_closed" if self.is_alive is False else "withdrawn"

    async def _dialog_closed(self) -> None:
        """Return when a dialog was open and is no more; never for a session that has no dialogs.

        One that was answered between two looks has left the status changed since the ask was opened.
        """
        begun, was_open, misses = self.ledger.journal.now().timestamp(), False, 0
        while True:
            await asyncio.sleep(_DIALOG_S)
            self.look()
            entry = self.live
            if entry is None or not entry.has_dialog:
                continue
            if entry.is_waiting:
                was_open, misses = True, 0
            elif was_open or entry.changed_at > begun:
                misses += 1
                if misses >= 2:
                    return


def made(body: Mapping[str, Any]) -> ForeignCall:
    """The call that a hook speaks of."""
    tool, given, agent_id = body.get("tool_name"), body.get("tool_input"), body.get("agent_id")
    name = tool if isinstance(tool, str) else "?"
    call_id = body.get("tool_use_id")
    mode = body.get("permission_mode")
    return ForeignCall(
        tool=name,
        input=given if isinstance(given, dict) else {"input": given},
        cwd=str(body.get("cwd") or "/"),
        call_id=call_id if isinstance(call_id, str) else None,
        sub_agent=SubAgent(agent_id, str(body.get("agent_type") or "")) if isinstance(agent_id, str) else None,
        facts={"agentMode": mode} if isinstance(mode, str) else {},
        question=QUESTIONS.get(name, ""),
        choices=_QUESTION_CHOICES if name in QUESTIONS else CHOICES,
    )
