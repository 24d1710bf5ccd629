"""What a runtime that was killed left open (ASK-1, EV-3).

Promises: open asks are closed with the cause `runtime_restarted`, intents without an observation get theirs, processes
that still carry the mark of a call of this session are stopped; nothing is ever run, and a session whose writer lives
is not touched. Doing it twice changes nothing.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import NamedTuple

from interlock.runtime.events.ids import OBSERVATION
from interlock.runtime.events.permission import PermissionClosed
from interlock.runtime.events.session import SessionEnded
from interlock.runtime.events.tool import ToolObservation
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.opening import is_foreign
from interlock.runtime.journal.place import session_folder
from interlock.runtime.journal.writer import Clock, JournalLocked, JournalWriter, system_clock, writer_alive
from interlock.runtime.state.session import SessionState
from interlock.runtime.tools import tree

NO_LEADER = -1
"""No process group: what is left of a call is found by its mark alone, since ids are used again."""


class Recovered(NamedTuple):
    """What was closed."""

    asks: int
    intents: int
    processes: int


LOOKS = 15
LOOK_PAUSE_S = 0.02
NOTHING = Recovered(0, 0, 0)


def recover_session(session: str, *, clock: Clock = system_clock) -> Recovered:
    """Close what a killed runtime left open, and end its session as crashed.

    A session whose writer lives, that has ended, or that is another agent's is left as it is. Raises JournalWriteError
    when it cannot be written to, and PlaceError for an id that is none.
    """
    folder = session_folder(session)
    if is_foreign(folder) or _is_held(folder) or _fold(folder).state.ended is not None:
        return NOTHING
    try:
        journal = JournalWriter.open(session, clock)
    except JournalLocked:
        return NOTHING  # another reader was quicker, or the session has been opened again
    try:
        done = close_open(journal)
        if _fold(folder).state.ended is None:
            journal.append(SessionEnded(reason="crashed", message="its runtime ended without a word"), durable=True)
        return done
    finally:
        journal.close()


def _is_held(folder: Path) -> bool:
    """Whether the writer lives. Of a runtime that was killed as it started a process, the copy that was about to become
    that process holds the lock a moment longer, so a held lock is looked at for a while."""
    for _ in range(LOOKS):
        if not writer_alive(folder):
            return False
        time.sleep(LOOK_PAUSE_S)
    return True


def close_open(journal: JournalWriter) -> Recovered:
    """Close the asks and observe the intents that stand open in a journal that was just opened for writing."""
    state, started = _fold(journal.folder)
    stopped = sum(
        tree.send(NO_LEADER, f"{journal.session}/{invocation}", signal.SIGKILL) for invocation in state.running
    )
    for ask in list(state.asks.values()):
        journal.append(
            PermissionClosed(ask_id=ask.ask_id, intent_id=ask.intent_id, cause="runtime_restarted"), durable=True
        )
    waiting = {ask.intent_id for ask in state.asks.values()}
    for intent_id, tool in list(state.open_calls.items()):
        observation_id = journal.ids.new(OBSERVATION)
        journal.append(
            _lost(observation_id, intent_id, tool, started.get(intent_id), intent_id in waiting), durable=True
        )
    return Recovered(len(state.asks), len(state.open_calls), stopped)


class _Left(NamedTuple):
    state: SessionState
    started: dict[str, str]
    """Intent id -> id of the invocation that began, whether it ended or not."""


def _fold(folder: Path) -> _Left:
    state, started = SessionState(), dict[str, str]()
    try:
        with (folder / "events.jsonl").open("rb") as lines:
            for line in lines:
                event = brief(line)
                if event is None:
                    continue
                state.add(event)
                if event.type == "tool.invocation.started" and event.intent_id and event.invocation_id:
                    started[event.intent_id] = event.invocation_id
    except FileNotFoundError:
        pass
    return _Left(state, started)


def _lost(observation_id: str, intent_id: str, tool: str, invocation_id: str | None, asked: bool) -> ToolObservation:
    if invocation_id is not None:
        summary = "the runtime was restarted while this ran; what it had done by then is not known"
        step = "Look at what it may have changed before doing it again."
    elif asked:
        summary = "the runtime was restarted while the question was open; nothing was run"
        step = "Ask again if it is still needed."
    else:
        summary = "the runtime was restarted before this ran; nothing was run"
        step = "Ask again if it is still needed."
    return ToolObservation(
        observation_id=observation_id,
        intent_id=intent_id,
        invocation_id=invocation_id,
        ok=False,
        phase="execute" if invocation_id is not None else "permission" if asked else "schedule",
        code="runtime_restarted",
        title=tool,
        summary=summary,
        user_text=f"{tool}: {summary}",
        retryable=invocation_id is None,
        next_step=step,
    )
