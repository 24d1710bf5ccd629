"""How a tool part of opencode tells its result. Pure."""

from __future__ import annotations

import re
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign.narrator import Outcome, Result, stamp, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, millis, objects, some_text, text, whole

_PERSON = re.compile(r"user rejected permission|user dismissed|rejected by (?:the )?user|permission was rejected", re.I)
_RULE = re.compile(r"specified a rule which prevents|denied by (?:a )?(?:rule|policy)|permission denied by", re.I)
_STOPPED = re.compile(r"\baborted\b|\bcancell?ed\b|interrupted", re.I)
_FEEDBACK = re.compile(r"with the following feedback: (.*)", re.S)
_TIMEOUT = re.compile(r"terminated command after exceeding timeout", re.I)
_ABORT = re.compile(r"User aborted the command", re.I)


def feedback(error: str) -> str | None:
    """What the person said with a refusal."""
    found = _FEEDBACK.search(error)
    return found[1].strip() if found else None


def result_of(state: dict[str, Any]) -> Result:
    """The result that a state of `completed` or `error` tells."""
    meta, time = mapping(state.get("metadata")), mapping(state.get("time"))
    if text(state.get("status")) == "error":
        said = text_of(state.get("error"))
        outcome, code = _failed(said, meta)
        result = Result(outcome, text=said, code=code)
    else:
        result = Result("ok", text=text_of(state.get("output")))
        _exit(result, meta)
        _stopped(result)
    result.started_at = stamp(time.get("start")) or None
    result.duration_ms = millis(time.get("start"), time.get("end"))
    result.truncated = meta.get("truncated") is True
    result.full_output = some_text(meta.get("outputPath"))
    _change(result, meta)
    return result


def _failed(said: str, meta: dict[str, Any]) -> tuple[Outcome, str | None]:
    if _RULE.search(said):
        return "denied", "policy_denied"
    if _PERSON.search(said):
        return "denied", None
    if meta.get("interrupted") is True or _STOPPED.search(said[:300]):
        return "interrupted", None
    return "failed", None


def _exit(result: Result, meta: dict[str, Any]) -> None:
    result.exit_code = whole(meta.get("exit"))
    if result.exit_code:
        result.outcome, result.code = "failed", "exit_nonzero"


def _stopped(result: Result) -> None:
    # the notice stands behind the output, in tags of the agent's own
    notice = result.text[-600:]
    if "_metadata>" not in notice:
        return
    if _TIMEOUT.search(notice):
        result.outcome, result.code = "timeout", None
    elif _ABORT.search(notice):
        result.outcome, result.code = "interrupted", None


def _change(result: Result, meta: dict[str, Any]) -> None:
    files = [mapping(meta.get("filediff"))] if meta.get("filediff") else objects(meta.get("files"))
    patches = [text(row.get("patch")) or text(row.get("diff")) for row in files]
    result.diff = some_text(meta.get("diff")) or some_text("\n".join(p for p in patches if p))
    if result.outcome != "ok":
        return
    effects = [
        SideEffect(
            kind="file.changed",
            path=some_text(row.get("file")) or some_text(row.get("filePath")),
            added=count(row.get("additions")),
            removed=count(row.get("deletions")),
        )
        for row in files
        if some_text(row.get("file")) or some_text(row.get("filePath"))
    ]
    if not effects and some_text(meta.get("filepath")) and isinstance(meta.get("exists"), bool):
        effects = [SideEffect(kind="file.changed" if meta["exists"] else "file.created", path=meta["filepath"])]
    result.effects = tuple(effects[:1000])


def child_of(state: dict[str, Any]) -> tuple[str, str | None, str | None] | None:
    """(session, kind of agent, what for) of a sub-agent that the call started, where it tells of one."""
    child = some_text(at(state, "metadata", "sessionId")) or some_text(at(state, "metadata", "sessionID"))
    if child is None:
        return None
    given = mapping(state.get("input"))
    return child, some_text(given.get("subagent_type")), some_text(given.get("description"))
