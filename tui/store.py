"""The one live store: sources and hosts in, rows out, one coalesced signal a frame.

Promises: what the screen shows is a fold of journals and of what hosts say, never of keys; the signal comes at most
once a frame however much happens; sessions on disk are read in threads; a session that is shown is followed until it is
given back. No widget library: the signal is a plain function.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.tui.kept_rules import KeptRules
from interlock.tui.model.ask import Ask
from interlock.tui.model.board import SessionRow, row_of_summary
from interlock.tui.model.rules import covered_by
from interlock.tui.model.undo import Note

if TYPE_CHECKING:
    from interlock.runtime.library.catalog import SessionSummary
    from interlock.runtime.sources.native import NativeSource
    from interlock.runtime.state.grants import StandingGrant
    from interlock.tui.feed import Feed
    from interlock.tui.foreign import ForeignSessions
    from interlock.tui.hosts import Hosts
    from interlock.tui.model.allow_for import Preview
    from interlock.tui.model.given import Given
    from interlock.tui.model.undo import Undo

FRAME_SECONDS = 1 / 30
"""Shortest time between two signals."""
_ROWS_FOR = 5_000_000
"""Microseconds for which rows are kept when nothing differs."""
_HEAVY = (
    "interlock.runtime.asks.client",
    "interlock.runtime.asks.discovery",
    "interlock.runtime.library.catalog",
    "interlock.runtime.sources.native",
    "interlock.tui.feed",
    "interlock.tui.foreign",
    "interlock.tui.hosts",
)
"""What a store needs to begin. Names and no imports, for those that nothing uses are taken away."""


def wall_micros() -> int:
    """This machine's time in microseconds since 1970."""
    return time.time_ns() // 1000


class Store:
    """Everything that the screen knows. Make it, `start` it in a loop, `close` it."""

    def __init__(self, signal: Callable[[], None], *, home: Path | None = None, now: Callable[[], int] = wall_micros):
        """`signal` is called in the loop when rows may differ. `home`: the folder of sessions, if not the user's own."""
        self.now = now
        self.scanned = False
        """Whether all sessions on disk were listed."""
        self.problems: tuple[str, ...] = ()
        self._signal = signal
        self._home = home
        self._summaries: dict[str, SessionRow] = {}
        self._feeds: dict[str, Feed] = {}
        self._recovered: set[str] = set()
        """Sessions whose left asks were closed, or tried to be, once."""
        self._source: NativeSource | None = None
        self._hosts: Hosts | None = None
        self._foreign: ForeignSessions | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._running = 0
        """Pieces of work under way that will change what is shown."""
        self._timer: asyncio.TimerHandle | None = None
        self._last_signal = 0.0
        self._rows: list[SessionRow] = []
        self._rows_made_for = (-1, -1)
        self.version = 0
        """Grows with every change."""
        self.kept = KeptRules(self._changed, self._tell)
        """Rules of answers in the user's policy file."""

    # --- life

    async def start(self) -> None:
        """Load what is heavy in a thread, then begin to read and to listen."""
        self._running += 1
        try:
            await asyncio.to_thread(_load)
            from interlock.runtime.journal.place import sessions_home
            from interlock.runtime.sources.native import NativeSource
            from interlock.tui.foreign import ForeignSessions
            from interlock.tui.hosts import Hosts

            self._home = self._home or sessions_home()
            self._source = NativeSource(self._home)
            self._hosts = Hosts(self._changed, left=lambda session: self._spawn(self._recover(session)))
            self._foreign = ForeignSessions(self._changed, self._foreign_moved, self.now)
            self._spawn(self._hosts.run())
            self._spawn(self._foreign.run())
            self._spawn(self._watch())
            self._spawn(self._scan(), counts=True)
        finally:
            self._running -= 1

    async def close(self) -> None:
        """End everything; the agents and their hosts go on. Answers that were given are still sent."""
        if self._hosts is not None:
            await self._hosts.errands.finish()
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for feed in self._feeds.values():
            feed.close()

    def _spawn(self, work: Any, *, counts: bool = False) -> None:
        # counted from now on, not from when the task gets its first turn
        self._running += counts

        async def run() -> None:
            try:
                await work
            finally:
                self._running -= counts

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.problems = (*self.problems, f"part of the screen stopped: {type(error).__name__}: {error}")
            self._changed()

    async def _scan(self) -> None:
        from interlock.runtime.library.catalog import list_sessions

        assert self._home is not None
        try:
            found = await asyncio.to_thread(list_sessions, self._home)
        except OSError as error:
            self.problems = (*self.problems, f"the sessions cannot be listed: {error}")
            found = []
        for summary in found:
            self._summarised(summary)
        self.scanned = True
        self._changed()

    def _summarised(self, summary: SessionSummary) -> None:
        row = self._summaries[summary.id] = row_of_summary(summary)
        for answered in [f for i, f in self._feeds.items() if row.foreign and row.foreign in (i, self._works_for(i))]:
            answered.attach(summary.path)
            self._spawn(self._advance(answered), counts=True)
        if summary.writer_alive and summary.id not in self._feeds:
            self._spawn(self._advance(self._feed(summary.id)), counts=True)
        elif summary.waiting and not summary.writer_alive and summary.id not in self._recovered:
            self._recovered.add(summary.id)
            self._spawn(self._recover(summary.id))

    async def _recover(self, session_id: str) -> None:
        """Close the asks of a runtime or gate that was killed, with that cause: nobody is left who could hear an answer."""
        from interlock.runtime.journal.place import PlaceError, sessions_home
        from interlock.runtime.journal.writer import JournalWriteError

        if self._home != sessions_home():
            return
        try:
            await asyncio.to_thread(_close_left, session_id)
        except (JournalWriteError, PlaceError) as error:
            self.problems = (*self.problems, f"the asks of {session_id} cannot be closed: {error}")
        feed = self._feeds.get(session_id)
        await (self._advance(feed) if feed is not None else self._resummarise(session_id))

    async def _watch(self) -> None:
        assert self._source is not None
        async for ids in self._source.watch():
            for session_id in ids:
                feed = self._feeds.get(session_id)
                work = self._advance(feed) if feed is not None else self._resummarise(session_id)
                self._spawn(work, counts=True)
                gate = self._summaries.get(session_id)
                if gate is not None and (answered := self._feeds.get(gate.foreign)) is not None:
                    self._spawn(self._advance(answered), counts=True)

    async def _resummarise(self, session_id: str) -> None:
        from interlock.runtime.library.catalog import summarise

        assert self._home is not None
        path = self._home / session_id / "events.jsonl"
        try:
            summary = await asyncio.to_thread(summarise, path)
        except FileNotFoundError:
            self._summaries.pop(session_id, None)
        except OSError as error:
            if session_id in self._summaries:
                row = self._summaries[session_id]
                self._summaries[session_id] = replace(row, fault=error.strerror or str(error))
        else:
            self._summarised(summary)
        self._changed()

    def _foreign_moved(self, session_id: str) -> None:
        """The log of another agent has grown, or its process has changed."""
        assert self._foreign is not None
        feed, row = self._feeds.get(session_id), self._foreign.rows.get(session_id)
        if feed is None and row is not None and row.live:
            feed = self._feed(session_id)
        if feed is not None:
            self._spawn(self._advance(feed), counts=True)

    def _gates_of(self, session_id: str) -> list[Path]:
        """The journals in which gates answered for this session of another agent, the oldest first."""
        assert self._home is not None
        about = {session_id, self._works_for(session_id)} - {""}
        rows = sorted((r for r in self._summaries.values() if r.foreign in about), key=lambda r: r.last_at)
        return [self._home / row.id / "events.jsonl" for row in rows]

    def _works_for(self, session_id: str) -> str:
        """The session that a sub-agent of another agent works for: its hooks tell the gate that one."""
        row = self._foreign.rows.get(session_id) if self._foreign is not None else None
        return row.parent if row is not None else ""

    def _told_as(self, session_id: str) -> str:
        """The id under which a session is shown: a gate's journal is shown as the session that it answers for."""
        row = self._summaries.get(session_id)
        known = row is not None and self._foreign is not None and row.foreign in self._foreign.rows
        return row.foreign if row is not None and known else session_id

    async def _advance(self, feed: Feed) -> None:
        if await feed.advance():
            self._changed()
        if (feed.state.ended or feed.is_foreign) and not feed.alive and not feed.users and feed.complete:
            self._release(feed)

    def _release(self, feed: Feed) -> None:
        """A finished session that nobody looks at needs no open files."""
        if self._feeds.get(feed.id) is feed:
            if feed.is_foreign and self._foreign is not None:
                self._foreign.unfollow(feed.id)
            else:
                self._summaries[feed.id] = feed.row(self.now())
            del self._feeds[feed.id]
            if self._source is not None:
                self._source.unfollow(feed.id)
            feed.close()

    def _feed(self, session_id: str) -> Feed:
        known = self._feeds.get(session_id)
        if known is None:
            known = self._feeds[session_id] = self._opened(session_id)
        return known

    def _opened(self, session_id: str) -> Feed:
        from interlock.runtime.sources.follower import SessionFollower
        from interlock.tui.feed import Feed

        assert self._home is not None
        if self._foreign is not None and self._foreign.knows(session_id):
            follower = self._foreign.follower(session_id, self._gates_of(session_id))
            if follower is not None:
                return Feed(follower)
        if self._source is not None:
            with contextlib.suppress(KeyError):
                # only its registration as followed is wanted: its size is then looked at every frame
                self._source.session(session_id).close()
        return Feed(SessionFollower(self._home / session_id))

    # --- the signal

    def _changed(self) -> None:
        self.version += 1
        if self._timer is None:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._last_signal + FRAME_SECONDS - loop.time())
            self._timer = loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._last_signal = asyncio.get_running_loop().time()
        self._signal()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way that is known to change what is shown."""
        busy = self._hosts is None or self._hosts.is_busy
        return not self._running and self._timer is None and not busy

    # --- what there is

    @property
    def asks(self) -> list[Ask]:
        """Asks that wait and asks that ended while they were on the list, the oldest first."""
        if self._hosts is None:
            return []
        return [self._seen(ask) for ask in sorted(self._hosts.asks.values(), key=lambda a: (a.opened_at, a.id))]

    def ask(self, ask_id: str) -> Ask | None:
        """One ask by its id."""
        found = self._hosts.asks.get(ask_id) if self._hosts is not None else None
        return self._seen(found) if found is not None else None

    def _seen(self, ask: Ask) -> Ask:
        shown_as = self._told_as(ask.session)
        if shown_as != ask.session:
            ask = replace(ask, session=shown_as, is_foreign=True)
        feed = self._feeds.get(shown_as)
        if feed is None:
            return ask
        before = (feed.tally.allowed[ask.tool], feed.tally.denied[ask.tool])
        state = feed.state
        return replace(
            ask,
            covered=covered_by(ask, feed.grants.standing(self.now())) if ask.is_open and ask.suggestions else "",
            before=before,
            branch=state.branch,
            title=ask.title or state.title,
            agent=ask.agent or state.agent,
        )

    @property
    def sessions(self) -> list[SessionRow]:
        """All sessions, in no order. Made anew when something differs, and every few seconds for what time alone tells."""
        made_for = (self.version, self.now() // _ROWS_FOR)
        if self._rows_made_for != made_for:
            self._rows, self._rows_made_for = self._made_rows(), made_for
        return self._rows

    def _made_rows(self) -> list[SessionRow]:
        now = self.now()
        rows = dict(self._foreign.rows) if self._foreign is not None else {}
        rows |= {i: row for i, row in self._summaries.items() if row.foreign not in rows}
        rows |= {feed.id: self._feed_row(feed, now) for feed in self._feeds.values() if feed.complete}
        return [row for row in rows.values() if row.foreign not in rows or row.foreign == row.id]

    def _feed_row(self, feed: Feed, now: int) -> SessionRow:
        """The row of a followed session; of a foreign one with what its log's ends tell that its events do not."""
        row = feed.row(now)
        seen = self._foreign.rows.get(feed.id) if self._foreign is not None else None
        if seen is None:
            return row
        names = ("agent", "version", "title", "cwd", "branch", "parent")
        told = {name: getattr(row, name) or getattr(seen, name) for name in names}
        return replace(row, kind=seen.kind, **told)

    @property
    def grants(self) -> list[StandingGrant]:
        """Standing permissions of sessions that are alive."""
        now = self.now()
        return [g for feed in self._feeds.values() if feed.alive for g in feed.grants.standing(now)]

    @property
    def faults(self) -> tuple[str, ...]:
        """Ours: everything that is wrong and not a session's own matter."""
        hosts = self._hosts.problems if self._hosts is not None else ()
        return (*self.problems, *hosts, *(self._foreign.problems if self._foreign is not None else ()))

    # --- what the screen wants

    def open_session(self, session_id: str) -> Feed:
        """Follow a session for a screen; give it back with `leave_session`."""
        feed = self._feed(self._told_as(session_id))
        feed.users += 1
        self._spawn(self._advance(feed), counts=True)
        return feed

    def leave_session(self, session_id: str) -> None:
        """Give a session back."""
        feed = self._feeds.get(session_id) or self._feeds.get(self._told_as(session_id))
        if feed is not None:
            feed.users -= 1
            if not feed.alive and not feed.users and feed.complete:
                self._release(feed)

    def answer(self, *given: Given) -> None:
        """Send an answer for exactly what was shown; several are answered together. What becomes of it the host tells."""
        if self._hosts is not None and len(given) == 1:
            self._hosts.errands.answer(given[0])
        elif self._hosts is not None:
            self._hosts.errands.answer_together(given)

    def preview(self, ask_id: str, digest: str, rule: str = "") -> Preview | None:
        """What a suggestion, or a rule made of it, would have covered, as far as it is known."""
        return self._hosts.errands.preview(ask_id, digest, rule) if self._hosts is not None else None

    @property
    def undoable(self) -> Undo | None:
        """What can be taken back at this moment: answers given together, or a standing permission."""
        return self._hosts.errands.undoable if self._hosts is not None else None

    def undo(self) -> bool:
        """Take it back. False: there is none, or its time is over."""
        return self._hosts is not None and self._hosts.errands.undo()

    def take_notes(self) -> list[Note]:
        """What is to be told to the person, each once."""
        if self._hosts is None or not self._hosts.errands.notes:
            return []
        notes, self._hosts.errands.notes = self._hosts.errands.notes, []
        return notes

    def _tell(self, note: Note) -> None:
        if self._hosts is not None:
            self._hosts.errands.notes.append(note)

    def revoke(self, session: str, grant_id: str, covers: str) -> None:
        """End a standing permission. What comes of it is told in a note."""
        if self._hosts is not None:
            self._hosts.errands.revoke(session, grant_id, covers)

    def look_at_kept_rules(self) -> None:
        """Read anew which rules of answers stand in the user's policy file."""
        self._spawn(self.kept.read(), counts=True)

    def drop_kept_rule(self, rule_id: str) -> None:
        """Take a rule of an earlier session out of the user's policy file. What comes of it is told in a note."""
        self._spawn(self.kept.drop(rule_id), counts=True)

    def shown(self, ask_id: str) -> None:
        """Tell the host of an ask that a screen has drawn it."""
        if self._hosts is not None:
            self._hosts.shown(ask_id)

    def forget(self, ask_id: str) -> None:
        """Drop an ask that ended from the list."""
        if self._hosts is not None:
            self._hosts.forget(ask_id)

    async def find_session(self, name: str) -> str:
        """The id of the session of this name or beginning. Raises LookupError with what to do."""
        from interlock.runtime.journal.place import sessions_home
        from interlock.runtime.library.catalog import SessionNotFound, find

        try:
            return (await asyncio.to_thread(find, name, self._home or sessions_home())).parent.name
        except SessionNotFound as error:
            unknown = LookupError(str(error))
        if self._foreign is not None:
            await self._foreign.looked.wait()
            fitting = self._foreign.find(name)
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                raise LookupError(f"{name!r} fits {len(fitting)} sessions of other agents. Type more of it.")
        raise unknown

    def row_of(self, feed: Feed) -> SessionRow:
        """A followed session as the lists show it."""
        return self._feed_row(feed, self.now())

    def limits(self, session_id: str) -> tuple[str, ...]:
        """What the agent of a session does not let us see or do, in a sentence each."""
        return self._foreign.limits(self._told_as(session_id)) if self._foreign is not None else ()


def _load() -> None:
    """Import what is heavy, away from the loop, so that keys are taken meanwhile."""
    for name in _HEAVY:
        import_module(name)


def _close_left(session_id: str) -> None:
    """Close what a killed runtime or gate left open; what does that is heavy to import, so this is for a thread."""
    from interlock.runtime.gates.recovery import recover

    recover(session_id)
