"""An approver without a person: answers every ask of a host the same way, through the socket like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

from interlock.runtime.asks.client import AskClient, AskRefused, HostGone
from interlock.runtime.asks.protocol import AnsweredNotice, AskView, OpenedNotice
from interlock.runtime.events.permission import AnswerKind

NAME = "interlock, answering by option"
_Result = TypeVar("_Result")


class ApproverFault(Exception):
    """Nobody answers any more, so the work was stopped; the message says why."""


async def beside(work: Coroutine[Any, Any, _Result], approvers: Iterable[Coroutine[Any, Any, None]]) -> _Result:
    """The result of the work, while the approvers answer what it asks.

    Raises what the work raises; when an approver fails, the work is stopped rather than left waiting for it, and what
    the approver failed with is raised.
    """
    main = asyncio.ensure_future(work)
    others = {asyncio.ensure_future(approver) for approver in approvers}
    try:
        left = {main, *others}
        while not main.done():
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {main}:
                task.result()
        return main.result()
    finally:
        for task in (main, *others):
            task.cancel()
        await asyncio.gather(main, *others, return_exceptions=True)


async def answer_all(
    socket: Path | str, answer: AnswerKind, told: Callable[[str, AskView | AnsweredNotice], None]
) -> None:
    """Answer everything that is asked at `socket` until the host closes it. `told` hears `ask` and `answer`."""
    try:
        async with await AskClient.connect(socket, client=NAME, kind="flag") as client:
            async for notice in client.subscribe():
                if isinstance(notice, OpenedNotice):
                    told("ask", notice.ask)
                    await _answer(client, notice.ask, answer)
                elif isinstance(notice, AnsweredNotice):
                    told("answer", notice)
    except HostGone:
        return
    except AskRefused as error:
        raise ApproverFault(f"the answer by option was refused ({error.name}): {error.message}") from None


async def _answer(client: AskClient, ask: AskView, answer: AnswerKind) -> None:
    try:
        await client.answer(ask.ask_id, ask.input_digest, answer)
    except AskRefused as error:
        # somebody else was first, or the ask was closed meanwhile: both are normal ends of an ask
        if error.name not in ("already_resolved", "expired", "ask_closed", "unknown_ask"):
            raise
