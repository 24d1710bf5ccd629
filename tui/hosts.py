"""Connections to every host of this user: asks come in; what goes out stands in `errands` (ASK-2, ASK-7).

Promises: an ask of any host is known soon after it was opened, also one from before the screen; a host that vanishes
closes its asks here with that cause, and nobody is told that an answer took effect which was not confirmed. No widget
library.
Does not promise: that an answer without a reply had no effect; the journal tells.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from interlock.tui.elsewhere import Elsewhere
from interlock.tui.errands import Errands
from interlock.tui.model.ask import CAUSES, Ask, answered_words, ask_of

if TYPE_CHECKING:
    from interlock.runtime.asks.client import AskClient
    from interlock.runtime.asks.discovery import HostInfo
    from interlock.runtime.asks.protocol import AskView, SessionInfo

LOOK_SECONDS = 0.25
"""How often the names in the run folder are looked at."""
FULL_LOOK = 8
"""Every how many looks the hosts are checked although no name changed: a killed host leaves its files."""
CLIENT = "interlock screen"
_GOODBYE_S = 1.0
"""How long a host may take to hear that this screen leaves."""


@dataclass(slots=True)
class _Host:
    info: HostInfo
    client: AskClient | None = None
    task: asyncio.Task[None] | None = None
    sessions: dict[str, SessionInfo] = field(default_factory=dict)
    asks: dict[str, str] = field(default_factory=dict)
    """Ids of its asks -> what they are called in `Hosts.asks`."""

    @property
    def pid(self) -> int:
        """Of its process; a host that only a journal names tells it when it is greeted."""
        return self.info.pid or (self.client.host.pid if self.client is not None else 0)


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
        self.asks: dict[str, Ask] = {}
        """Open asks and those that ended while the screen watched, in the order in which they came; by id, and those of
        another host with an id that stands already by `ID@PID` of that host."""
        self.problems: tuple[str, ...] = ()
        """Ours: what could not be used, and why."""
        self.looked = asyncio.Event()
        """Set when the first look is done and every host found by it has told its asks."""
        self.changed = changed
        self._opened = opened
        self._left = left
        self._hosts: dict[str, _Host] = {}
        self._elsewhere = Elsewhere()
        self._seen: tuple[str, ...] = ()
        """Problems of the last look."""
        self._lasting: tuple[str, ...] = ()
        """Problems that stay while the screen does."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self.errands = Errands(self, clock)
        """What is asked of hosts: answers, previews, revocations."""

    async def run(self) -> None:
        """Look for hosts until cancelled."""
        looks, names, folder = 0, None, ""
        try:
            while True:
                if looks % FULL_LOOK == 0:
                    folder = await asyncio.to_thread(_folder)
                seen = _names(folder)  # some microseconds; a thread four times a second costs more
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
        served = {session for host in self._hosts.values() for session in host.sessions}
        # a host that was only just found is no longer unreached, although its sessions are not read yet
        served |= {session.id for info in seen.hosts for session in info.sessions}
        elsewhere = await self._elsewhere.look({info.socket for info in seen.hosts}, served)
        self._seen = seen.problems
        self._tell()
        ready = []
        for info in (*seen.hosts, *elsewhere):
            if info.socket not in self._hosts:
                host = self._hosts[info.socket] = _Host(info)
                told = asyncio.Event()
                host.task = asyncio.create_task(self._follow(host, told))
                ready.append(told.wait())
        if not self.looked.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*ready), 3.0)
            self.looked.set()

    def _tell(self) -> None:
        self._problem((*self._seen, *self._lasting, *self._elsewhere.unreached()))

    def _problem(self, problems: tuple[str, ...]) -> None:
        if problems != self.problems:
            self.problems = problems
            self.changed()

    async def _follow(self, host: _Host, told: asyncio.Event) -> None:
        from interlock.runtime.asks.client import AskClient, AskRefused, HostGone
        from interlock.runtime.asks.protocol import OpenedNotice

        cause = CAUSES["host_gone"]
        try:
            host.client = await AskClient.connect(host.info.socket, CLIENT)
            self._elsewhere.answered(host.info.socket)
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
        except HostGone as error:
            if host.client is None:
                self._elsewhere.failed(host.info.socket, str(error))
                self._tell()
            for session in host.sessions:
                self._left(session)
        except AskRefused as error:
            cause = f"closed: its host refuses this screen: {error.message}"
            self._problem((*self.problems, f"host {host.info.pid}: {error.message}"))
        finally:
            told.set()
            if host.client is not None:
                # a screen that is closed says so, one that is killed cannot
                with contextlib.suppress(HostGone, AskRefused, TimeoutError):
                    await asyncio.wait_for(host.client.unsubscribe(), _GOODBYE_S)
                await host.client.close()
            self._gone(host, cause)

    def _gone(self, host: _Host, cause: str) -> None:
        for ask_id in host.asks.values():
            ask = self.asks.get(ask_id)
            if ask is not None and ask.stage in ("open", "held", "sending", "sent"):
                doubt = (
                    "" if ask.stage in ("open", "held") else "; whether your answer took effect stands in its journal"
                )
                self.asks[ask_id] = replace(ask, stage="closed", outcome=cause + doubt)
        self._hosts.pop(host.info.socket, None)
        self.changed()

    async def _notice(self, host: _Host, notice: Any) -> None:
        from interlock.runtime.asks.protocol import AnsweredNotice, OpenedNotice

        if isinstance(notice, OpenedNotice):
            await self._take(host, notice.ask)
        elif (ask := self.asks.get(host.asks.get(notice.ask_id, ""))) is not None:
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
        self.changed()

    async def _take(self, host: _Host, view: AskView) -> None:
        key = self._key(host, view.ask_id)
        if key in self.asks and self.asks[key].stage not in ("answered", "closed"):
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
            host_pid=host.pid,
            host=host.info.socket,
            title=info.title if info else "",
            journal=info.journal if info else "",
        )
        ask = replace(ask, id=key, wire_id=view.ask_id, agent=ask.agent or (info.agent if info else ""))
        self.asks[ask.id] = ask
        host.asks[view.ask_id] = key
        self._opened(ask)
        self.changed()
        if not ask.is_whole:
            self.spawn(self._complete(host, ask))

    def _key(self, host: _Host, ask_id: str) -> str:
        """What an ask of this host is called here; a warning when another host has one of the same id."""
        other = self.asks.get(ask_id)
        if other is None or other.host == host.info.socket:
            return ask_id
        warning = f"two hosts have an ask with the id {ask_id}: both are listed, each with its own agent and folder"
        if warning not in self._lasting:
            self._lasting = (*self._lasting, warning)
            self._tell()
        return f"{ask_id}@{host.pid}"

    async def _complete(self, host: _Host, ask: Ask) -> None:
        """Bring what the list left out: large fields, and the diff, which is a file."""
        from interlock.runtime.asks.client import AskRefused, HostGone

        if ask.missing and host.client is not None:
            try:
                event = await host.client.read(ask.ask_id)
            except (AskRefused, HostGone) as error:
                self.update(ask.id, fault=f"the whole ask cannot be read: {error}")
                return
            more = {name: getattr(ask, name) for name in ("host_pid", "host", "title", "journal", "wire_id")}
            full = replace(ask_of(event, ask.session, missing=(), **more), id=ask.id)
            full = replace(full, opened_at=ask.opened_at, agent=full.agent or ask.agent)
            current = self.asks[ask.id]
            ask = self.asks[ask.id] = replace(full, stage=current.stage, outcome=current.outcome)
            self.changed()
        if ask.diff_path:
            diff, fault = await asyncio.to_thread(_read_diff, ask.journal, ask.diff_path)
            self.update(ask.id, diff=diff, diff_fault=fault)

    def update(self, ask_id: str, **fields: Any) -> None:
        """Change what is known of an ask."""
        self.asks[ask_id] = replace(self.asks[ask_id], **fields)
        self.changed()

    def forget(self, ask_id: str) -> None:
        """Drop an ask that ended."""
        ask = self.asks.get(ask_id)
        if ask is not None and ask.stage in ("answered", "closed"):
            del self.asks[ask_id]
            self.errands.forget(ask_id)

    def shown(self, ask_id: str) -> None:
        """Tell the host that the ask was drawn; it does not matter if that fails."""
        host = self._host_of(ask_id)
        if host is not None and host.client is not None and self.asks[ask_id].is_open:
            self.spawn(_quietly(host.client.shown(self.asks[ask_id].ask_id)))

    def client_of(self, ask_id: str) -> AskClient | None:
        """The connection to the host of an ask."""
        host = self._host_of(ask_id)
        return host.client if host is not None else None

    def client_of_session(self, session: str) -> AskClient | None:
        """The connection to the host of a session."""
        return next((h.client for h in self._hosts.values() if session in h.sessions), None)

    def _host_of(self, ask_id: str) -> _Host | None:
        return next((host for host in self._hosts.values() if ask_id in host.asks.values()), None)

    def spawn(self, work: Any) -> None:
        """Do some work beside; the screen is not settled while it goes on."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_busy(self) -> bool:
        """Whether anything is under way that will change what is shown."""
        return bool(self._tasks) or not self.looked.is_set()


def _folder() -> str:
    from interlock.runtime.journal.place import PlaceError, run_home

    try:
        return str(run_home())
    except PlaceError:
        return ""


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(name for name in os.listdir(folder) if name.endswith(".json")) if folder else frozenset()
    except OSError:
        return frozenset()


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
