"""Streams, homes, masks and encodings that are not what a process hopes for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any


def test_a_reader_that_goes_away_ends_the_demo_and_hurts_no_other_command(house: House) -> None:
    said = house.shell("INTERLOCK demo --headless --answer allow --json | head -1; echo ${PIPESTATUS[0]}").is_calm()
    begun, code = said.out.splitlines()
    assert (json.loads(begun)["event"], code) == ("begun", "1")
    assert "the demo was stopped" in said.err
    for session in house.ids():
        assert house.events(session)[-1]["type"] == "session.ended"
    many = """INTERLOCK call bash '{"command": "seq 9000; exit 3"}' --answer allow | head -1; echo ${PIPESTATUS[0]}"""
    said = house.shell(many).is_calm()
    assert said.out.splitlines()[-1] == "1", "the exit code is that of the call, whoever reads"
    said = house.shell("INTERLOCK schema | head -1; echo ${PIPESTATUS[0]}").is_calm()
    assert said.out.splitlines()[-1] == "0"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_a_failure(house: House) -> None:
    for command in ("schema", "sessions", "demo --headless --answer allow"):
        said = house.shell(f"INTERLOCK {command} > /dev/full").is_calm()
        said.fails("No space left on device")


def test_a_closed_output_is_told_before_anything_is_done(house: House) -> None:
    call_it = """INTERLOCK call bash '{"command": "touch made"}' --answer allow"""
    house.shell(f"{call_it} >&-").fails("standard output is closed")
    assert house.ids() == []
    said = house.shell(f"{call_it} <&- 2>&-")
    assert said.code == 0
    assert (house.work / "made").exists()
    (session,) = house.ids()
    assert house.process("verify", session).code == 0


@pytest.mark.parametrize("found", ["relative/.local/state/interlock", "/.local/state/interlock"])
def test_a_home_that_is_none_is_told_and_nothing_is_put_anywhere(
    found: str, house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the platform answers where neither HOME nor the user's entry can be used."""
    import platformdirs

    monkeypatch.setattr(platformdirs, "user_state_path", lambda *_, **__: Path(found))
    monkeypatch.delenv("INTERLOCK_STATE_DIR")
    monkeypatch.chdir(house.work)
    for command in (("sessions",), ("call", "glob", '{"pattern": "*"}'), ("verify", "x")):
        interlock(*command).fails("HOME", "INTERLOCK_STATE_DIR")
    assert list(house.work.iterdir()) == []


def test_no_home_at_all_is_looked_up_or_told(house: House) -> None:
    environment = house.environment()
    del environment["HOME"]
    said = house.process("call", "glob", '{"pattern": "*"}', "-w", str(house.work), env=environment).is_calm()
    assert said.code == 0, said


def test_whatever_the_umask_nobody_else_can_write_to_the_record(house: House) -> None:
    house.state, house.run = house.root / "deep" / "er" / "state", house.root / "deep" / "run"
    said = house.process(
        *("call", "bash", '{"command": "seq 20000"}', "-w", str(house.work), "--answer", "allow"), umask=0
    )
    assert said.code == 0, said
    kept = [house.root / "deep", *(house.root / "deep").rglob("*")]
    assert [path for path in kept if path.name.startswith("art_")], "there is an artifact to look at"
    assert not [path for path in kept if path.lstat().st_mode & 0o077]


def test_an_output_that_knows_no_unicode_does_not_end_a_command(house: House) -> None:
    odd = json.dumps({"command": "printf 'grün \\xff'"})
    said = house.process(
        *("call", "bash", odd, "-w", str(house.work), "--answer", "allow"),
        env=house.environment(PYTHONIOENCODING="ascii"),
    ).is_calm()
    assert said.code == 0, said
