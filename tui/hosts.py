"""Connections to every host of this user: asks come in, answers go out (ASK-2, ASK-7).

Promises: an ask of any host is known soon after it was opened, also one from before the screen; an answer carries the
digest of what was shown and is sent once, never again; a host that vanishes closes its asks here with that cause, and
nobody is told that an answer took effect which was not confirmed. No widget library.
Does not promise: that an answer without a reply had no effect; the journal tells.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from interlock.tui.model.allow_for import Preview
from interlock.tui.model.ask import CAUSES, Ask, answered_words, ask_of
from interlock.tui.model.given import Given
from interlock.tui.model.undo import UNDO_SECONDS, Note, Undo, together_note, undone_words

if TYPE_CHECKING:
    from interlock.runtime.asks.client import AskClient
    from interlock.runtime.asks.discovery import HostInfo
    from interlock.runtime.asks.protocol import AskView, SessionInfo

LOOK_SECONDS = 0.25
"""How often the names in the run folder are looked at."""
FULL_LOOK = 8
"""Every how many looks the hosts are checked although no name changed: a killed host leaves its files."""
CLIENT = "interlock screen"


@dataclass(slots=True)
class _Host:
    info: HostInfo
    client: AskClient | None = None
    task: asyncio.Task[None] | None = None
    sessions: dict[str, SessionInfo] = field(default_factory=dict)
    asks: set[str] = field(default_factory=set)


class Hosts:
    """All hosts. `run` finds them and follows them; `asks` is what they ask."""

    def __init__(
        self,
        changed: Callable[[], None],
        opened: Callable[[Ask], None] = lambda ask: None,
        left: Callable[[str], None] = lambda session: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`left` is told of each session whose host went away by itself. `clock`: steady seconds."""
        self._clock = clock
        self.asks: dict[str, Ask] = {}
        """Open asks and those that ended while the screen watched, by id, in the order in which they came."""
        self.problems: tuple[str, ...] = ()
        """Ours: what could not be used, and why."""
        self.looked = asyncio.Event()
        """Set when the first look is done and every host found by it has told its asks."""
        self._changed = changed
        self._opened = opened
        self._left = left
        self._hosts: dict[str, _Host] = {}
        self._refused: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.answering = 0
        """Answers under way."""
        self.previews: dict[tuple[str, str, str], Preview] = {}
        """What suggestions would have covered: (ask, digest, edited rule) -> as far as it is known."""
        self.undo: Undo | None = None
        """The last standing permission that was made here."""
        self.notes: list[Note] = []
        """What came of undoing, revoking and answering together, for whoever shows it."""

    async def run(self) -> None:
        """Look for hosts until cancelled."""
        looks, names = 0, None
        try:
            while True:
                seen = await asyncio.to_thread(_names)
                if seen != names or looks % FULL_LOOK == 0:
                    await self._look()
                    names = seen
                looks += 1
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            for host in self._hosts.values():
                if host.task is not None:
                    host.task.cancel()
            await asyncio.gather(*(h.task for h in self._hosts.values() if h.task), return_exceptions=True)

    async def _look(self) -> None:
        from interlock.runtime.asks.discovery import survey
        from interlock.runtime.journal.place import PlaceError

        try:
            seen = await asyncio.to_thread(survey)
        except PlaceError as error:
            self._problem((str(error),))
            self.looked.set()
            return
        self._problem(seen.problems)
        ready = []
        for info in seen.hosts:
            if info.socket not in self._hosts:
                host = self._hosts[info.socket] = _Host(info)
                told = asyncio.Event()
                host.task = asyncio.create_task(self._follow(host, told))
                ready.append(told.wait())
        if not self.looked.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*ready), 3.0)
            self.looked.set()

    def _problem(self, problems: tuple[str, ...]) -> None:
        if problems != self.problems:
            self.problems = problems
            self._changed()

    async def _follow(self, host: _Host, told: asyncio.Event) -> None:
        from interlock.runtime.asks.client import AskClient, AskRefused, HostGone
        from interlock.runtime.asks.protocol import OpenedNotice

        cause = CAUSES["host_gone"]
        try:
            host.client = await AskClient.connect(host.info.socket, CLIENT)
            host.sessions = {s.id: s for s in await host.client.sessions()}
            # the subscription tells every open ask once more; taking them there alone leaves no gap between the two
            expected = {view.ask_id for view in await host.client.list()}
            if not expected:
                told.set()
            async for notice in host.client.subscribe():
                await self._notice(host, notice)
                expected.discard(notice.ask.ask_id if isinstance(notice, OpenedNotice) else notice.ask_id)
                if not expected:
                    told.set()
        except HostGone:
            for session in host.sessions:
                self._left(session)
        except AskRefused as error:
            cause = f"closed: its host refuses this screen: {error.message}"
            self._problem((*self.problems, f"host {host.info.pid}: {error.message}"))
        finally:
            told.set()
            if host.client is not None:
                await host.client.close()
            self._gone(host, cause)

    def _gone(self, host: _Host, cause: str) -> None:
        for ask_id in host.asks:
            ask = self.asks.get(ask_id)
            if ask is not None and ask.stage in ("open", "sending", "sent"):
                doubt = "" if ask.stage == "open" else "; whether your answer took effect stands in its journal"
                self.asks[ask_id] = replace(ask, stage="closed", outcome=cause + doubt)
        self._hosts.pop(host.info.socket, None)
        self._changed()

    async def _notice(self, host: _Host, notice: Any) -> None:
        from interlock.runtime.asks.protocol import AnsweredNotice, OpenedNotice

        if isinstance(notice, OpenedNotice):
            await self._take(host, notice.ask)
        elif notice.ask_id in self.asks:
            ask = self.asks[notice.ask_id]
            if isinstance(notice, AnsweredNotice):
                own = host.client is not None and notice.by == host.client.host.you
                words = answered_words(
                    notice.answer, notice.scope, notice.by.model_dump(exclude_none=True), own, notice.message
                )
                self._end(ask, "answered", words)
            else:
                words = CAUSES.get(notice.cause, f"closed: {notice.cause}")
                self._end(ask, "closed", f"{words}: {notice.message}" if notice.message else words)

    def _end(self, ask: Ask, stage: Literal["answered", "closed"], words: str) -> None:
        self.asks[ask.id] = replace(self.asks[ask.id], stage=stage, outcome=words, fault="")
        self._changed()

    async def _take(self, host: _Host, view: AskView) -> None:
        if view.ask_id in self.asks:
            return
        info = host.sessions.get(view.session)
        if info is None and host.client is not None:
            host.sessions = {s.id: s for s in await host.client.sessions()}
            info = host.sessions.get(view.session)
        ask = ask_of(
            {"askId": view.ask_id, "inputDigest": view.input_digest, **view.event},
            view.session,
            view.opened_at,
            missing=tuple(view.omitted),
            host_pid=host.info.pid,
            title=info.title if info else "",
            journal=info.journal if info else "",
        )
        ask = replace(ask, agent=ask.agent or (info.agent if info else ""))
        self.asks[ask.id] = ask
        host.asks.add(ask.id)
        self._opened(ask)
        self._changed()
        if not ask.is_whole:
            self._spawn(self._complete(host, ask))

    async def _complete(self, host: _Host, ask: Ask) -> None:
        """Bring what the list left out: large fields, and the diff, which is a file."""
        from interlock.runtime.asks.client import AskRefused, HostGone

        if ask.missing and host.client is not None:
            try:
                event = await host.client.read(ask.id)
            except (AskRefused, HostGone) as error:
                self._update(ask.id, fault=f"the whole ask cannot be read: {error}")
                return
            full = ask_of(event, ask.session, missing=(), host_pid=ask.host_pid, title=ask.title, journal=ask.journal)
            full = replace(full, opened_at=ask.opened_at, agent=full.agent or ask.agent)
            current = self.asks[ask.id]
            ask = self.asks[ask.id] = replace(full, stage=current.stage, outcome=current.outcome)
            self._changed()
        if ask.diff_path:
            diff, fault = await asyncio.to_thread(_read_diff, ask.journal, ask.diff_path)
            self._update(ask.id, diff=diff, diff_fault=fault)

    def _update(self, ask_id: str, **fields: Any) -> None:
        self.asks[ask_id] = replace(self.asks[ask_id], **fields)
        self._changed()

    def forget(self, ask_id: str) -> None:
        """Drop an ask that ended."""
        ask = self.asks.get(ask_id)
        if ask is not None and ask.stage in ("answered", "closed"):
            del self.asks[ask_id]
            self.previews = {key: seen for key, seen in self.previews.items() if key[0] != ask_id}

    def shown(self, ask_id: str) -> None:
        """Tell the host that the ask was drawn; it does not matter if that fails."""
        host = self._host_of(ask_id)
        if host is not None and host.client is not None and self.asks[ask_id].is_open:
            self._spawn(_quietly(host.client.shown(ask_id)))

    def answer(self, given: Given) -> None:
        """Send an answer for exactly what was shown (its digests); what becomes of it stands in the ask."""
        client = self._begin(given)
        if client is not None:
            self._spawn(self._send(client, given))

    def answer_together(self, given: Sequence[Given]) -> None:
        """Send answers of alike asks, each with its own digest; what came of them is told once, each failure by itself."""
        begun = [(client, one) for one in given if (client := self._begin(one)) is not None]
        if begun:
            self._spawn(self._send_together(begun))

    async def _send_together(self, begun: list[tuple[AskClient, Given]]) -> None:
        results = await asyncio.gather(*(self._send(client, one) for client, one in begun))
        failed = [(one.what, why) for (_, one), why in zip(begun, results, strict=True) if why]
        self._say(together_note(begun[0][1].answer, len(begun) - len(failed), failed))

    def _begin(self, given: Given) -> AskClient | None:
        ask, host = self.asks.get(given.ask_id), self._host_of(given.ask_id)
        if ask is None or not ask.is_open:
            return None
        if host is None or host.client is None:
            self._update(given.ask_id, fault="not sent: its host is gone")
            return None
        self._update(given.ask_id, stage="sending", fault="")
        self.answering += 1
        return host.client

    async def _send(self, client: AskClient, given: Given) -> str:
        """Why it had no effect, "" when it had."""
        from interlock.runtime.asks.client import AskRefused, HostGone

        ask_id = given.ask_id
        try:
            reply = await client.answer(
                ask_id,
                given.digest,
                given.answer,
                scope=given.scope,
                message=given.message,
                suggestion=given.suggestion,
                rule=given.rule,
            )
            self._granted(given, reply)
            if ask_id in self.asks and self.asks[ask_id].stage == "sending":
                self._update(ask_id, stage="sent")
        except AskRefused as error:
            self._refusal(ask_id, error.name, error.message)
            return error.message
        except HostGone as error:
            if ask_id in self.asks and self.asks[ask_id].stage == "sending":
                doubt = f"{CAUSES['host_gone']}; whether your answer took effect stands in its journal ({error})"
                self._update(ask_id, stage="closed", outcome=doubt)
            return f"its host is gone ({error})"
        finally:
            self.answering -= 1
        return ""

    def _granted(self, given: Given, reply: Any) -> None:
        """Remember the standing permission that an answer made, or say why there is none."""
        if reply.grant_fault:
            self._say(Note(reply.grant_fault, "error"))
        elif reply.grant_id:
            ask = self.asks.get(given.ask_id)
            until = self._clock() + UNDO_SECONDS
            self.undo = Undo(ask.session if ask else "", reply.grant_id, given.scope, given.covers, until)
            self._changed()

    def undo_last(self) -> bool:
        """Take back the last standing permission while its time runs. False: there is none to take back."""
        undo = self.undoable
        if undo is None:
            return False
        self.undo = None
        self.revoke(undo.session, undo.grant_id, undo.covers)
        return True

    @property
    def undoable(self) -> Undo | None:
        """What can be undone at this moment."""
        return self.undo if self.undo is not None and self._clock() < self.undo.until else None

    def revoke(self, session: str, grant_id: str, covers: str) -> None:
        """End a standing permission; what came of it is told in `notes`."""
        if self.undo is not None and (self.undo.session, self.undo.grant_id) == (session, grant_id):
            self.undo = None
        host = next((h for h in self._hosts.values() if session in h.sessions), None)
        if host is None or host.client is None:
            self._say(Note(f"not revoked: the host of {session} is gone, and with it what it allowed", "error"))
            return
        self._spawn(self._revoke(host.client, session, grant_id, covers))

    async def _revoke(self, client: AskClient, session: str, grant_id: str, covers: str) -> None:
        from interlock.runtime.asks.client import AskRefused, HostGone

        try:
            reply = await client.revoke(grant_id, session)
        except (AskRefused, HostGone) as error:
            self._say(Note(f"not revoked ({covers}): {error}", "error"))
            return
        self._say(undone_words(covers, reply.call_started, reply.rule_removed, reply.problem or ""))

    def _say(self, note: Note) -> None:
        self.notes.append(note)
        self._changed()

    def preview(self, ask_id: str, digest: str, rule: str = "") -> Preview:
        """What a suggestion, or a rule made of it, would have covered; asked for at the first question."""
        key = (ask_id, digest, rule)
        if key not in self.previews:
            self.previews[key] = Preview()
            self._spawn(self._preview(key))
        return self.previews[key]

    async def _preview(self, key: tuple[str, str, str]) -> None:
        from interlock.runtime.asks.client import AskRefused, HostGone

        ask_id, digest, rule = key
        host = self._host_of(ask_id)
        client = host.client if host is not None else None
        if client is None or "asks.preview" not in client.host.methods:
            self.previews[key] = Preview("fault", "its host does not look through past calls")
        else:
            try:
                self.previews[key] = preview_of(await client.preview(ask_id, digest, rule or None))
            except AskRefused as error:
                self.previews[key] = Preview("fault", error.message, refused=error.name == "rule_refused")
            except HostGone as error:
                self.previews[key] = Preview("fault", f"not known: {error}")
        self._changed()

    def _refusal(self, ask_id: str, name: str, message: str) -> None:
        ask = self.asks.get(ask_id)
        if ask is None:
            return
        if name in ("already_resolved", "expired", "ask_closed", "unknown_ask"):
            late = f"your answer came late and had no effect: {message}"
            outcome = f"{ask.outcome} — {late}" if ask.stage in ("answered", "closed") else late
            self._update(ask_id, stage="closed", outcome=outcome)
        else:
            self._update(ask_id, stage="open", fault=f"your answer had no effect: {message}")

    def _host_of(self, ask_id: str) -> _Host | None:
        return next((host for host in self._hosts.values() if ask_id in host.asks), None)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_busy(self) -> bool:
        """Whether anything is under way that will change what is shown."""
        return bool(self._tasks) or not self.looked.is_set()


def _names() -> frozenset[str]:
    from interlock.runtime.journal.place import PlaceError, run_home

    try:
        return frozenset(name for name in os.listdir(run_home()) if name.endswith(".json"))
    except (OSError, PlaceError):
        return frozenset()


def preview_of(reply: Any) -> Preview:
    """A reply of a host as the screen holds it."""
    from interlock.runtime.events.moment import micros

    return Preview(
        "known",
        calls=reply.calls,
        sessions=reply.sessions,
        since=micros(reply.since) if reply.since else 0,
        whole=reply.whole,
        covered=reply.covered,
        still_asks=reply.still_asks,
        examples=reply.covered_examples,
        near=reply.near_misses,
    )


def _read_diff(journal: str, path: str) -> tuple[str | None, str]:
    from pathlib import Path

    from interlock.runtime.journal.artifacts import ArtifactError, inside

    try:
        if not journal:
            return None, "the diff cannot be shown: the host does not say where its journal is"
        data = inside(Path(journal).parent, path).read_bytes()
    except (OSError, ArtifactError) as error:
        return None, f"the diff cannot be shown: {error}"
    return data.decode("utf-8", "surrogateescape"), ""


async def _quietly(work: Any) -> None:
    from interlock.runtime.asks.client import AskRefused, HostGone

    with contextlib.suppress(AskRefused, HostGone):
        await work
