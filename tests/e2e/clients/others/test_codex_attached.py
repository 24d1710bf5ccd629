"""`interlock codex`: the real Codex, its own screen and our inbox at the same time (AG-3)."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"


def call(command: str, why: str) -> dict[str, Any]:
    args = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}
    return {"text": f"Next: {why}", "tools": [{"name": "exec_command", "args": args}]}


MOVED = """*** Begin Patch
*** Update File: hello.py
*** Move to: moved/there.py
@@
-x
+y
*** Delete File: important/keep.txt
*** Add File: new.txt
+new
*** End Patch
"""
PLAYS = {
    "two": [
        call("touch allowed.txt && echo made", "May I make a file?"),
        call("rm -rf important", "May I remove it?"),
        {"text": "Finished."},
    ],
    "patch": [
        {
            "text": "A patch.",
            "tools": [
                {"name": "apply_patch", "input": "*** Begin Patch\n*** Update File: hello.py\n@@\n-x\n+y\n*** End Patch\n"}
            ],
        },
        {"text": "Finished."},
    ],
    "moved": [{"tools": [{"name": "apply_patch", "input": MOVED}]}, {"text": "Finished."}],
}  # fmt: skip


@pytest.fixture
def codex(stage: Any) -> Any:
    """The stage with Codex installed and the model playing."""
    stage.program("codex", CODEX)
    stage.play(PLAYS)
    stage.codex_settings()
    return stage


async def begin(stage: Any, play: str, until: Any) -> Any:
    terminal = stage.terminal()
    terminal.start(["interlock", "codex"], stage.env, stage.project)
    await until(lambda: "Ask Codex" in terminal.text() or "OpenAI Codex" in terminal.text(), terminal.text)
    terminal.keys(f"do it play:{play}")
    await until(lambda: f"play:{play}" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    return terminal


async def test_a_call_is_held_and_allowed_and_another_denied(codex: Any, approver: Any, until: Any) -> None:
    terminal = await begin(codex, "two", until)
    (ask,) = await approver.wait()
    assert ask.event["shownInput"]["command"] == "touch allowed.txt && echo made"
    assert ask.event["risks"][0] == "runs OUTSIDE the sandbox of Codex"
    assert ask.event["agentReason"] == "May I make a file?"
    assert "deny.message" not in ask.event["choices"]
    assert not (codex.project / "allowed.txt").exists()
    await approver.answer(ask, "allow")
    await until((codex.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    while second.ask_id == ask.ask_id:
        (second,) = await approver.wait()
    assert "rm -rf important" in second.event["shownInput"]["command"]
    await approver.answer(second, "deny")
    await until(lambda: "rejected by user" in codex.heard(), terminal.text)
    assert (codex.project / "important" / "keep.txt").exists()
    await until(lambda: len(codex.events("tool.observation")) == 2, "both ends on record")
    assert [event["ok"] for event in codex.events("tool.observation")] == [True, False]
    assert len(codex.events("tool.permission.delivered")) == 2


async def test_an_answer_in_codexs_own_prompt_takes_the_ask_out_of_the_inbox(
    codex: Any, approver: Any, until: Any
) -> None:
    terminal = await begin(codex, "two", until)
    (first,) = await approver.wait()
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    while second.ask_id == first.ask_id:
        (second,) = await approver.wait()
    await until(lambda: "rm -rf important" in terminal.text(), terminal.text)
    terminal.keys("Escape")
    await approver.wait(0)
    answers = [(e["answer"], e["by"]["kind"]) for e in codex.events("tool.permission.answered")]
    assert answers == [("allow", "native_prompt"), ("deny", "native_prompt")]


async def test_a_change_of_files_is_shown_with_its_diff(codex: Any, approver: Any, until: Any) -> None:
    # a read-only sandbox makes Codex ask for every patch
    settings_file = codex.home / ".codex" / "config.toml"
    settings_file.write_text(settings_file.read_text().replace("workspace-write", "read-only"))
    terminal = await begin(codex, "patch", until)
    (ask,) = await approver.wait()
    journal = next((codex.root / "state" / "sessions").glob("*/events.jsonl"))
    diff = (journal.parent / ask.event["diffPath"]).read_text()
    assert "-x\n+y" in diff
    await approver.answer(ask, "allow")
    await until(lambda: (codex.project / "hello.py").read_text() == "y\n", terminal.text)


async def test_a_patch_that_moves_and_deletes_says_so(codex: Any, approver: Any, until: Any) -> None:
    settings_file = codex.home / ".codex" / "config.toml"
    settings_file.write_text(settings_file.read_text().replace("workspace-write", "read-only"))
    codex.policy('[[rule]]\nid = "keep"\neffect = "deny"\npath = "moved/**"\nreason = "nothing goes there"\n')
    terminal = await begin(codex, "moved", until)
    await until(lambda: "rejected by user" in codex.heard(), terminal.text)
    assert (codex.project / "important" / "keep.txt").exists()
    codex.policy("")
    terminal = await begin(codex, "moved", until)
    (ask,) = await approver.wait()
    project = codex.project
    told = f"{project}/hello.py -> {project}/moved/there.py, delete {project}/important/keep.txt, {project}/new.txt"
    assert ask.event["prompt"] == told
    journal = next((codex.root / "state" / "sessions").glob(f"{ask.session}/events.jsonl"))
    assert "+++ " + f"{project}/moved/there.py" in (journal.parent / ask.event["diffPath"]).read_text()
    await approver.answer(ask, "allow")
    await until((project / "moved" / "there.py").exists, terminal.text)


async def test_an_ask_survives_the_death_of_the_screen(codex: Any, approver: Any, until: Any) -> None:
    terminal = await begin(codex, "two", until)
    (ask,) = await approver.wait()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.answer(again, "allow")
    await until((codex.project / "allowed.txt").exists, terminal.text)


async def test_the_policy_denies_without_asking_anybody(codex: Any, approver: Any, until: Any) -> None:
    codex.policy('deny = ["rm *"]\nallow = ["touch *", "echo *"]\n')
    terminal = await begin(codex, "two", until)
    await until(lambda: "rejected by user" in codex.heard(), terminal.text)
    assert (codex.project / "allowed.txt").exists()
    assert (codex.project / "important" / "keep.txt").exists()
    assert await approver.asks() == []


async def test_two_at_once_are_two_asks(codex: Any, approver: Any, until: Any) -> None:
    terminals = [await begin(codex, "two", until) for _ in range(2)]
    asks = await approver.wait(2)
    assert len({ask.session for ask in asks}) == 2
    for ask in asks:
        await approver.answer(ask, "allow")
    await until((codex.project / "allowed.txt").exists, terminals[0].text)


async def test_when_the_gate_is_killed_codexs_own_prompt_stays(codex: Any, approver: Any, until: Any) -> None:
    terminal = await begin(codex, "two", until)
    await approver.wait()
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    pid = next(pid for pid, words in codex.processes() if words[-1] == "codex" and "interlock" in words[-2])
    os.kill(pid, signal.SIGKILL)
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)
    terminal.close()
    await until(lambda: not [w for _, w in codex.processes() if "app-server" in w], "the end of the app-server")
