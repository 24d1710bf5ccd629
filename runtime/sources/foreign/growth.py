"""What a session is doing, judged from its log alone: how long ago it grew, and what is open in it.

Promises: pure; everything that it says is marked as guessed, for a log does not tell whether a process is there.
"""

from __future__ import annotations

from interlock.runtime.sources.foreign.home import Judged

GROWING_SECONDS = 60
"""A log that grew within this time belongs to a session that is at work, unless its last record ends a turn."""
SILENT_SECONDS = 600
"""A call that is open for longer than this without a word in the log has probably lost its agent."""


def judge_growth(open_call: str, at_rest: bool, last_at: int, now: int) -> Judged:
    """`open_call`: the tool of a call without a result, or empty; `at_rest`: the last record ends a turn;
    `last_at`, `now`: microseconds since 1970, `last_at` 0 where no time is known.
    """
    if last_at <= 0:
        return Judged("done", "its log tells no time", guessed=True)
    silent = max(0, now - last_at) // 1_000_000
    grew = f"its log grew {age(silent)} ago"
    if open_call:
        if silent < SILENT_SECONDS:
            return Judged("running", f"{open_call} has no result; {grew}", guessed=True, live=True)
        return Judged("gone", f"{open_call} has no recorded result; {grew}", guessed=True)
    if silent < GROWING_SECONDS:
        if at_rest:
            return Judged("idle", f"the last turn has ended; {grew}", guessed=True, live=True)
        return Judged("running", grew, guessed=True, live=True)
    return Judged("done", f"the last turn has ended; {grew}" if at_rest else grew, guessed=True)


def age(seconds: int) -> str:
    """`5 s`, `3 min`, `2 h`, `9 d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
