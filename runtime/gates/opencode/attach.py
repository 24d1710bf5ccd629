"""A client of an opencode server, beside the person's own screen of opencode (AG-3).

Promises: questions that were open before are taken up; the policy answers at once where it can, else the inbox and opencode's
own prompt race; a lost stream is taken up again while the server lives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.server import OpencodeServer, ServerFault
from interlock.runtime.gates.opencode_hooks import OpencodeGate
from interlock.runtime.gates.route import Hook

_log = logging.getLogger(__name__)
_PAUSE_S = 0.25
_TRIES = 10
_TELLING = ("permission.replied", "session.idle", "session.deleted")


class Attached:
    """The gate of one server."""

    def __init__(self, server: OpencodeServer, host: GateHost, directory: str) -> None:
        self._server = server
        self._gate = OpencodeGate(host)
        self._base: dict[str, Any] = {"directory": directory}
        self._asked: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Work until cancelled."""
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
        async for event in self._server.events():
            properties = event.get("properties")
            properties = properties if isinstance(properties, dict) else {}
            match event.get("type"):
                case "server.connected":
                    self._later(self._take_up())
                case "permission.asked":
                    self._ask(properties)
                case "message.part.updated":
                    await self._part(properties.get("part"))
                case str(kind) if kind in _TELLING:
                    await self._gate.hook(Hook({**self._base, "event": kind, "properties": properties}))
                case _:
                    pass

    async def _take_up(self) -> None:
        """What happened before we listened: the version, and questions that are open."""
        for _ in range(_TRIES):
            try:
                told = await self._server.get("/global/health")
                if isinstance(told, dict) and isinstance(told.get("version"), str):
                    self._base["version"] = told["version"]
                waiting = await self._server.get("/permission")
            except ServerFault as error:
                # it answers late while it starts; the stream goes on meanwhile
                _log.warning("%s", error)
                continue
            for one in waiting if isinstance(waiting, list) else []:
                if isinstance(one, dict):
                    self._ask(one)
            return

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
        answer = await self._gate.hook(Hook({**self._base, "event": "permission.asked", "properties": properties}))
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
