"""What the screen asks of hosts: answers, previews of standing permissions, revocations, and taking back (ASK-4).

Promises: an answer carries the digests of what was shown and is sent once, never again; answers given together are held
for some seconds, in which nothing is sent and all can be taken back, and then each failure is told by itself; a standing
permission can be taken back for some seconds, and what came of that is told. No widget library.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from interlock.tui.model.allow_for import Preview
from interlock.tui.model.ask import CAUSES, Ask
from interlock.tui.model.given import Given
from interlock.tui.model.undo import (
    HELD_SECONDS,
    UNDO_SECONDS,
    Note,
    Undo,
    held_words,
    together_note,
    undone_words,
)

if TYPE_CHECKING:
    from interlock.runtime.asks.client import AskClient

LAST_SECONDS = 1.0
"""For how long a screen that is left waits for answers that are under way."""


class Counter(Protocol):
    """What errands need of the hosts."""

    asks: dict[str, Ask]
    changed: Callable[[], None]

    def client_of(self, ask_id: str) -> AskClient | None: ...
    def client_of_session(self, session: str) -> AskClient | None: ...
    def update(self, ask_id: str, **fields: Any) -> None: ...
    def spawn(self, work: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class _Held:
    """Answers that were given together and are not sent yet."""

    answers: tuple[Given, ...]
    timer: asyncio.TimerHandle
    undo: Undo


class Errands:
    """All that goes out."""

    def __init__(self, hosts: Counter, clock: Callable[[], float]) -> None:
        """`clock`: steady seconds."""
        self.clock = clock
        self.answering = 0
        """Answers under way."""
        self._answered = asyncio.Event()
        """Set when none is."""
        self.hold = HELD_SECONDS
        """Seconds for which answers that were given together can be taken back."""
        self.previews: dict[tuple[str, str, str], Preview] = {}
        """What suggestions would have covered: (ask, digest, edited rule) -> as far as it is known."""
        self.notes: list[Note] = []
        """What came of undoing, revoking and answering together, for whoever shows it."""
        self._hosts = hosts
        self._undo: Undo | None = None
        """The last standing permission that was made here."""
        self._held: _Held | None = None

    # --- answers

    def answer(self, given: Given) -> None:
        """Send an answer for exactly what was shown; what becomes of it stands in the ask."""
        client = self._begin(given, "open")
        if client is not None:
            self._hosts.spawn(self._send(client, given))

    def answer_together(self, given: Sequence[Given]) -> None:
        """Hold answers of alike asks for some seconds, then send each with its own digest."""
        self._send_held()
        answers = tuple(one for one in given if (ask := self._hosts.asks.get(one.ask_id)) is not None and ask.is_open)
        if not answers:
            return
        for one in answers:
            self._hosts.update(one.ask_id, stage="held", fault="")
        words = held_words(answers[0].answer, len(answers))
        timer = asyncio.get_running_loop().call_later(self.hold, self._send_held)
        self._held = _Held(answers, timer, Undo("", "", "", words, self.clock() + self.hold))

    def _send_held(self) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        held.timer.cancel()
        begun = [(client, one) for one in held.answers if (client := self._begin(one, "held")) is not None]
        if begun:
            self._hosts.spawn(self._send_together(begun))
        else:
            self._say(Note("nothing was sent: none of these asks is open any more", "warning"))

    async def _send_together(self, begun: list[tuple[AskClient, Given]]) -> None:
        results = await asyncio.gather(*(self._send(client, one) for client, one in begun))
        failed = [(one.what, why) for (_, one), why in zip(begun, results, strict=True) if why]
        self._say(together_note(begun[0][1].answer, len(begun) - len(failed), failed))

    def _begin(self, given: Given, stage: str) -> AskClient | None:
        ask, client = self._hosts.asks.get(given.ask_id), self._hosts.client_of(given.ask_id)
        if ask is None or ask.stage != stage:
            return None
        if client is None:
            self._hosts.update(given.ask_id, stage="open", fault="not sent: its host is gone")
            return None
        self._hosts.update(given.ask_id, stage="sending", fault="")
        self.answering += 1
        self._answered.clear()
        return client

    async def _send(self, client: AskClient, given: Given) -> str:
        """Why it had no effect, "" when it had."""
        from interlock.runtime.asks.client import AskRefused, HostGone

        ask_id, asks = given.ask_id, self._hosts.asks
        try:
            reply = await client.answer(
                asks[ask_id].ask_id,
                given.digest,
                given.answer,
                scope=given.scope,
                message=given.message,
                suggestion=given.suggestion,
                rule=given.rule,
            )
            self._granted(given, reply)
            if ask_id in asks and asks[ask_id].stage == "sending":
                self._hosts.update(ask_id, stage="sent")
        except AskRefused as error:
            self._refusal(ask_id, error.name, error.message)
            return error.message
        except HostGone as error:
            if ask_id in asks and asks[ask_id].stage == "sending":
                doubt = f"{CAUSES['host_gone']}; whether your answer took effect stands in its journal ({error})"
                self._hosts.update(ask_id, stage="closed", outcome=doubt)
            return f"its host is gone ({error})"
        finally:
            self.answering -= 1
            if not self.answering:
                self._answered.set()
        return ""

    def _refusal(self, ask_id: str, name: str, message: str) -> None:
        ask = self._hosts.asks.get(ask_id)
        if ask is None:
            return
        if name in ("already_resolved", "expired", "ask_closed", "unknown_ask"):
            late = f"your answer came late and had no effect: {message}"
            outcome = f"{ask.outcome} — {late}" if ask.stage in ("answered", "closed") else late
            self._hosts.update(ask_id, stage="closed", outcome=outcome)
        else:
            self._hosts.update(ask_id, stage="open", fault=f"your answer had no effect: {message}")

    async def finish(self) -> None:
        """Send what is held and wait a moment for what is under way: the screen is being left."""
        self._send_held()
        if self.answering:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), LAST_SECONDS)

    # --- taking back

    def _granted(self, given: Given, reply: Any) -> None:
        """Remember the standing permission that an answer made, or say why there is none."""
        if reply.grant_fault:
            self._say(Note(reply.grant_fault, "error"))
        elif reply.grant_id:
            until = self.clock() + UNDO_SECONDS
            self._undo = Undo(given.session, reply.grant_id, given.scope, given.covers, until)
            self._hosts.changed()

    @property
    def undoable(self) -> Undo | None:
        """What can be taken back at this moment."""
        if self._held is not None:
            return self._held.undo
        return self._undo if self._undo is not None and self.clock() < self._undo.until else None

    def undo(self) -> bool:
        """Take the last answers back while their time runs. False: there is nothing to take back."""
        held, undo = self._held, self.undoable
        if held is not None:
            self._take_back(held)
        elif undo is not None:
            self._undo = None
            self.revoke(undo.session, undo.grant_id, undo.covers)
        return held is not None or undo is not None

    def _take_back(self, held: _Held) -> None:
        self._held = None
        held.timer.cancel()
        for one in held.answers:
            ask = self._hosts.asks.get(one.ask_id)
            if ask is not None and ask.stage == "held":
                self._hosts.update(one.ask_id, stage="open")
        self._say(Note(f"taken back, nothing was sent: {held.undo.covers}"))

    def revoke(self, session: str, grant_id: str, covers: str) -> None:
        """End a standing permission; what came of it is told in `notes`."""
        if self._undo is not None and (self._undo.session, self._undo.grant_id) == (session, grant_id):
            self._undo = None
        client = self._hosts.client_of_session(session)
        if client is None:
            self._say(Note(f"not revoked: the host of {session} is gone, and with it what it allowed", "error"))
            return
        self._hosts.spawn(self._revoke(client, session, grant_id, covers))

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
        self._hosts.changed()

    # --- previews

    def preview(self, ask_id: str, digest: str, rule: str = "") -> Preview:
        """What a suggestion, or a rule made of it, would have covered; asked for at the first question."""
        key = (ask_id, digest, rule)
        if key not in self.previews:
            self.previews[key] = Preview()
            self._hosts.spawn(self._preview(key))
        return self.previews[key]

    async def _preview(self, key: tuple[str, str, str]) -> None:
        from interlock.runtime.asks.client import AskRefused, HostGone

        ask_id, digest, rule = key
        client = self._hosts.client_of(ask_id)
        ask = self._hosts.asks.get(ask_id)
        if ask is None or client is None or "asks.preview" not in client.host.methods:
            self.previews[key] = Preview("fault", "its host does not look through past calls")
        else:
            try:
                self.previews[key] = preview_of(await client.preview(ask.ask_id, digest, rule or None))
            except AskRefused as error:
                self.previews[key] = Preview("fault", error.message, refused=error.name == "rule_refused")
            except HostGone as error:
                self.previews[key] = Preview("fault", f"not known: {error}")
        self._hosts.changed()

    def forget(self, ask_id: str) -> None:
        """Drop what is known of the suggestions of an ask that ended."""
        self.previews = {key: seen for key, seen in self.previews.items() if key[0] != ask_id}


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
        covers_this=reply.covers_this,
        examples=reply.covered_examples,
        near=reply.near_misses,
    )
