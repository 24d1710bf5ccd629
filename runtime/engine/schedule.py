"""Which calls may run beside each other, and who waits for whom (RT-6).

Promises: of two calls that conflict, the one whose intent came first runs first, also while it still waits for an
answer; calls that do not conflict never wait for each other; a call that will never run lets those behind it pass; no
two calls wait for each other, since one only ever waits for those before it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from interlock.runtime.tools.definition import Concurrency


@dataclass(slots=True, eq=False)
class Ticket:
    """A call's place in the order."""

    invocation_id: str
    """Reserved for it; never used if the call is refused."""
    concurrency: Concurrency
    ahead: dict[str, list[Ticket]] = field(default_factory=dict)
    """Resource -> the calls before it that conflict over it."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    ran: bool = False

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Ids of the invocations that must end first; those that were refused are left out."""
        tickets = {id(t): t for group in self.ahead.values() for t in group}
        return tuple(t.invocation_id for t in tickets.values() if t.ran or not t.done.is_set())

    async def early_turn(self) -> None:
        """Wait until nothing before it can change what it is about to look at."""
        for resource, group in self.ahead.items():
            if resource.startswith(self.concurrency.early):
                await _all_done(group)

    async def turn(self) -> None:
        """Wait until nothing before it conflicts."""
        for group in self.ahead.values():
            await _all_done(group)


async def _all_done(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        await ticket.done.wait()


class Scheduler:
    """The order of the calls of one session."""

    def __init__(self) -> None:
        self._open: list[Ticket] = []

    def enqueue(self, invocation_id: str, concurrency: Concurrency) -> Ticket:
        """Take the next place. To be called in the order of intents."""
        ticket = Ticket(invocation_id, concurrency)
        for claim in concurrency.claims:
            before = [t for t in self._open if any(claim.conflicts(other) for other in t.concurrency.claims)]
            if before:
                ticket.ahead[claim.resource] = before
        self._open.append(ticket)
        return ticket

    def release(self, ticket: Ticket) -> None:
        """The call has ended, or will never run. Safe to call twice."""
        if ticket in self._open:
            self._open.remove(ticket)
        ticket.done.set()
