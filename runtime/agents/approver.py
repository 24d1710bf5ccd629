"""An approver without a person: answers every ask of a host the same way, through the socket like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from interlock.runtime.asks.client import AskClient, AskRefused, HostGone
from interlock.runtime.asks.protocol import AnsweredNotice, AskView, OpenedNotice
from interlock.runtime.events.permission import AnswerKind

NAME = "interlock, answering by option"


async def answer_all(
    socket: Path | str, answer: AnswerKind, told: Callable[[str, AskView | AnsweredNotice], None]
) -> None:
    """Answer everything that is asked at `socket` until the host closes it. `told` hears `ask` and `answer`."""
    try:
        async with await AskClient.connect(socket, client=NAME) as client:
            async for notice in client.subscribe():
                if isinstance(notice, OpenedNotice):
                    told("ask", notice.ask)
                    await _answer(client, notice.ask, answer)
                elif isinstance(notice, AnsweredNotice):
                    told("answer", notice)
    except HostGone:
        return


async def _answer(client: AskClient, ask: AskView, answer: AnswerKind) -> None:
    try:
        await client.answer(ask.ask_id, ask.input_digest, answer)
    except AskRefused as error:
        # somebody else was first, or the ask was closed meanwhile: both are normal ends of an ask
        if error.name not in ("already_resolved", "expired", "ask_closed", "unknown_ask"):
            raise
