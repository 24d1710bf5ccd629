"""Disks that are full, small, read-only or not private."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine.recover import recover_session

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any
PATIENCE_S = 60


def only_recorded_runs(house: House, marks: set[str]) -> None:
    """Whatever ran has an answer and a start on record, and every journal is whole as far as it goes."""
    started: list[str] = []
    for session in house.ids():
        if not (house.sessions / session / "events.jsonl").exists():
            continue
        events = house.events(session)
        inputs = {e["intentId"]: json.dumps(e["rawInput"]) for e in events if e["type"] == "tool.intent"}
        asked = {e["intentId"] for e in events if e["type"] == "tool.permission" and e["decision"] == "ask"}
        allowed: set[str] = set()
        for event in events:
            if event["type"] == "tool.permission.answered" and event["answer"] == "allow":
                allowed.add(event["intentId"])
            if event["type"] == "tool.invocation.started":
                assert event["intentId"] in allowed or event["intentId"] not in asked
                started.append(inputs[event["intentId"]])
    for mark in marks:
        assert any(mark in text for text in started), f"{mark} was run without a record"


@pytest.mark.parametrize("limit", [0, 64, 900, 1500, 2600, 3400, 4200, 5000])
def test_a_call_whose_record_cannot_grow_runs_nothing_that_is_not_on_record(
    limit: int, house: House, interlock: Interlock
) -> None:
    """No file may grow over `limit` bytes, as on a disk with so much room."""
    said = house.process(
        *("call", "bash", '{"command": "mkdir made"}', "-w", str(house.work), "--answer", "allow"),
        env=house.environment(PYTHONDONTWRITEBYTECODE="1"),  # the limit would cut compiled modules short
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    ).is_calm()
    made = {path.name for path in house.work.iterdir()}
    only_recorded_runs(house, made)
    if said.code:
        said.fails(str(house.root))
    for session in house.ids():
        events = house.events(session)
        observed = [e for e in events if e["type"] == "tool.observation"]
        assert (said.code == 0) is bool(observed), "success is told when it is on record, and only then"
        if events:
            assert interlock("verify", session).code == 0
            recover_session(session)
            after = house.events(session)
            intents = [e["intentId"] for e in after if e["type"] == "tool.intent"]
            assert [e["intentId"] for e in after if e["type"] == "tool.observation"] == intents
            assert interlock("verify", session).code == 0


@pytest.fixture
def disk(house: House) -> Iterator[Path]:
    """A disk of 96 KiB of its own."""
    place = house.root / "disk"
    place.mkdir(mode=0o700)
    mounted = os.getuid() == 0 and sys.platform.startswith("linux")
    command = ["mount", "-t", "tmpfs", "-o", "size=96k,mode=0700", "tmpfs", str(place)]
    if not mounted or subprocess.run(command, capture_output=True, timeout=20, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], timeout=20, check=True)


def test_the_demo_on_a_disk_that_fills_up_says_so_and_runs_nothing_unrecorded(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.state = disk / "state"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    said = house.process("demo", "--headless", "--answer", "allow", "--json").is_calm()
    assert said.code == 1
    last = json.loads(said.out.splitlines()[-1])
    assert "JournalWriteError: cannot record in " in last["result"]
    assert "Free space" in last["result"]
    assert len(house.ids()) == 2
    only_recorded_runs(house, set())
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], timeout=20, check=True)
    for session in house.ids():
        assert interlock("verify", session).code == 0
        recover_session(session)
        events = house.events(session)
        intents = sorted(e["intentId"] for e in events if e["type"] == "tool.intent")
        assert sorted(e["intentId"] for e in events if e["type"] == "tool.observation") == intents
        assert interlock("verify", session).code == 0


def test_an_ask_outlives_a_full_disk(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.state = disk / "state"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    arguments = [house.binary, "call", "bash", '{"command": "touch made"}', "-w", str(house.work)]
    process = subprocess.Popen(arguments, env=house.environment(), stdout=subprocess.PIPE, text=True)
    try:
        ask = house.first_ask(process)
        (session,) = house.ids()
        free = os.statvfs(disk)
        (disk / "fill").write_bytes(b"x" * (free.f_bavail * free.f_frsize))
        size = (house.sessions / session / "events.jsonl").stat().st_size
        too_long = "m" * (-size % 4096)  # what is left of the journal's last block would take a short one
        interlock("answer", ask, "deny", "--message", too_long).fails("not_recorded", "Free space")
        assert (house.sessions / session / "events.jsonl").stat().st_size == size
        (disk / "fill").unlink()
        assert interlock("answer", ask, "allow").code == 0
        assert process.wait(timeout=PATIENCE_S) == 0
        assert (house.work / "made").exists()
        assert interlock("verify", session).code == 0
    finally:
        process.kill()
        process.communicate()


def test_a_full_or_read_only_disk_is_told_before_anything_begins(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = os.statvfs(disk)
    (disk / "fill").write_bytes(b"x" * (free.f_bavail * free.f_frsize))
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(disk / "state"))
    full = interlock.call("bash", {"command": "touch made"}, "--answer", "allow")
    full.fails(str(disk), "No space left", "INTERLOCK_STATE_DIR")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], timeout=20, check=True)
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(disk / "other"))
    for command in (("call", "glob", '{"pattern": "*"}'), ("demo", "--headless", "--answer", "allow")):
        interlock(*command).fails(str(disk), "Read-only", "INTERLOCK_STATE_DIR")
    assert interlock("sessions").code == 0
    assert list(house.work.iterdir()) == []


def test_a_state_folder_that_is_a_file_is_told(house: House, interlock: Interlock) -> None:
    house.state.touch()
    interlock("sessions").fails(str(house.state), "Not a directory")
    interlock("show", "x").fails(str(house.state), "Not a directory")
    interlock.call("glob", {"pattern": "*"}).fails(str(house.state), "INTERLOCK_STATE_DIR")
    interlock("demo", "--headless", "--answer", "allow").fails(str(house.state))


def test_a_state_folder_that_others_can_write_to_is_refused(house: House, interlock: Interlock) -> None:
    house.sessions.mkdir(parents=True)
    house.sessions.chmod(0o777)
    interlock.call("glob", {"pattern": "*"}).fails(str(house.sessions), "chmod go-w")
