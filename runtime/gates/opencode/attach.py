"""A client of an opencode server, beside the person's own screen of opencode (AG-3).

Promises: questions that were open before, or of which no event was heard, are taken up; the policy answers at once where it
can, else the inbox and opencode's own prompt race; a lost stream is taken up again while the server lives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.gate import OpencodeGate
from interlock.runtime.gates.opencode.server import OpencodeServer, ServerFault

_log = logging.getLogger(__name__)
_PAUSE_S = 0.25
LOOK_S = 2.0
"""Between two looks at what is open."""
_TELLING = ("permission.replied", "session.idle", "session.deleted")


class Attached:
    """The gate of one server."""

    def __init__(self, server: OpencodeServer, host: GateHost, directory: str) -> None:
        self._server = server
        self._gate = OpencodeGate(host)
        self._base: dict[str, Any] = {"directory": directory}
        self._asked: set[str] = set()
        self._open: dict[str, Mapping[str, Any]] = {}
        self._seen: set[str] = set()
        """Questions that stood in the list when we last looked."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Work until cancelled."""
        self._later(self._look())
        try:
            while True:
                with suppress(ServerFault):
                    await self._listen()
                await asyncio.sleep(_PAUSE_S)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self) -> None:
        async for told in self._server.events():
            event = told.get("payload", told)
            if not isinstance(event, dict):
                continue
            properties = event.get("properties")
            properties = properties if isinstance(properties, dict) else {}
            match event.get("type"):
                case "permission.asked":
                    self._ask(properties)
                case "message.part.updated":
                    await self._part(properties.get("part"))
                case str(kind) if kind in _TELLING:
                    await self._gate.hook(Hook({**self._base, "event": kind, "properties": properties}))
                case _:
                    pass

    async def _look(self) -> None:
        """Look now and then at what is open: questions from before we listened, and those whose end was not heard."""
        while True:
            with suppress(ServerFault):
                if "version" not in self._base:
                    health = await self._server.get("/global/health")
                    self._base["version"] = str(health.get("version", "")) if isinstance(health, dict) else ""
                waiting = await self._server.get("/permission")
                await self._compare(
                    [one for one in waiting if isinstance(one, dict)] if isinstance(waiting, list) else []
                )
            await asyncio.sleep(LOOK_S)

    async def _compare(self, waiting: list[dict[str, Any]]) -> None:
        there = {one.get("id") for one in waiting}
        for question, properties in list(self._open.items()):
            if question not in there and question in self._seen:
                told = {"sessionID": properties.get("sessionID"), "requestID": question}
                await self._gate.hook(Hook({**self._base, "event": "permission.replied", "properties": told}))
        self._seen = {str(question) for question in there}
        for one in waiting:
            self._ask(one)

    def _ask(self, properties: Mapping[str, Any]) -> None:
        question = properties.get("id")
        if not isinstance(question, str) or question in self._asked:
            return
        self._asked.add(question)
        self._later(self._answer(question, properties))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, question: str, properties: Mapping[str, Any]) -> None:
        self._open[question] = properties
        try:
            answer = await self._gate.hook(Hook({**self._base, "event": "permission.asked", "properties": properties}))
        finally:
            self._open.pop(question, None)
        if not answer.get("reply"):
            return
        try:
            await self._server.post(f"/permission/{question}/reply", dict(answer))
        except ServerFault as error:
            _log.error("an answer did not reach opencode: %s", error)

    async def _part(self, part: Any) -> None:
        state = part.get("state") if isinstance(part, dict) and part.get("type") == "tool" else None
        if not isinstance(state, dict) or state.get("status") not in ("completed", "error"):
            return
        about, time = state.get("metadata"), state.get("time")
        about, time = about if isinstance(about, dict) else {}, time if isinstance(time, dict) else {}
        output = state.get("output")
        told = {
            "event": "tool.part",
            "sessionID": part.get("sessionID"),
            "callID": part.get("callID"),
            "status": state["status"],
            "error": state.get("error"),
            "exit": about.get("exit"),
            "durationMs": _spent(time),
            "bytes": len(output.encode("utf-8", "surrogatepass")) if isinstance(output, str) else 0,
        }
        await self._gate.hook(Hook({**self._base, **told}))


def _spent(time: Mapping[str, Any]) -> int | None:
    start, end = time.get("start"), time.get("end")
    return end - start if isinstance(start, int) and isinstance(end, int) else None
