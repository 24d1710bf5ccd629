"""Diffs of edits of agents that tell none themselves."""

from __future__ import annotations

from pathlib import Path

from interlock.runtime.gates.edit_diff import edit_diff


def test_an_edit_of_each_agent_is_told_as_a_diff(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    gemini = {"file_path": "a.py", "instruction": "i", "old_string": "x = 1", "new_string": "y"}
    assert edit_diff("gemini", "replace", gemini, str(tmp_path)) is None
    told = edit_diff("gemini", "replace", gemini | {"expected_replacements": 2}, str(tmp_path))
    assert told is not None
    assert told.count("+y") == 2
    opencode = {"filePath": str(tmp_path / "a.py"), "oldString": "x = 1", "newString": "y", "replaceAll": True}
    assert edit_diff("opencode", "edit", opencode, str(tmp_path)) == told


def test_a_new_file_is_told_and_an_unknown_tool_is_not(tmp_path: Path) -> None:
    told = edit_diff("opencode", "write", {"filePath": "new.txt", "content": "z\n"}, str(tmp_path))
    assert told is not None
    assert "+z" in told
    assert edit_diff("opencode", "bash", {"command": "ls"}, str(tmp_path)) is None
    assert edit_diff("gemini", "edit", {"filePath": "new.txt"}, str(tmp_path)) is None
