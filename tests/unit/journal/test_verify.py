"""`verify` names the first bad line, and says what vouched for the end. (spec EV-4, ST-027)"""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.events.tool import ToolObservation
from interlock.runtime.journal import place
from interlock.runtime.journal.chain import verify
from interlock.runtime.journal.writer import JournalWriter


@pytest.fixture
def folder(clock) -> Path:
    writer = JournalWriter.create("s1", clock)
    for n in range(20):
        writer.append(UserMessage(message_id=f"msg_{n}", text=f"message {n}"))
    ref = writer.artifacts.put_bytes(b"all of the output", "output")
    writer.append(
        ToolObservation(
            observation_id="obs_1", intent_id="int_1", ok=True, phase="execute", code="ok", title="t", summary="s",
            user_text="", artifacts=(ref,),
        )
    )  # fmt: skip
    writer.close()
    return writer.folder


def lines_of(folder: Path) -> list[bytes]:
    return folder.joinpath("events.jsonl").read_bytes().splitlines(keepends=True)


def put(folder: Path, lines: list[bytes]) -> None:
    folder.joinpath("events.jsonl").write_bytes(b"".join(lines))


def test_a_whole_journal_is_found_whole_and_its_anchor_is_named(folder: Path) -> None:
    report = verify(folder)
    assert (report.ok, report.lines, report.artifacts) == (True, 21, 1)
    assert str(place.heads_home() / "s1") in report.anchor


def edited(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], lines[7].replace(b"message 7", b"massage 7"), *lines[8:]]


def removed(lines: list[bytes]) -> list[bytes]:
    return lines[:7] + lines[8:]


def swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], lines[8], lines[7], *lines[9:]]


def added(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], lines[3], *lines[7:]]


def garbled(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], b"garbage\n", *lines[8:]]


@pytest.mark.parametrize(("change", "line"), [(edited, 9), (removed, 8), (swapped, 8), (added, 8), (garbled, 8)])
def test_the_first_line_that_does_not_fit_is_named(folder: Path, change, line: int) -> None:
    lines = change(lines_of(folder))
    put(folder, lines)
    report = verify(folder)
    assert not report.ok
    assert report.first_bad is not None
    assert report.first_bad.line == line
    assert report.first_bad.offset == sum(len(x) for x in lines[: line - 1])


def test_an_edit_of_the_last_line_is_found_by_the_sealed_head(folder: Path) -> None:
    lines = lines_of(folder)
    put(folder, [*lines[:-1], lines[-1].replace(b'"title":"t"', b'"title":"u"')])
    report = verify(folder)
    assert report.first_bad is not None
    assert "sealed" in report.first_bad.why


@pytest.mark.parametrize("kept", [0, 11, 20])
def test_a_cut_tail_is_found_by_the_sealed_head(folder: Path, kept: int) -> None:
    put(folder, lines_of(folder)[:kept])
    report = verify(folder)
    assert not report.ok
    assert report.first_bad is not None
    assert f"{21 - kept} are missing" in report.first_bad.why


def test_without_a_head_the_report_says_that_a_cut_tail_would_not_be_seen(folder: Path) -> None:
    (place.heads_home() / "s1").unlink()
    put(folder, lines_of(folder)[:11])
    report = verify(folder)
    assert report.ok
    assert "none" in report.anchor
    assert "would not be seen" in report.anchor


def test_a_changed_or_missing_artifact_is_named(folder: Path) -> None:
    artifact = next((folder / "artifacts").iterdir())
    artifact.write_bytes(b"some of the output")
    report = verify(folder)
    assert report.first_bad is not None
    assert "is not what was recorded" in report.first_bad.why
    artifact.unlink()
    report = verify(folder)
    assert report.first_bad is not None
    assert "No such file" in report.first_bad.why


def test_an_unfinished_last_line_is_a_note_and_no_forgery(folder: Path) -> None:
    with open(folder / "events.jsonl", "ab") as file:
        file.write(b'{"v":1,"seq":21')
    report = verify(folder)
    assert report.ok
    assert "unfinished last line" in report.notes[0]
