"""A writer killed at any moment loses no event that it acknowledged. (spec EV-3, Q-2)"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.journal.chain import verify
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.writer import JournalWriter, writer_alive

WRITER = """
import os
from interlock.runtime.events.message import UserMessage
from interlock.runtime.journal.writer import JournalWriter
writer = JournalWriter.open("s1")
n = 0
while True:
    event = writer.append(UserMessage(message_id=f"msg_{n}", text="x" * (n * 997 % 30_000)), durable=n % 3 == 0)
    os.write(1, b"%d\\n" % event.seq)
    n += 1
"""
pytestmark = pytest.mark.e2e


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path))
    JournalWriter.create("s1").close()
    folder, rng, kills = tmp_path / "sessions/s1", random.Random(7), 12
    acknowledged: set[int] = set()
    for _ in range(kills):
        child = subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE)
        assert child.stdout is not None
        wanted = rng.randint(1, 120)
        seen = [int(child.stdout.readline()) for _ in range(wanted)]
        os.kill(child.pid, signal.SIGKILL)
        seen += [int(line) for line in child.stdout.read().split(b"\n")[:-1]]
        child.wait(timeout=20)
        child.stdout.close()
        assert not writer_alive(folder)
        assert not acknowledged & set(seen), "a seq was given twice"
        acknowledged |= set(seen)
    writer = JournalWriter.open("s1")
    writer.append(UserMessage(message_id="last", text="last"), durable=True)
    writer.close()
    report = verify(folder)
    assert report.ok, report
    events = [decode_line(line) for line in (folder / "events.jsonl").read_bytes().split(b"\n")[:-1]]
    kept = {event.seq for event in events if isinstance(event, UserMessage)}
    assert acknowledged <= kept
    assert len(kept) >= kills
