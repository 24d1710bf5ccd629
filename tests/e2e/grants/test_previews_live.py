"""What a standing permission would have covered, asked of a real session. (spec ASK-4)"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskRefused

pytestmark = pytest.mark.e2e
OpenDesk = Callable[..., Any]


async def test_a_preview_tells_what_would_have_been_covered_and_what_nearly(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for command in ("touch a", "touch b", "touch b", "mkdir c", "touch d > e"):
            await asyncio.wait_for(_once(d, command), 20)
        running = d.begin("touch a")
        ask = await d.ask()
        narrow, wide = [await d.client.preview(ask.ask_id, one["digest"]) for one in d.offers(ask)]
        assert (narrow.calls, narrow.sessions, narrow.whole) == (5, 1, True)
        assert (narrow.covered, narrow.covered_examples) == (1, ("touch a",))
        assert set(narrow.near_misses) == {"touch b", "touch d > e"}
        assert (wide.covered, wide.still_asks) == (3, 2)
        assert wide.near_misses == ("touch d > e",)
        edited = await d.client.preview(
            ask.ask_id, d.offers(ask)[1]["digest"], d.offers(ask)[1]["rule"].replace("touch *", "touch a")
        )
        assert edited.covered == 1
        with pytest.raises(AskRefused) as refused:
            await d.client.preview(ask.ask_id, d.offers(ask)[1]["digest"], "rubbish")
        assert refused.value.name == "rule_refused"
        await d.answer(ask, answer="deny")
        await running


async def _once(d: Any, command: str) -> None:
    running = d.begin(command)
    await d.answer(await d.ask())
    await running
