"""Logs that nobody would write, and what commands say of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from interlock.runtime.cli.main import run
from interlock.runtime.sources.foreign.registry import UnknownFormat, detect

RECORD = json.dumps(
    {"type": "user", "sessionId": "s", "parentUuid": None, "uuid": "u", "message": {"role": "user", "content": "hi"}}
)


def test_a_log_whose_second_line_never_ends_is_not_read_whole_to_find_whose_it_is(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(RECORD + "\n{")
    os.truncate(log, 1 << 36)  # a sparse file: reading all of it would take more memory than there is
    assert detect(log)[1] == "lines"


def test_a_document_over_the_limit_is_not_read_to_find_whose_it_is(tmp_path: Path) -> None:
    log = tmp_path / "s.json"
    log.write_text("{\n")
    os.truncate(log, 1 << 36)
    with pytest.raises(UnknownFormat):
        detect(log)


@pytest.mark.parametrize("command", [["events"], ["events", "--json"], ["show", "--facts"]])
def test_a_pipe_is_refused_and_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert run([command[0], str(pipe), *command[1:]]) == 1
    assert "a pipe: write it to a file first" in capsys.readouterr().err


def test_a_name_of_a_file_cannot_speak_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a\x1b]0;title\x07\x9b31m.jsonl"
    log.write_text("no log")
    assert run(["events", str(log)]) == 1
    told = capsys.readouterr().err
    assert "\\x1b]0;title\\x07\\x9b31m" in told
    assert told.replace("\n", "").isprintable()


def test_a_last_line_that_moved_away_with_its_file_is_still_read(tmp_path: Path) -> None:
    from interlock.runtime.sources.foreign.reading import open_log

    log = tmp_path / "s.jsonl"
    log.write_text(f"{RECORD}\n\n{RECORD}")
    translation = open_log(log)
    list(translation.events())
    log.rename(tmp_path / "old.jsonl")
    list(translation.end())
    translation.close()
    assert (translation.tally.records, translation.tally.damaged) == (2, 0)
