"""Standing permissions after the host was killed. (spec ASK-1, EV-6)"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.state.grants import GrantFold

pytestmark = pytest.mark.e2e
OpenDesk = Callable[..., Any]


HOST = """
import asyncio, sys
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession

async def main():
    async with RuntimeSession.start(sys.argv[1], agent="killed") as session:
        print(session.setting.reply_to, session.journal.path, flush=True)
        for command in ("touch a", "touch b", "touch c", "touch d"):
            await session.pipeline.run(Intent("bash", {"command": command}))
asyncio.run(main())
"""


def start_host(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE, text=True)


async def test_after_a_kill_the_journal_folds_to_the_grants_that_the_host_had(tmp_path: Path) -> None:
    from interlock.runtime.engine.grants import view_of
    from interlock.runtime.engine.recover import recover_session

    (tmp_path / "work").mkdir()
    host = start_host(tmp_path / "work")
    try:
        assert host.stdout is not None
        socket, journal = (await asyncio.to_thread(host.stdout.readline)).split()
        async with await AskClient.connect(socket) as client:
            scopes = iter(("session", "turn", "ten_minutes"))
            async for notice in client.subscribe():
                scope = next(scopes, None) if isinstance(notice, OpenedNotice) else ""
                if scope is None:
                    break
                if isinstance(notice, OpenedNotice):
                    digest = notice.ask.event["suggestedRules"][0]["digest"]
                    await client.answer(
                        notice.ask.ask_id, notice.ask.input_digest, "allow", scope=scope, suggestion=digest
                    )  # type: ignore[arg-type]
            await client.revoke("grant_2")
            told = await client.grants()
            host.send_signal(signal.SIGKILL)
            host.wait()
    finally:
        host.kill()
        host.wait()
    lines = Path(journal).read_bytes().split(b"\n")[:-1]
    fold = GrantFold()
    for line in lines:
        fold.add(decode_line(line))
    assert tuple(view_of(grant) for grant in fold.made.values()) == told
    assert [view.scope for view in told] == ["session", "ten_minutes"]
    recover_session(Path(journal).parent.name)
    for line in Path(journal).read_bytes().split(b"\n")[:-1]:
        fold.add(decode_line(line))
    assert fold.ended
    assert fold.made == {}
