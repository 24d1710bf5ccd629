"""Which tools count as a shell for a reader of asks, whatever an agent calls them."""

from __future__ import annotations

import pytest

from interlock.runtime.policy.facts.foreign_table import shell_text


@pytest.mark.parametrize(
    "tool",
    ["bash", "Bash", "shell", "exec_command", "shell_command", "local_shell", "run_shell_command", "execute"],
)
def test_the_command_of_every_shell_is_found(tool: str) -> None:
    assert shell_text(tool, {"command": "make test"}) == "make test"


def test_codexs_own_fields_are_read() -> None:
    assert shell_text("exec_command", {"cmd": "make test"}) == "make test"
    assert shell_text("shell", {"command": ["echo", "a b"]}) == "echo 'a b'"


def test_a_patch_in_a_field_of_that_name_is_no_command() -> None:
    assert shell_text("apply_patch", {"command": "*** Begin Patch"}) is None
    assert shell_text("Read", {"file_path": "a"}) is None


def test_a_tool_that_nobody_knows_counts_as_a_shell_when_it_is_given_a_command() -> None:
    assert shell_text("mcp__box__run", {"command": "make"}) == "make"
    assert shell_text("mcp__box__run", {"x": 1}) is None
