"""What an ACP connection tells of its sessions, kept in the gate's journal of each.

Promises: every tool call that the agent tells of is an intent with one end; what the person and the model said is kept; an
answer counts as delivered when the agent's next word about that call comes. A journal that cannot be written never stops
the traffic: it is told once, and denies of the policy hold all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from interlock.runtime.events.ids import MESSAGE
from interlock.runtime.events.message import AssistantMessage, UserMessage
from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.acp.call import call_of, merged
from interlock.runtime.gates.acp.option import Options
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.journal.place import PlaceError
from interlock.runtime.journal.writer import JournalWriteError

_log = logging.getLogger(__name__)
_MOST_TEXT = 1 << 20
"""Characters of one message that are kept."""
_OPENS = ("session/new", "session/load", "session/resume", "session/fork")


class Sessions:
    """The sessions of one connection."""

    def __init__(self, host: GateHost, command: str, cwd: str) -> None:
        self._host = host
        self._command = command
        self._cwd = cwd
        self._agent = Agent(name=command, kind="acp")
        self._asked: dict[Any, tuple[str, Mapping[str, Any]]] = {}
        """Requests of the editor that open a session, by id, until the agent answers."""
        self._cwds: dict[str, str] = {}
        self._ledgers: dict[str, Ledger | None] = {}
        self._told: dict[tuple[str, str], dict[str, Any]] = {}
        self._calls: dict[tuple[str, str], ForeignCall] = {}
        self._speech: dict[str, list[str]] = {}
        self._prompts: dict[Any, str] = {}
        self._replayed: set[str] = set()
        """Sessions whose past is being told again: none of it happens now."""

    def ledger(self, session: str) -> Ledger | None:
        """The journal of a session, begun when it is first needed; None: it cannot be written."""
        if session not in self._ledgers:
            cwd = self._cwds.get(session, self._cwd)
            try:
                self._ledgers[session] = self._host.open(self._agent, Foreign(session=session, log=None), cwd)
            except (JournalWriteError, PlaceError) as error:
                _log.error("what %s does is not recorded: %s", self._command, error)
                self._ledgers[session] = None
        return self._ledgers[session]

    def cwd(self, session: str) -> str:
        """The folder of a session."""
        return self._cwds.get(session, self._cwd)

    def from_editor(self, message: Mapping[str, Any]) -> None:
        """Look at what the editor says."""
        method, params = message.get("method"), message.get("params")
        if not isinstance(params, Mapping) or not isinstance(method, str):
            return
        if method in (*_OPENS, "initialize") and _plain(message.get("id")):
            self._asked[message["id"]] = (method, params)
            if method == "session/load" and isinstance(params.get("sessionId"), str):
                self._replayed.add(params["sessionId"])
        elif method == "session/prompt" and isinstance(params.get("sessionId"), str):
            self._say_user(params["sessionId"], params.get("prompt"))
            if _plain(message.get("id")):
                self._prompts[message["id"]] = params["sessionId"]

    def from_agent(self, message: Mapping[str, Any]) -> None:
        """Look at what the agent says."""
        if "method" not in message and _plain(message.get("id")):
            self._response(message["id"], message.get("result"))
            return
        params = message.get("params")
        if message.get("method") != "session/update" or not isinstance(params, Mapping):
            return
        session, update = params.get("sessionId"), params.get("update")
        if isinstance(session, str) and isinstance(update, Mapping) and session not in self._replayed:
            self._update(session, update)

    def _response(self, request: Any, result: Any) -> None:
        if (session := self._prompts.pop(request, None)) is not None:
            self._turn_over(session)
        method, params = self._asked.pop(request, ("", {}))
        self._replayed.discard(str(params.get("sessionId")))
        if not method or not isinstance(result, Mapping):
            return
        if method == "initialize":
            self._name(result)
            return
        session = result.get("sessionId", params.get("sessionId"))
        cwd = params.get("cwd")
        if isinstance(session, str) and isinstance(cwd, str) and cwd.startswith("/"):
            self._cwds.setdefault(session, cwd)

    def _name(self, result: Mapping[str, Any]) -> None:
        info = result.get("agentInfo")
        if isinstance(info, Mapping) and isinstance(info.get("name"), str):
            title = info.get("title")
            name = title if isinstance(title, str) and title else info["name"]
            self._agent = Agent(name=name[:100], version=str(info.get("version", ""))[:100], kind="acp")

    def call(self, session: str, told: Mapping[str, Any], options: Options) -> ForeignCall:
        """The call that a permission is asked for, with all that was told of it before."""
        call_id = told.get("toolCallId")
        key = (session, call_id) if isinstance(call_id, str) else None
        whole = merged(self._told.get(key) if key else None, told)
        call = call_of(whole, self.cwd(session), options)
        if key is not None:
            self._told[key] = whole
            self._calls[key] = call
        return call

    def _update(self, session: str, update: Mapping[str, Any]) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._hear(session, update.get("content"))
            case "tool_call" | "tool_call_update":
                self._flush(session)
                self._tool(session, update)

    def _tool(self, session: str, update: Mapping[str, Any]) -> None:
        call_id, status = update.get("toolCallId"), update.get("status")
        ledger = self.ledger(session)
        if not isinstance(call_id, str) or ledger is None:
            return
        key = (session, call_id)
        whole = self._told[key] = merged(self._told.get(key), update)
        call = self._calls.get(key)
        # "in_progress" says nothing: opencode tells it of a call that still waits for its permission
        if call is not None and call.ask_id is not None and status in ("completed", "failed"):
            self._seen(ledger, call, status)
        if status not in ("completed", "failed"):
            return
        if call is None:
            call = self._calls[key] = call_of(whole, self.cwd(session))
        self._end(ledger, call, status)
        self._told.pop(key, None)
        self._calls.pop(key, None)

    def _seen(self, ledger: Ledger, call: ForeignCall, status: str) -> None:
        # it runs although nobody answered here: the editor's own answer went another way
        ledger.cancel(call, "withdrawn")
        if call.verdict is not None and (call.verdict.decision == "allow") == (status != "failed"):
            ledger.delivered(call)

    def _end(self, ledger: Ledger, call: ForeignCall, status: str) -> None:
        try:
            ledger.begin(call)
        except JournalWriteError as error:
            _log.error("a call of %s is not recorded: %s", self._command, error)
            return
        if call.verdict is not None and call.verdict.decision == "deny":
            ledger.delivered(call)
        ledger.result(call, ok=status == "completed")

    def _hear(self, session: str, content: Any) -> None:
        text = content.get("text") if isinstance(content, Mapping) else None
        if isinstance(text, str) and text:
            self._speech.setdefault(session, []).append(text)

    def _flush(self, session: str) -> None:
        text = "".join(self._speech.pop(session, ()))
        if text:
            self._say(session, AssistantMessage, text)

    def _say_user(self, session: str, prompt: Any) -> None:
        blocks = prompt if isinstance(prompt, list) else []
        texts = [text for one in blocks if isinstance(one, Mapping) and isinstance(text := one.get("text"), str)]
        if texts:
            self._say(session, UserMessage, "\n".join(texts))

    def _say(self, session: str, kind: type[UserMessage] | type[AssistantMessage], text: str) -> None:
        ledger = self.ledger(session)
        if ledger is None or ledger.is_ended:
            return
        try:
            ledger.journal.append(kind(message_id=ledger.journal.ids.new(MESSAGE), text=text[:_MOST_TEXT]))
        except JournalWriteError as error:
            _log.error("what was said is not recorded: %s", error)

    def _turn_over(self, session: str) -> None:
        """The agent has ended its turn: what it did not tell the end of did not run, as far as it says."""
        self._flush(session)
        ledger = self._ledgers.get(session)
        for key in [key for key in self._calls if key[0] == session]:
            call = self._calls.pop(key)
            self._told.pop(key, None)
            if ledger is not None and call.intent_id and not call.is_over and call.verdict is not None:
                ledger.delivered(call)
                ledger.result(call, ok=False, summary="the turn ended without a word about it")


def _plain(given: Any) -> bool:
    return isinstance(given, str | int | float) and not isinstance(given, bool)
