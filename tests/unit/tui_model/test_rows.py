"""Rows of the screen without a screen. (spec UI-1, UI-2, UI-5, UI-6)"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.state.timeline import Row
from interlock.tui.model import card, inbox
from interlock.tui.model.answers import lock_of, offered
from interlock.tui.model.ask import Ask, ask_of
from interlock.tui.model.board import SessionRow, grouped
from interlock.tui.model.inked import beside, columns, fitted, hanging, ink
from interlock.tui.model.moment import age, amount, duration
from interlock.tui.model.part import parts_of, programs_of
from interlock.tui.model.table import board_rows, table_line
from interlock.tui.model.waterfall import bar, lanes, scale_of
from interlock.tui.safe_text import cells

SECOND = 1_000_000


def ask(**more) -> Ask:
    event = {
        "askId": "a1",
        "inputDigest": "d",
        "tool": "bash",
        "shownInput": {"command": "npm test"},
        "cwd": "/home/dev/app",
    }
    return ask_of(event | more, "s1", "2026-01-10T09:00:00.000000Z")


def row(**more) -> Row:
    names = list(Row.__dataclass_fields__)
    values = dict.fromkeys(names, 0) | {
        "kind": "call",
        "tool": "bash",
        "outcome": "ok",
        "exit_code": None,
        "at": 10 * SECOND,
    }
    return Row(**(values | more))


def test_ages_and_numbers_have_one_form() -> None:
    assert [age(s * SECOND) for s in (-1, 0, 41, 134, 4020, 100_000)] == ["0s", "0s", "41s", "2m14s", "1h07m", "1d03h"]
    assert [amount(n) for n in (999, 1_800, 182_000, 4_100_000)] == ["999", "1.8k", "182k", "4.1M"]
    assert [duration(n) for n in (84_000, 4_800_000, 134 * SECOND)] == ["84ms", "4.8s", "2m14s"]


def test_only_choices_of_the_host_are_offered_and_none_of_an_ask_that_ended() -> None:
    one = ask(choices=["allow.once", "deny"])
    assert [c.command for c in offered(one)] == ["allow_once", "deny"]
    assert offered(ask(choices=[])) == ()


def test_an_ask_that_is_not_whole_locks_allow() -> None:
    one = ask(diffPath="artifacts/x.diff")
    assert not one.is_whole
    assert lock_of(one, end_seen=True, rows_below=0, folded=0, end_asked=False) != ""


def test_a_part_in_a_folder_known_only_at_run_time_says_so() -> None:
    facts = {"parts": [{"text": "rm x", "program": "rm", "cwd": None, "start": 0, "end": 4}]}
    assert programs_of(parts_of(facts, "/home/dev")) == (("rm", None),)
    lines = " ".join(line.text.text for line in card.head(ask(facts=facts), 80, 0))
    assert "known only at run time" in lines


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=12,
    )
)
def test_whatever_the_facts_are_the_card_is_drawn(value: object) -> None:
    one = ask(facts={"parts": value, "paths": value, "understood": value}, shownInput=value, sandbox=value, risks=value)
    for width in (38, 97):
        found = [*card.head(one, width, 0), *card.body(one, width).lines, *card.whole(one, width)]
        found += [line for fact in card.facts(one, width) for line in fact.lines]
        assert all(c >= " " for line in found for c in line.text.text)


@given(st.text(max_size=400), st.integers(30, 120))
def test_the_whole_command_is_in_the_card_whatever_its_width(command: str, width: int) -> None:
    lines = card.body(ask(shownInput={"command": command}), width).lines
    shown = "".join(line.text.text[2:] for line in lines)
    letters = [c for c in command if c.isalnum() and c.isascii()]
    assert all(cells(line.text) <= width for line in lines)
    at = 0
    for letter in letters:
        at = shown.find(letter, at)
        assert at >= 0, (command, shown)
        at += 1


def test_facts_give_way_in_their_order() -> None:
    one = ask(reason="r", risks=["x"], agentReason="because")
    found = card.facts(one, 80)
    assert [f.name for f in card.kept_facts(found, 2)] == ["why asked", "risk"]
    assert [f.name for f in card.kept_facts(found, 99)] == ["why asked", "risk", "agent says", "before"]


def test_a_question_of_an_agent_is_its_title_and_its_options_are_lines() -> None:
    """FT-032."""
    options = [{"label": "Postgres", "description": "as in production"}, {"label": "SQLite"}]
    given = {"questions": [{"question": "Which database?", "header": "DB", "multiSelect": False, "options": options}]}
    one = ask(
        tool="AskUserQuestion",
        shownInput=given,
        facts={"understood": False, "question": True},
        prompt="Which database?",
    )
    assert [row.text.text for row in card.body(one, 60).lines] == [
        "Which database?   DB", "  1  Postgres   as in production", "  2  SQLite",
    ]  # fmt: skip
    assert card.warnings(one) == []
    (row,) = [row for row in inbox.rows([one], [], 0) if row.ask is not None]
    assert "Which database?" in inbox.row_line(row, 80, 0).text.text
    assert "AskUserQuestion" not in inbox.row_line(row, 80, 0).text.text


def test_a_question_with_more_in_it_than_is_known_is_shown_raw() -> None:
    given = {"questions": [{"question": "Which?", "options": [{"label": "a", "command": "rm -rf /"}]}]}
    assert "rm -rf /" in "".join(row.text.text for row in card.body(ask(tool="Ask", shownInput=given), 60).lines)


def test_what_a_part_deletes_or_discards_and_that_its_output_is_cut_is_said() -> None:
    """FT-030."""
    paths = [
        {"use": "delete", "written": "node_modules", "inside": True, "recursive": True},
        {"use": "discard", "written": ".", "inside": True},
    ]
    (part,) = parts_of({"parts": [{"text": "x", "program": "x", "verdict": "ask", "cwd": ".", "paths": paths}]}, "/w")
    assert part.effects == ("deletes node_modules (recursively), inside", "discards changes of ., inside")
    (output,) = [fact for fact in card.facts(ask(facts={"outputLimit": 16384}), 90) if fact.name == "output"]
    assert "cut at 16,384 bytes" in output.lines[0].text.text


def test_asks_stand_in_the_order_in_which_they_came() -> None:
    first, second = ask(), ask_of({"askId": "a0", "tool": "x"}, "s", "2026-01-10T09:00:01.000000Z")
    keys = [r.key for r in inbox.rows([first, second], [], 0)]
    assert keys == ["group:waiting", "ask:a1", "ask:a0", "blank:waiting"]


@pytest.mark.parametrize("stage", ["answered", "closed"])
def test_an_ask_that_is_over_is_in_no_count(stage: str) -> None:
    """FT-027."""
    over, second = replace(ask(), stage=stage), ask_of({"askId": "a0", "tool": "x"}, "s", "2026-01-10T09:00:01.000000Z")
    found = inbox.rows([over, second], [], 0)
    assert [row.key for row in found] == ["group:waiting", "ask:a0", "blank:waiting"]
    assert found[0].number == 1
    assert inbox.place([over, second], "a0") == "1 of 1"
    assert inbox.place([over, second], over.id) == "over"


@given(st.integers(6, 200))
def test_every_row_fits_its_width(width: int) -> None:
    session = SessionRow(
        "s1", "running", "e", agent="claude", title="名前 of it", cwd="/home/dev/shop-api", action="bash npm test"
    )
    for line in [inbox.row_line(r, width, 0) for r in inbox.rows([ask()], [session], 0)] + [
        table_line(r, width, 0, dated=d) for r in board_rows([session]) for d in (False, True)
    ]:
        assert line.width <= width


@given(st.text(max_size=80), st.text(max_size=30), st.integers(12, 90))
def test_lines_are_never_wider_than_asked(left: str, right: str, width: int) -> None:
    assert fitted(ink((left, "")), width).width <= width
    assert beside(ink((left, "")), ink((right, "")), width).width <= width
    assert columns([(ink((left, "")), width - 4), (ink((right, "")), -4)]).width == width
    assert all(r.width <= width for r in hanging("label", ink((left, "")), width, indent=4))


def test_groups_put_first_what_needs_a_person() -> None:
    rows = [SessionRow(s, s, "") for s in ("done", "gone", "waiting", "running", "failed")]  # type: ignore[arg-type]
    assert [name for name, _ in grouped(rows)] == ["waiting", "running", "failed", "done", "gone"]


def test_waiting_queued_and_running_have_their_own_signs() -> None:
    one = row(asked_at=10 * SECOND, answered_at=14 * SECOND, scheduled_at=14 * SECOND, started_at=16 * SECOND,
              completed_at=19 * SECOND, observed_at=19 * SECOND)  # fmt: skip
    drawn = "".join(text for text, _ in bar(one, 10, scale_of([one], 0), 0))
    assert drawn == "░░░░▒▒▓▓▓▓"


def test_an_error_says_its_exit_code_beside_its_bar() -> None:
    one = row(started_at=10 * SECOND, completed_at=11 * SECOND, observed_at=11 * SECOND, outcome="failed", exit_code=1)
    drawn = "".join(text for text, _ in bar(one, 20, scale_of([one, row(at=18 * SECOND)], 0), 0))
    assert drawn.endswith("exit 1")


def test_calls_that_run_beside_each_other_are_joined() -> None:
    first = row(started_at=10 * SECOND, completed_at=13 * SECOND)
    second = row(started_at=11 * SECOND, completed_at=12 * SECOND)
    third = row(started_at=20 * SECOND, completed_at=21 * SECOND)
    assert [lanes(None, first, second), lanes(first, second, third), lanes(second, third, None)] == ["┌", "└", " "]
