"""What a session of Claude Code's is doing, from what can be seen of it.

Promises: pure; the words are those of `interlock.runtime.state.session`; the evidence is told, and whether it allows
another reading. A log alone never makes a session `running` for longer than a call can be silent.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.sources.claude_code.live import LiveSession
from interlock.runtime.sources.foreign.home import Judged
from interlock.runtime.state.session import Status

GROWING_SECONDS = 60
"""A log that grew within this time belongs to a session that is at work."""
SILENT_SECONDS = 600
"""The longest time that Claude Code lets a command run in the foreground: a call that is open for longer has no end."""
_WORDS: dict[str, Status] = {"idle": "idle", "busy": "running", "waiting": "waiting"}


def judge(
    live: LiveSession | None, open_calls: Sequence[str], last_at: int, now: int, *, exited: bool = False
) -> Judged:
    """What a session is doing. `live`: its entry in the registry; `open_calls`: tools of calls without a result;
    `last_at`, `now`: microseconds since 1970, `last_at` 0 where no time is known; `exited`: the log ends with
    what the client writes when it exits.
    """
    if live is not None and live.alive:
        return _registered(live, open_calls)
    silent = _seconds(last_at, now)
    if live is not None:
        return Judged("gone", f"process {live.pid}, which had it open, is not there any more{_missing(open_calls)}")
    if exited:
        text = "its log ends with what is written at exit"
        return Judged("gone" if open_calls else "done", text + _missing(open_calls))
    if silent is not None and silent < GROWING_SECONDS:
        return Judged("running", f"its log grew {silent} s ago", guessed=True, live=True)
    if open_calls and silent is not None and silent < SILENT_SECONDS:
        text = f"{open_calls[-1]} has no result; its log grew {_age(silent)} ago"
        return Judged("running", text, guessed=True, live=True)
    where = "no process is registered for it"
    if silent is not None:
        where += f"; its log grew {_age(silent)} ago"
    if open_calls:
        return Judged("gone", where + _missing(open_calls), guessed=True)
    return Judged("done", where, guessed=True)


def _registered(live: LiveSession, open_calls: Sequence[str]) -> Judged:
    status = _WORDS.get(live.status)
    doubt = not live.proven
    if status is None:
        status = "running" if open_calls else "idle"
        told = f"with the status {live.status!r}" if live.status else "without a status"
        return Judged(status, f"registered by process {live.pid} {told}", guessed=True, live=True)
    text = f"process {live.pid} says it is {live.status}"
    if status == "waiting":
        text += f" for {live.waiting_for}" if live.waiting_for else ""
        text += f" ({open_calls[-1]} has no result yet)" if open_calls else ""
    return Judged(status, text, guessed=doubt, live=True)


def _missing(open_calls: Sequence[str]) -> str:
    if not open_calls:
        return ""
    return f"; {len(open_calls)} call{'s' if len(open_calls) > 1 else ''} without a recorded result"


def _seconds(last_at: int, now: int) -> int | None:
    return max(0, now - last_at) // 1_000_000 if last_at > 0 else None


def _age(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
