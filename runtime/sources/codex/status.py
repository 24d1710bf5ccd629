"""What a Codex session is doing, from evidence: a turn that began and did not end, a call without a result, a process
that has the rollout open, growth.

Promises: what the evidence leaves open is marked as guessed. A rollout never says that a person is asked, so a call
that waits for an answer reads as one that runs. Pure.
"""

from __future__ import annotations

from typing import Literal

from interlock.runtime.sources.foreign.home import Judged

Turn = Literal["open", "over", ""]
"""Whether the last turn of the log has ended; empty: its version does not say."""
GROWING = 10_000_000
"""Microseconds since the last write within which a log counts as growing."""
LONG = 60_000_000
"""Microseconds after which a call without a result may as well wait for an answer."""
RECENT = 600_000_000
"""Microseconds for which a session whose process cannot be seen is taken to be there."""


def judged(live: bool | None, turn: Turn, open_call: str, quiet: int) -> Judged:
    """`live`: a process has the log open for writing, None where that cannot be seen; `quiet`: microseconds since the
    last write.
    """
    if live is None:
        return _unseen(turn, open_call, quiet)
    if live:
        return _live(turn, open_call, quiet)
    if quiet <= GROWING:
        return Judged("running", "its log grows, though no process was seen to have it open", guessed=True)
    if turn == "open" or open_call:
        missing = f"{open_call} has no result" if open_call else "its turn did not end"
        return Judged("gone", f"{missing}, and no process has its log open")
    ending = "its last turn ended" if turn == "over" else "nothing is left open in its log"
    return Judged("done", f"{ending}, and no process has its log open", guessed=turn == "")


def _live(turn: Turn, open_call: str, quiet: int) -> Judged:
    if open_call and turn != "over":
        evidence = f"{open_call} has no result yet"
        if quiet > LONG:
            evidence += f", for {_span(quiet)}: it runs, or waits for an answer"
        return Judged("running", evidence, guessed=quiet > LONG, live=True)
    if turn == "open":
        return Judged("running", "a turn is under way", live=True)
    if turn == "over":
        return Judged("idle", "its process is there and its last turn ended", live=True)
    if quiet <= GROWING:
        return Judged("running", "its log grows", guessed=True, live=True)
    return Judged("idle", "its process is there and its log does not grow", guessed=True, live=True)


def _unseen(turn: Turn, open_call: str, quiet: int) -> Judged:
    """Without a view of processes everything is a guess."""
    ago = f"last written {_span(quiet)} ago"
    if quiet <= GROWING:
        return Judged("running", f"its log grows; {ago}", guessed=True, live=True)
    under_way = turn == "open" or (bool(open_call) and turn == "")
    if under_way:
        what = f"{open_call} has no result" if open_call else "its turn did not end"
        if quiet <= RECENT:
            return Judged("running", f"{what}; {ago}", guessed=True, live=True)
        return Judged("gone", f"{what}; {ago}", guessed=True)
    ending = "its last turn ended" if turn == "over" else "nothing is left open in its log"
    if quiet <= RECENT:
        return Judged("idle", f"{ending}; {ago}", guessed=True, live=True)
    return Judged("done", f"{ending}; {ago}", guessed=True)


def _span(quiet: int) -> str:
    seconds = max(0, quiet // 1_000_000)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
