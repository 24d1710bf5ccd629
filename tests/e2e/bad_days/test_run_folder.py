"""A folder for the socket that cannot be trusted or used."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any


NEEDS_SOCKET = (("call", "glob", '{"pattern": "*"}'), ("asks",), ("answer", "ask_1", "allow"))


def test_a_run_folder_that_others_can_enter_is_refused(house: House, interlock: Interlock) -> None:
    house.run.mkdir()
    for mode in (0o777, 0o711, 0o1777):
        house.run.chmod(mode)
        for command in (*NEEDS_SOCKET, ("demo", "--headless", "--answer", "allow")):
            interlock(*command).fails(str(house.run), "open to others", f"chmod 700 {house.run}")
    assert house.ids() == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_run_folder_of_another_user_is_refused(house: House, interlock: Interlock) -> None:
    house.run.mkdir(mode=0o700)
    os.chown(house.run, 12345, 12345)
    for command in NEEDS_SOCKET:
        interlock(*command).fails(str(house.run), "belongs to user 12345", "INTERLOCK_RUN_DIR")


@pytest.mark.parametrize("kind", ["link", "file", "too long a name"])
def test_a_run_folder_that_is_none_is_refused(
    kind: str, house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "link":
        (house.root / "real").mkdir(mode=0o700)
        house.run.symlink_to(house.root / "real")
    elif kind == "file":
        house.run.touch()
    else:
        monkeypatch.setenv("INTERLOCK_RUN_DIR", str(house.root / ("r" * 300)))
    for command in NEEDS_SOCKET:
        interlock(*command).fails("INTERLOCK_RUN_DIR")


def test_a_socket_path_that_is_too_long_gets_a_short_name_and_works(
    house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(house.root / ("r" * 200)))
    said = interlock.call("bash", {"command": "echo yes"}, "--answer", "allow")
    assert said.code == 0, said
    assert "yes" in said.out


def test_what_a_dead_host_left_is_cleared_and_rubbish_is_told(house: House, interlock: Interlock) -> None:
    house.run.mkdir(mode=0o700)
    stale = house.run / "host-999999-00000000.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))
    info = {"protocol": 1, "pid": 999_999, "startTime": "1", "socket": str(stale), "sessions": []}
    (house.run / "host-999999-00000000.json").write_text(json.dumps(info))
    assert interlock("asks").code == 0
    assert list(house.run.iterdir()) == []
    rubbish = house.run / "host-1-00000000.json"
    rubbish.write_text("{")
    interlock("asks").fails(str(rubbish), "Invalid JSON")
    interlock("answer", "ask_0", "allow").fails("no open ask", str(rubbish))
