"""The screen is killed at random moments, also in the middle of an answer; the agents never notice. (ASK-1)"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

KILLS = 200 if os.environ.get("INTERLOCK_LONG") == "1" else 6
SEED = int(os.environ.get("INTERLOCK_SEED", "11"))
INTERLOCK = [sys.executable, "-m", "interlock.runtime.cli"]
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("kill-screen")]


def journals(home: Path) -> list[list[dict]]:
    found = []
    for path in sorted((home / "state" / "sessions").glob("*/events.jsonl")):
        found.append([json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]])
    return found


def screen_killed(environment: dict[str, str], chance: random.Random) -> None:
    """One screen: it lives for a moment, is sent an answer key now and then, and is killed."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    process = subprocess.Popen(
        INTERLOCK, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, close_fds=True
    )
    os.close(slave)
    end = time.monotonic() + chance.uniform(0.1, 2.5)
    while time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            os.read(master, 1 << 16)
        if chance.random() < 0.03:
            os.write(master, chance.choice([b"a", b"d", b"n", b"2", b"1"]))
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.close(master)


def test_killed_screens_lose_no_ask_and_run_nothing_unanswered(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp_path),
        "INTERLOCK_STATE_DIR": str(tmp_path / "state"),
        "INTERLOCK_RUN_DIR": str(tmp_path / "run"),
    }
    chance = random.Random(SEED)
    host, kills = None, 0
    try:
        while kills < KILLS:
            if host is None or host.poll() is not None:
                host = subprocess.Popen([*INTERLOCK, "demo", "--host"], env=environment, stdout=subprocess.PIPE)
                assert host.stdout is not None
                assert b"ready" in host.stdout.readline()
            screen_killed(environment, chance)
            kills += 1
    finally:
        if host is not None:
            host.terminate()
            host.wait(timeout=30)
    for events in journals(tmp_path):
        held_to_the_rules(events)


def held_to_the_rules(events: list[dict]) -> None:
    allowed: set[str] = set()
    asked: set[str] = set()
    answers: list[str] = []
    for event in events:
        kind = event["type"]
        if kind == "tool.permission" and event["decision"] == "ask":
            asked.add(event["intentId"])
        elif kind == "tool.permission.answered":
            answers.append(event["askId"])
            if event["answer"] == "allow":
                allowed.add(event["intentId"])
        elif kind == "tool.invocation.started" and event["intentId"] in asked:
            assert event["intentId"] in allowed, "ran without an answer"
    assert len(answers) == len(set(answers)), "an ask was answered twice"
    assert [e["seq"] for e in events] == list(range(len(events))), "an event was lost"
    intents = [e["intentId"] for e in events if e["type"] == "tool.intent"]
    observed = [e["intentId"] for e in events if e["type"] == "tool.observation"]
    assert sorted(intents) == sorted(observed)
    assert events[-1]["type"] == "session.ended"
