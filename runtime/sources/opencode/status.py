"""What a session of opencode's is doing, from what can be seen of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.sources.foreign.growth import age, judge_growth
from interlock.runtime.sources.foreign.home import Judged

RECENT_SECONDS = 600
"""A session whose last turn ended within this time, while a process has the database open, is said to be idle."""


def judge(open_call: str, at_rest: bool, last_at: int, now: int, holders: Sequence[int] | None) -> Judged:
    """`holders`: processes that have its database open, None where that cannot be known; the rest as `judge_growth`.

    Several sessions share a database, so that a process proves only that one of them may be alive.
    """
    if holders is None or last_at <= 0:
        return judge_growth(open_call, at_rest, last_at, now)
    silent = max(0, now - last_at) // 1_000_000
    changed = f"it changed {age(silent)} ago"
    if not holders:
        if open_call:
            return Judged("gone", f"no process has its database open; {open_call} has no recorded result")
        if not at_rest:
            return Judged("gone", f"no process has its database open, and its last turn has no end; {changed}")
        return Judged("done", f"no process has its database open; {changed}")
    who = f"process {holders[0]} has its database open"
    if open_call:
        return Judged("running", f"{open_call} has no result; {who}; {changed}", guessed=True, live=True)
    if not at_rest:
        return Judged("running", f"its last turn has no end; {who}; {changed}", guessed=True, live=True)
    if silent < RECENT_SECONDS:
        return Judged("idle", f"its last turn has ended; {who}; {changed}", guessed=True, live=True)
    return Judged("done", f"its last turn ended {age(silent)} ago", guessed=True)
