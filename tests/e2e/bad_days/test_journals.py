"""Journals that are not whole, not readable or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any


READERS = ("show", "replay", "verify")


def spoil_missing(journal: Path) -> None:
    journal.unlink()


def spoil_folder(journal: Path) -> None:
    journal.unlink()
    journal.mkdir()


def spoil_pipe(journal: Path) -> None:
    journal.unlink()
    os.mkfifo(journal)


def spoil_empty(journal: Path) -> None:
    journal.write_bytes(b"")


def spoil_cut(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:-40])


def spoil_garbage(journal: Path) -> None:
    journal.write_bytes(bytes(range(256)) * 20)


SPOILED = [
    (spoil_missing, "No such file"),
    (spoil_folder, "is a folder"),
    (spoil_pipe, "is a pipe"),
    (spoil_empty, "empty"),
    (spoil_cut, "unfinished"),
    (spoil_garbage, "could not be read"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILED)
@pytest.mark.parametrize("command", READERS)
def test_a_journal_that_is_not_whole_is_told_with_its_path_and_a_failure(
    command: str, spoil: Callable[[Path], None], words: str, house: House, interlock: Interlock, session: str
) -> None:
    journal = house.sessions / session / "events.jsonl"
    spoil(journal)
    said = interlock(command, session).is_calm()
    assert said.code == 1
    if command == "verify" and not said.err:
        assert "NOT whole" in said.out
        assert "first bad record" in said.out
    else:
        said.fails(str(journal), words)


@pytest.mark.parametrize("spoil", [spoil_folder, spoil_pipe])
def test_the_list_shows_the_other_sessions_and_fails(
    spoil: Callable[[Path], None], house: House, interlock: Interlock, session: str
) -> None:
    assert interlock.call("glob", {"pattern": "*"}).code == 0
    (other,) = set(house.ids()) - {session}
    spoil(house.sessions / session / "events.jsonl")
    said = interlock("sessions").fails("1 of 2 logs", session)
    assert other in said.out


def test_a_session_whose_journal_was_removed_does_not_stop_the_list(
    house: House, interlock: Interlock, session: str
) -> None:
    (house.sessions / session / "events.jsonl").unlink()
    assert interlock("sessions").is_calm().code == 0


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("command", READERS)
def test_a_journal_without_leave_to_read_is_told(
    command: str, house: House, interlock: Interlock, session: str
) -> None:
    journal = house.sessions / session / "events.jsonl"
    journal.chmod(0)
    interlock(command, session).fails(str(journal), "Permission denied", "mode")


def test_a_journal_of_another_session_in_its_place_is_found(house: House, interlock: Interlock, session: str) -> None:
    interlock.call("bash", {"command": "seq 50"}, "--answer", "allow")
    (other,) = set(house.ids()) - {session}
    shutil.copytree(house.sessions / other, house.sessions / session, dirs_exist_ok=True)
    said = interlock("verify", session).is_calm()
    assert said.code == 1
    assert f"a line of session '{other}'" in said.out


def test_a_longer_journal_of_the_same_name_does_not_pass_for_the_sealed_one(
    house: House, interlock: Interlock, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interlock.runtime.events.message import UserMessage
    from interlock.runtime.journal.writer import JournalWriter

    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.root / "elsewhere"))
    writer = JournalWriter.create(session)
    for number in range(60):
        writer.append(UserMessage(message_id=f"msg_{number}", text="forged"))
    writer.close()
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    shutil.copy(writer.path, house.sessions / session / "events.jsonl")
    said = interlock("verify", session)
    assert said.code == 1
    assert "another journal stands here" in said.out


def test_unknown_and_ambiguous_ids_are_told_with_what_to_do(house: House, interlock: Interlock, session: str) -> None:
    interlock.call("glob", {"pattern": "*"})
    for command in READERS:
        interlock(command, "nothing-like-it").fails("nothing-like-it", str(house.sessions), "interlock sessions")
        interlock(command, session[:4]).fails("fits 2 sessions", session, "Type more")
        for odd in ("", "..", "../work", "a/b", "x" * 5000, "null\0byte", "\udcff"):
            interlock(command, odd).fails()


def test_before_the_first_session_there_is_no_fault_in_the_list(interlock: Interlock) -> None:
    said = interlock("sessions")
    assert (said.code, said.err) == (0, "")
    assert "interlock demo" in said.out
    interlock("show", "x").fails("there is no session")
