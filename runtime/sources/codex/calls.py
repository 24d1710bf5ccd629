"""The calls of a rollout: what the model asked for, what events tell of it, and what it was given back.

Promises: one call, one intent and one observation, however many records tell of it; an id that comes again after its
call has ended is another call; what the inner calls of a script of code mode changed is told with the script's call; a
call that only an event tells of is a call all the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.changes import Changes, from_patch, patch_in, recorded
from interlock.runtime.sources.codex.mirror import Mirror
from interlock.runtime.sources.codex.names import BARE_NAMESPACES
from interlock.runtime.sources.codex.outputs import Told, ended, told
from interlock.runtime.sources.foreign.narrator import Call, Narrator, Result, first_line
from interlock.runtime.sources.foreign.shape import at, items, mapping, name_of, number, parsed, text, whole

_INNER = "exec-"
"""How the ids of calls inside a script begin."""


class Calls:
    """The calls of one session."""

    def __init__(self, say: Narrator) -> None:
        self._say = say
        self._keys: dict[str, str] = {}
        """Call id of the log -> the narrator's, where the log used it more than once."""
        self._told_by_event: set[str] = set()
        self._spawned: set[str] = set()
        self._children: set[tuple[str, str]] = set()
        self._copied: set[str] = set()
        self._singles = Mirror()
        self._made = 0
        self.reviewing = False
        """A reviewer is at work, whose calls are told here by events and stand in a log of its own."""
        self.interrupted = False
        """A call was interrupted since this was last set to False."""

    def asked(self, call_id: str, tool: str, namespace: str, raw: Any) -> Iterator[AnyEvent]:
        """The model asked for a tool."""
        if call_id in self._told_by_event:
            return
        key = self._key(call_id)
        if call_id and key not in self._say.calls and self._say.intent_of(key) is not None:
            number_of = 2
            while self._say.intent_of(f"{call_id} #{number_of}") is not None:
                number_of += 1
            key = self._keys[call_id] = f"{call_id} #{number_of}"
        value = parsed(raw)
        reason = text(mapping(value).get("justification")) or None
        yield from self._say.intent(key, full_name(tool, namespace), value, reason=reason)

    def given_back(self, call_id: str, output: Any) -> Iterator[AnyEvent]:
        """The model was given a result."""
        if call_id in self._copied:
            return
        key = self._key(call_id)
        call = self._say.calls.get(key)
        found = told(output)
        details = call.notes if call is not None else {}
        result = self._result(call, found, details)
        spawned = call is not None and call.tool.endswith("spawn_agent") and result.outcome == "ok"
        raw = call.input if call is not None else None
        if call is not None and result.outcome == "denied" and result.code == "user_denied":
            yield from self._say.answered(key, "deny", Approver(kind="native_prompt"))
        self.interrupted = self.interrupted or result.outcome == "interrupted"
        yield from self._say.result(key, result)
        if spawned and key not in self._spawned:
            yield from self._spawn_from(key, mapping(parsed(found.text)), mapping(raw))

    def _result(self, call: Call | None, found: Told, details: dict[str, Any]) -> Result:
        outcome, code = ended(found, details)
        result = Result(outcome, found.text, code=code, truncated=found.truncated)
        inner = found.inner[0] if len(found.inner) == 1 and found.script else None
        result.exit_code = next((c for c in (found.exit_code, details.get("exit_code"), inner) if c is not None), None)
        if result.exit_code and not found.script and (outcome, code) in (("ok", None), ("failed", None)):
            result.outcome, result.code = "failed", "exit_nonzero"
        took = details.get("duration_ms")
        result.duration_ms = took if took is not None else found.duration_ms
        result.summary = _summary(found, result)
        if (result.outcome == "ok" and not found.running) or isinstance(details.get("changes"), Changes):
            self._changes(call, details, result)
        return result

    def _changes(self, call: Call | None, details: dict[str, Any], result: Result) -> None:
        changes = details.get("changes")
        if not isinstance(changes, Changes):
            patch = patch_in(call.tool, call.input) if call is not None else ""
            changes = from_patch(patch) if patch else None
        if changes is not None and changes.effects and result.outcome not in ("denied", "interrupted"):
            result.diff, result.effects = changes.diff or None, tuple(changes.effects)

    def detail(self, call_id: str, payload: dict[str, Any], tool: str) -> Iterator[AnyEvent]:
        """An event tells how a command or a patch ended; `tool`: its name, where nothing else tells of the call."""
        if call_id in self._copied:
            return
        key = self._key(call_id)
        call = self._say.calls.get(key)
        if call is None and call_id.startswith(_INNER):
            call = self._script()
            if call is not None:
                self._inner(call, payload)
                return
        if call is not None:
            _note(call.notes, payload)
            return
        if self._say.intent_of(key) is not None or self.reviewing:
            return
        yield from self._alone(call_id, payload, tool)

    def open_call(self, call_id: str) -> Call | None:
        """The call of this id, while it has no result."""
        return self._say.calls.get(self._key(call_id))

    def finished(self, call_id: str, payload: dict[str, Any], tool: str) -> Iterator[AnyEvent]:
        """An event alone tells how a call ended and what came out of it; `tool`: its name, where it was not begun."""
        call = self.open_call(call_id)
        if call is None:
            yield from self.detail(call_id, payload, tool)
            return
        _note(call.notes, payload)
        yield from self.given_back(call_id, _output_of(payload))

    def _inner(self, call: Call, payload: dict[str, Any]) -> None:
        changes = recorded(payload.get("changes"))
        if changes.effects and _succeeded(payload):
            call.notes.setdefault("changes", Changes()).add(changes)
        call.notes["inner"] = call.notes.get("inner", 0) + 1

    def _script(self) -> Call | None:
        """The script that runs: the last call of code mode without a result."""
        for call in reversed(self._say.calls.values()):
            if call.tool in ("exec", "wait"):
                return call
        return None

    def _alone(self, call_id: str, payload: dict[str, Any], tool: str) -> Iterator[AnyEvent]:
        raw = {n: payload[n] for n in ("command", "cwd", "arguments", "path", "query") if payload.get(n) is not None}
        if mapping(payload.get("changes")):
            raw["files"] = list(payload["changes"])
        invocation = payload.get("invocation")
        if isinstance(invocation, dict):
            raw = mapping(invocation.get("arguments"))
        self._told_by_event.add(call_id)
        yield from self._say.intent(call_id, tool, raw)
        call = self._say.calls.get(call_id)
        if call is None:
            return
        _note(call.notes, payload)
        result = self._result(call, told(_output_of(payload)), call.notes)
        yield from self._say.result(call_id, result)

    def single(
        self, channel: str, tool: str, call_id: str, key: str, raw: dict[str, Any], status: str
    ) -> Iterator[AnyEvent]:
        """A call that is told when it is over, with no record of a result, and by more than one channel."""
        if call_id in self._copied or (self.reviewing and channel != "item"):
            return
        if not self._singles.fresh(channel, f"{tool}\0{key}"):
            return
        name = call_id if call_id and self._say.intent_of(call_id) is None else f"{tool} {self._made}"
        self._made += 1
        yield from self._say.intent(name, tool, raw)
        outcome = "ok" if status == "completed" else "failed" if status == "failed" else "unknown"
        yield from self._say.result(name, Result(outcome, summary=status or "outcome not recorded"))

    def spawned(self, call_id: str, child: str, kind: str | None, words: str | None) -> Iterator[AnyEvent]:
        """An event tells which agent a call started."""
        key = self._key(call_id)
        call = self._say.calls.get(key)
        if call is None and self._say.intent_of(key) is None:
            call = self._script()
            if call is None:
                return
            key = next(k for k, c in self._say.calls.items() if c is call)
        if child and (key, child) not in self._children:
            self._children.add((key, child))
            self._spawned.add(key)
            yield self._say.spawned(key, child, agent_type=kind, description=words)

    def _spawn_from(self, key: str, output: dict[str, Any], raw: dict[str, Any]) -> Iterator[AnyEvent]:
        named = (output.get(n) for n in ("agent_id", "thread_id", "new_thread_id", "task_name", "agent_path"))
        child = next((name_of(n) for n in named if name_of(n)), "") or name_of(raw.get("task_name"))
        if child:
            self._spawned.add(key)
            kind = text(raw.get("agent_type")) or text(raw.get("role")) or None
            words = text(raw.get("message")) or text(raw.get("prompt"))
            yield self._say.spawned(key, child, agent_type=kind, description=first_line(words) or None)

    def copied(self, call_id: str) -> None:
        """The call stands in another session's log; its copy is no call of this one."""
        if call_id:
            self._copied.add(call_id)

    def left_open(self) -> Iterator[AnyEvent]:
        """The turn was interrupted and is over: its calls without a result will get none."""
        for key, call in list(self._say.calls.items()):
            if call.notes.get("turn_over"):
                words = "the turn was interrupted; the log has no result of this call"
                yield from self._say.result(key, Result("unknown", summary=words))

    def turn_over(self) -> None:
        """The turn was interrupted."""
        for call in self._say.calls.values():
            call.notes["turn_over"] = True

    def _key(self, call_id: str) -> str:
        return self._keys.get(call_id, call_id)


def full_name(tool: str, namespace: str) -> str:
    """The tool's name, with its namespace where that is not Codex's own."""
    if namespace in BARE_NAMESPACES:
        return tool
    return namespace + tool if namespace.endswith("__") else f"{namespace}.{tool}"


def _note(notes: dict[str, Any], payload: dict[str, Any]) -> None:
    """Remember what an event tells of the end of a call."""
    code = whole(payload.get("exit_code"))
    if code is not None and code >= -(2**31):
        notes["exit_code"] = code
    took = duration_ms(payload.get("duration"))
    if took is not None:
        notes["duration_ms"] = took
    if isinstance(payload.get("status"), str):
        notes["status"] = payload["status"]
    if not _succeeded(payload):
        notes["failed"] = True
    changes = recorded(payload.get("changes"))
    if changes.effects and _succeeded(payload):
        notes["changes"] = changes


def _succeeded(payload: dict[str, Any]) -> bool:
    result = payload.get("result")
    if isinstance(result, dict) and (
        "Err" in result or at(result, "Ok", "isError") is True or result.get("isError") is True
    ):
        return False
    if payload.get("success") is False or payload.get("error"):
        return False
    return payload.get("status") not in ("failed", "declined")


def _output_of(payload: dict[str, Any]) -> Any:
    """What an event says that came out of the call."""
    result = payload.get("result")
    if isinstance(result, dict):
        inner = result.get("Err") if "Err" in result else result.get("Ok", result)
        return inner if isinstance(inner, str) else items(mapping(inner).get("content"))
    for name in ("aggregated_output", "formatted_output", "content_items", "results"):
        if payload.get(name):
            return payload[name]
    both = [text(payload.get("stdout")), text(payload.get("stderr")), text(payload.get("error"))]
    return "\n".join(part for part in both if part)


def duration_ms(value: Any) -> int | None:
    """Milliseconds of `{secs, nanos}`."""
    seconds, nanos = number(mapping(value).get("secs")), number(mapping(value).get("nanos"))
    if seconds is None or not 0 <= seconds < 1e9:
        return None
    return int(seconds * 1000 + (nanos or 0) / 1e6) if 0 <= (nanos or 0) < 1e9 else int(seconds * 1000)


def _summary(found: Told, result: Result) -> str:
    if found.running:
        return f"still running ({found.running}): {first_line(found.body)}".rstrip(": ")
    if result.exit_code:
        return f"exit code {result.exit_code}: {first_line(found.body)}".rstrip(": ")
    return first_line(found.body) or ("no output" if found.headed else "")
