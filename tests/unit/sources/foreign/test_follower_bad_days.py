"""A log or a spool that goes away, fills up or comes back: nothing is lost without a word."""

from __future__ import annotations

import json
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.runtime.sources.foreign.follower import ForeignFollower, spool_home
from interlock.runtime.sources.foreign.home import LogRef

COUNT = 500


@pytest.fixture(autouse=True)
def spools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


def said(number: int, **fields: object) -> str:
    base = {"type": "user", "uuid": f"u{number}", "parentUuid": None, "sessionId": "s", "cwd": "/w"}
    message = {"role": "user", "content": f"{number} {'x' * 500}"}
    return json.dumps({**base, "message": message, **fields}) + "\n"


def follower_of(log: Path) -> ForeignFollower:
    return ForeignFollower(LogRef("claude_code", log.stem, log, 0, 0))


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_what_a_full_disk_did_not_take_is_told_when_there_is_room_again(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text("".join(said(number) for number in range(COUNT)))
    follower, whole = follower_of(log), follower_of(log)
    with no_file_over(50_000):
        for _ in range(3):
            with pytest.raises(OSError, match="cannot be written"):
                follower.poll()
    follower.catch_up()
    whole.catch_up()
    assert follower.path.read_bytes() == whole.path.read_bytes()
    assert len(follower.timeline) == len(whole.timeline)
    assert whole.path.read_bytes().count(b"\n") > COUNT
    follower.close()
    whole.close()


def test_a_spool_that_was_taken_away_is_said(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(said(1))
    follower = follower_of(log)
    follower.catch_up()
    shutil.rmtree(follower.folder)
    with pytest.raises(OSError, match="taken away; open the session again"):
        follower.poll()
    follower.close()


def test_a_place_where_no_spool_can_be_is_an_error_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(OSError, match="set TMPDIR to another"):
        spool_home()


def test_a_sub_agents_log_without_its_parent_is_followed(tmp_path: Path) -> None:
    log = tmp_path / "agent-a1.jsonl"
    log.write_text(said(1, isSidechain=True, agentId="a1", sessionId="gone") + said(2, isSidechain=True, agentId="a1"))
    follower = follower_of(log)
    follower.catch_up()
    assert follower.judge().status == "gone"
    assert follower.translation.tally.records == 2
    follower.close()


def test_a_log_that_was_moved_replaced_deleted_and_written_again_is_read_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(said(1))
    follower = follower_of(log)
    follower.catch_up()
    log.rename(tmp_path / "old")
    log.write_text(said(2))
    follower.catch_up()
    with open(tmp_path / "old", "a") as old:
        old.write(said(3))
    follower.catch_up()
    log.unlink()
    follower.catch_up()
    log.write_text(said(4))
    follower.catch_up()
    told = follower.path.read_text()
    assert all(f'"text":"{number} x' in told for number in (1, 2, 3, 4))
    assert follower.translation.tally.damaged == 0
    follower.close()
