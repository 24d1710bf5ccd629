"""What a gate service that was killed left open (ASK-1).

Promises: asks that it held are closed with the cause `runtime_restarted`, calls of which it saw no end are told as such, and
its journals end as crashed; a journal whose writer lives is not touched. Nothing is said of what the agents did: their own
prompts have decided since.
"""

from __future__ import annotations

import logging
from pathlib import Path

from interlock.runtime.engine.recover import NOTHING, recover_session
from interlock.runtime.events.ids import OBSERVATION
from interlock.runtime.events.permission import PermissionClosed
from interlock.runtime.events.session import SessionEnded
from interlock.runtime.events.tool import ToolObservation
from interlock.runtime.gates.host import GATE_MARK
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.opening import is_foreign
from interlock.runtime.journal.place import PlaceError, session_folder, sessions_home
from interlock.runtime.journal.tail import last_lines
from interlock.runtime.journal.writer import JournalLocked, JournalWriteError, JournalWriter, writer_alive
from interlock.runtime.state.session import SessionState

_log = logging.getLogger(__name__)

_NEWEST = 200
"""Journals of gates that are looked at."""


def recover_gates() -> list[str]:
    """Close what is left, and say which sessions it was. What cannot be closed is logged."""
    done: list[str] = []
    for folder in _candidates():
        try:
            if not writer_alive(folder) and not _has_ended(folder):
                _close(folder)
                done.append(folder.name)
        except (JournalWriteError, JournalLocked, PlaceError, OSError) as error:
            _log.warning("%s cannot be closed: %s", folder.name, error)
    return done


def recover(session: str) -> bool:
    """Close what is left open in one session, of a gate or of our own runtime, each in its own words; False: nothing was.

    A session whose writer lives, or that has ended, is left as it is. Raises JournalWriteError when it cannot be written
    to, PlaceError for an id that is none.
    """
    folder = session_folder(session)
    if not is_foreign(folder):
        return recover_session(session) != NOTHING
    if writer_alive(folder) or _has_ended(folder):
        return False
    try:
        _close(folder)
    except JournalLocked:
        return False  # another reader was quicker, or a writer has come
    return True


def _candidates() -> list[Path]:
    try:
        named = [folder for folder in sessions_home().iterdir() if f"-{GATE_MARK}-" in folder.name]
    except OSError:
        return []
    # a session of our own runtime may have a gate in its title
    return [folder for folder in sorted(named, reverse=True)[:_NEWEST] if is_foreign(folder)]


def _has_ended(folder: Path) -> bool:
    lines = [line.raw for line in last_lines(folder / "events.jsonl", 1 << 16)]
    return bool(lines) and b'"type":"session.ended"' in lines[-1]


def _close(folder: Path) -> None:
    journal = JournalWriter.open(folder.name)
    try:
        state = _fold(folder)
        for ask in list(state.asks.values()):
            told = "the gate service ended while it held this ask; the agent's own prompt decides"
            closed = PermissionClosed(
                ask_id=ask.ask_id, intent_id=ask.intent_id, cause="runtime_restarted", message=told
            )
            journal.append(closed, durable=True)
        for intent_id, tool in list(state.open_calls.items()):
            journal.append(_unseen(journal.ids.new(OBSERVATION), intent_id, tool))
        journal.append(SessionEnded(reason="crashed", message="the gate service ended without a word"), durable=True)
    finally:
        journal.close()


def _fold(folder: Path) -> SessionState:
    state = SessionState()
    with (folder / "events.jsonl").open("rb") as lines:
        for line in lines:
            event = brief(line)
            if event is not None:
                state.add(event)
    return state


def _unseen(observation_id: str, intent_id: str, tool: str) -> ToolObservation:
    summary = "the gate service ended before it saw how this ended; the agent's own record tells"
    return ToolObservation(
        observation_id=observation_id,
        intent_id=intent_id,
        ok=False,
        phase="permission",
        code="not_recorded",
        title=tool,
        summary=summary,
        user_text=f"{tool}: {summary}",
    )
