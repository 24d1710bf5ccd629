"""The card says everything that is needed, and hides nothing. (spec UI-2, UI-3; the public cases named in each test)"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytestmark = pytest.mark.tui
CASES = {
    case["id"]: case
    for name in ("bug-cases", "attack-cases")
    for case in map(
        json.loads,
        (Path(__file__).parents[2] / f"data/cases/{name}.jsonl").read_text(encoding="utf-8").strip().split("\n"),
    )
}


def part(text: str, program: str, start: int, cwd: str = "", verdict: str = "ask", **more) -> dict:
    return {
        "text": text,
        "program": program,
        "depth": 0,
        "verdict": verdict,
        "why": "not known as read-only",
        "cwd": cwd,
        "paths": [],
        "network": False,
        "readOnly": False,
        "understood": True,
        "start": start,
        "end": start + len(text),
        **more,
    }


async def test_blank_lines_hide_nothing_and_allow_waits_for_the_end(host, live) -> None:
    """BC-022, DI-016."""
    one = await host()
    command = "npm test" + "\n" * 40 + "rm -rf ./data"
    one.ask(command, parts=[part("npm test", "npm", 0), part("rm -rf ./data", "rm", 48)])
    async with live(size=(80, 24)) as person:
        await person.press("enter")
        await person.arm()
        assert "runs  npm · rm" in person.text
        assert "rm -rf ./data" in person.text
        assert "39 blank lines" in person.text
        assert "allow is locked" in person.text
        await person.press("a")
        assert one.answers() == []
        await person.press("end")
        await person.arm()
        await person.press("a")
        await person.until(lambda: one.answers())


async def test_a_long_text_locks_allow_until_its_end_was_on_the_screen(host, live) -> None:
    one = await host()
    one.ask("\n".join(f"echo line {n}" for n in range(60)))
    async with live(size=(80, 24)) as person:
        await person.press("enter")
        await person.arm()
        assert "more lines below" in person.text
        await person.press("a")
        assert one.answers() == []
        for _ in range(10):
            await person.press("pagedown")
        await person.arm()
        assert "echo line 59" in person.text
        await person.press("a")
        await person.until(lambda: one.answers())


async def test_deny_is_never_locked(host, live) -> None:
    one = await host()
    one.ask("\n".join(f"echo line {n}" for n in range(60)))
    async with live(size=(80, 24)) as person:
        await person.press("enter")
        await person.arm()
        await person.press("d")
        await person.until(lambda: one.answers())
    assert one.answers()[0][1] == "deny"


@pytest.mark.parametrize("size", [(40, 16), (80, 24), (140, 40)])
async def test_the_whole_command_and_the_folder_of_each_part_are_told(host, live, size) -> None:
    """BC-023, also at 40 columns."""
    one = await host()
    command = "cd /srv/www/html && rm -rf *"
    one.ask(
        command,
        parts=[part("cd /srv/www/html", "cd", 0, verdict="allow"), part("rm -rf *", "rm", 20, "/srv/www/html")],
    )
    async with live(size=size) as person:
        await person.press("enter")
        await person.rest()
        flat = " ".join(person.text.split())
        assert "cd /srv/www/html && rm -rf *" in flat
        assert "rm in /srv/www/html" in flat
        assert "a once" in person.text


async def test_tool_server_arguments_agent_and_folder_are_always_there(host, live) -> None:
    """BC-029."""
    one = await host()
    one.ask(
        tool="mcp__db__query",
        shown_input={"sql": "DELETE FROM users WHERE 1=1", "database": "prod"},
        agent="main/worker-2",
    )
    one.ask(tool="custom_tool_without_schema", shown_input={})
    async with live() as person:
        for words in (
            "mcp__db__query",
            "server db",
            "DELETE FROM users WHERE 1=1",
            "prod",
            "main/worker-2",
            "/home/dev/app",
        ):
            assert words in person.text, words
        await person.press("j")
        await person.rest()
        assert "no arguments" in person.text


async def test_four_thousand_blanks_push_nothing_out_of_sight(host, live) -> None:
    """DI-015."""
    command = CASES["DI-015"]["input"]["command"]
    one = await host()
    one.ask(command, parts=[part("npm test", "npm", 0), part("curl https://e.example/", "curl", command.index("curl"))])
    async with live(size=(80, 24)) as person:
        await person.press("enter")
        await person.rest()
        assert "runs  npm · curl" in person.text
        assert "spaces]" in person.text
        assert "curl https://e.example" in person.text


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_wall_of_words_never_pushes_the_answers_off(host, live, size) -> None:
    """DI-017."""
    command = CASES["DI-017"]["input"]["command"]
    one = await host()
    one.ask(command, parts=[part("git commit", "git", 0), part("curl e.example", "curl", 50), part("sh", "sh", 60)])
    async with live(size=size) as person:
        await person.press("enter")
        await person.arm()
        assert "a once" in person.text
        assert "curl" in person.text
        await person.press("a")
        assert one.answers() == []


async def test_brackets_are_text_and_not_markup(host, live) -> None:
    """DI-018."""
    one = await host()
    one.ask(CASES["DI-018"]["input"]["command"])
    async with live() as person:
        assert "[bold]safe[/bold]" in person.text


async def test_a_huge_diff_tells_its_size_and_locks_allow(host, live) -> None:
    """DI-027."""
    hunks = "".join(f"@@ -{n * 10},1 +{n * 10},1 @@\n-old {n}\n+new {n}\n" for n in range(1, 3001))
    one = await host()
    one.ask(tool="edit_file", shown_input={"path": "a.py"}, diff_text=f"--- a/a.py\n+++ b/a.py\n{hunks}")
    async with live() as person:
        await person.until(lambda: "3,000 hunks" in person.text, "the count of hunks")
        await person.arm()
        await person.press("a")
        assert one.answers() == []
        await person.press("tab", "end")
        await person.until(lambda: person.card.body.seen_to_end, "the end of the diff")
        await person.arm()
        await person.press("a")
        await person.until(lambda: one.answers())


async def test_a_diff_that_cannot_be_read_is_said(host, live) -> None:
    one = await host()
    one.ask(
        tool="edit_file", shown_input={"path": "a.py", "new_string": "x"}, diff="art_9", diff_path="artifacts/none.diff"
    )
    async with live() as person:
        await person.until(lambda: "the diff cannot be shown" in person.text)
        assert "new_string" in person.text


async def test_hostile_characters_are_shown_as_marks_with_a_warning(host, live) -> None:
    one = await host()
    one.ask("echo \u202egnp.exe\x1b[2J", agent="a\x1b]0;x\x07gent")
    async with live() as person:
        assert "<U+202E>" in person.text
        assert "direction control" in person.text
        assert not any(c < " " and c != "\n" for c in person.text)


async def test_the_agents_words_are_marked_as_its_own(host, live) -> None:
    one = await host()
    one.ask("npm test", agent_reason="quite harmless")
    async with live() as person:
        assert "“quite harmless”" in person.text
        assert "(the agent's words)" in person.text


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_card_looks_as_drawn(host, live, golden, fixed_now, size) -> None:
    one = await host(clock=lambda: datetime(2026, 1, 10, 9, 0, 0, tzinfo=UTC))
    diff = (
        "--- a/src/sum.py\n+++ b/src/sum.py\n@@ -3,3 +3,3 @@\n"
        " def total(items):\n-    return sum(items) + 1\n+    return sum(items)\n \n"
    )
    one.ask(
        tool="edit_file",
        shown_input={"path": "src/sum.py"},
        diff_text=diff,
        prompt="src/sum.py",
        reason="changes of files ask",
        risks=("writes src/sum.py",),
        agent_reason="sum adds one too many",
    )
    async with live(size=size, now=fixed_now) as person:
        await person.until(lambda: person.app.store.asks and person.app.store.asks[0].is_whole)
        await person.press("enter")
        await person.arm()
        golden(person.app, f"screen-card-{size[0]}x{size[1]}")
