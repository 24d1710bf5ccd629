"""Calls of other agents are judged by the same policy (PO-6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.policy.verdict.decision import Decision

_RULES = """
[[rule]]
id = "reads"
effect = "allow"
read_only = true
inside = true

[[rule]]
id = "docs"
effect = "allow"
tool = ["write_file", "edit_file"]
path = "docs/**"

[[rule]]
id = "linear"
effect = "allow"
tool = "mcp__linear__list_issues"

[[rule]]
id = "no-rm-rf"
effect = "deny"
command = "rm -rf *"

[[rule]]
id = "secrets"
effect = "deny"
path = "secrets/**"

[[rule]]
id = "no-host"
effect = "deny"
host = "*.evil.example"
"""
_WORLD = MemoryWorld(kinds={"/w": "folder", "/w/a.py": "file", "/w/docs": "folder", "/w/secrets": "folder"})
_NOW = datetime(2026, 1, 10, tzinfo=UTC)


def _call(agent: str, tool: str, given: Mapping[str, Any]) -> Call:
    return make_call(agent, tool, given, cwd="/w", workspace=("/w",), home="/home/u")


def _judge(agent: str, tool: str, given: Mapping[str, Any], mode: str = "") -> Decision:
    layer = load_layer((f'mode = "{mode}"\n' if mode else "") + _RULES, file="p.toml", layer="user")
    assert not layer.problems, layer.problems
    return decide(_call(agent, tool, given), with_built_in([layer]), _WORLD, (), _NOW)


_PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"
_TABLE: list[tuple[str, str, dict[str, Any], str]] = [
    ("claude", "Bash", {"command": "ls -la", "description": "list", "timeout": 1000}, "allow"),
    ("claude", "Bash", {"command": "ls; rm -fr x"}, "deny"),
    ("claude", "Bash", {"command": "npm test"}, "ask"),
    ("claude", "Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, "ask"),
    ("claude", "Bash", {"command": "ls", "dangerouslyDisableSandbox": False}, "allow"),
    ("claude", "Bash", {"command": "ls", "env": {"LD_PRELOAD": "./x.so"}}, "ask"),
    ("claude", "Bash", {"command": ""}, "ask"),
    ("claude", "Bash", {"command": None}, "ask"),
    ("claude", "Bash", {"command": 7}, "ask"),
    ("claude", "Bash", {}, "ask"),
    ("claude", "Read", {"file_path": "/w/a.py", "offset": 3}, "allow"),
    ("claude", "Read", {"file_path": "/etc/passwd"}, "ask"),
    ("claude", "Read", {"file_path": "~/.ssh/id_rsa"}, "ask"),
    ("claude", "Read", {"file_path": "/w/secrets/key"}, "deny"),
    ("claude", "Read", {"file_path": "/w/a.py", "path": "/w/secrets/key"}, "ask"),
    ("claude", "Read", {"file_path": ["/w/a.py"]}, "allow"),
    ("claude", "Read", {"file_path": ["/w/a.py", "/etc/passwd"]}, "ask"),
    ("claude", "Read", {"path": "/w/a.py"}, "ask"),
    ("claude", "Read", {}, "ask"),
    ("claude", "Edit", {"file_path": "docs/a.md", "old_string": "a", "new_string": "b"}, "allow"),
    ("claude", "Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "ask"),
    ("claude", "MultiEdit", {"file_path": "/w/docs/a.md", "edits": []}, "allow"),
    ("claude", "Write", {"file_path": "/w/docs/../secrets/key", "content": ""}, "deny"),
    ("claude", "NotebookEdit", {"notebook_path": "/w/docs/a.ipynb", "new_source": ""}, "allow"),
    ("claude", "Glob", {"pattern": "**/*.py"}, "allow"),
    ("claude", "Glob", {"pattern": "/etc/**"}, "ask"),
    ("claude", "Glob", {"path": "/w"}, "ask"),
    ("claude", "Grep", {"pattern": "x", "path": "docs", "-n": True}, "allow"),
    ("claude", "Grep", {"pattern": "x", "path": "/home/u"}, "ask"),
    ("claude", "Grep", {"pattern": "x"}, "ask"),
    ("claude", "WebFetch", {"url": "https://a.evil.example/x", "prompt": "p"}, "deny"),
    ("claude", "WebFetch", {"url": "https://docs.example/x", "prompt": "p"}, "ask"),
    ("claude", "TodoWrite", {"todos": []}, "allow"),
    ("claude", "mcp__linear__list_issues", {"team": "x"}, "allow"),
    ("claude", "mcp__linear__delete", {"id": "x"}, "ask"),
    ("claude", "mcp__files__write", {"path": "docs/a.md"}, "ask"),
    ("claude", "mcp__files__read", {"path": "secrets/key"}, "deny"),
    ("claude", "Task", {"prompt": "do it"}, "ask"),
    ("claude", "Hologram", {"path": "a.py"}, "ask"),
    ("claude", "read_file", {"path": "a.py"}, "ask"),
    ("codex", "shell", {"command": ["ls", "-la"], "workdir": "docs"}, "allow"),
    ("codex", "shell", {"command": ["bash", "-lc", "git status; rm -rf x"]}, "deny"),
    ("codex", "shell", {"command": ["cat", "a.py; rm -rf x"]}, "allow"),
    ("codex", "shell", {"command": ["cat", "key"], "workdir": "/w/secrets"}, "deny"),
    ("codex", "shell", {"command": ["cat", "key"], "workdir": "/etc"}, "ask"),
    ("codex", "shell", {"command": ["ls"], "with_escalated_permissions": True}, "ask"),
    ("codex", "shell", {"command": ["ls"], "sandbox_permissions": "use_default"}, "allow"),
    ("codex", "shell", {"command": ["ls"], "sandbox_permissions": "require_escalated"}, "ask"),
    ("codex", "shell", {"command": ["ls", 3]}, "ask"),
    ("codex", "exec_command", {"cmd": "ls", "shell": "bash"}, "allow"),
    ("codex", "exec_command", {"cmd": "ls", "shell": "./sh"}, "ask"),
    ("codex", "exec_command", {"cmd": "ls", "command": "rm -rf x"}, "deny"),
    ("codex", "write_stdin", {"session_id": 1, "chars": "rm -rf x\n"}, "deny"),
    ("codex", "write_stdin", {"session_id": 1, "chars": "ls\n"}, "ask"),
    ("codex", "write_stdin", {"session_id": 1, "chars": ""}, "ask"),
    ("codex", "apply_patch", {"input": _PATCH.format("docs/a.md")}, "allow"),
    ("codex", "apply_patch", {"input": _PATCH.format("src/a.py")}, "ask"),
    ("codex", "apply_patch", {"input": _PATCH.format("docs/a.md\n*** Move to: secrets/a")}, "deny"),
    ("codex", "apply_patch", {"input": "*** Begin Patch\n*** Delete File: secrets/key\n*** End Patch"}, "deny"),
    ("codex", "apply_patch", {"input": "*** Begin Patch\r\n*** Add File: docs/a.md\r\n+x\r\n*** End Patch"}, "allow"),
    ("codex", "apply_patch", {"input": "*** Begin Patch\n*** Rename File: docs/a.md\n*** End Patch"}, "ask"),
    ("codex", "apply_patch", {"input": _PATCH.format("docs/a.md") + "*** Copy File: docs/b"}, "ask"),
    ("codex", "apply_patch", {"input": "docs/a.md"}, "ask"),
    ("codex", "apply_patch", {"input": 3}, "ask"),
    ("codex", "shell", {"command": ["apply_patch", _PATCH.format("secrets/a")]}, "deny"),
    ("codex", "shell", {"command": ["apply_patch", _PATCH.format("docs/a.md")]}, "allow"),
    ("codex", "apply_patch", {"changes": {"/w/docs/a.md": {"type": "update", "move_path": "/etc/x"}}}, "ask"),
    ("codex", "apply_patch", {"changes": {"docs/a": {"update": {"move_path": "secrets/a"}}}}, "deny"),
    ("codex", "apply_patch", {"changes": [{"path": "docs/a.md", "kind": {"type": "add"}}]}, "allow"),
    ("codex", "apply_patch", {"changes": [{"kind": "add"}]}, "ask"),
    ("codex", "update_plan", {"plan": []}, "allow"),
    ("opencode", "bash", {"command": "ls", "description": "d"}, "allow"),
    ("opencode", "bash", {"command": "rm -r -f x"}, "deny"),
    ("opencode", "edit", {"filePath": "/w/docs/a.md", "oldString": "", "newString": "x"}, "allow"),
    ("opencode", "write", {"filePath": "/w/secrets/a", "content": "x"}, "deny"),
    ("opencode", "read", {"filePath": "a.py"}, "allow"),
    ("opencode", "read", {"file_path": "a.py"}, "ask"),
    ("opencode", "grep", {"pattern": "x", "path": "docs", "include": "*.md"}, "allow"),
    ("opencode", "list", {"path": "/etc"}, "ask"),
    ("opencode", "patch", {"patchText": _PATCH.format("secrets/a")}, "deny"),
    ("gemini", "run_shell_command", {"command": "ls", "directory": "docs"}, "allow"),
    ("gemini", "run_shell_command", {"command": "cat key", "dir_path": "secrets"}, "deny"),
    ("gemini", "run_shell_command", {"command": "ls", "directory": "docs", "dir_path": "/etc"}, "ask"),
    ("gemini", "write_file", {"file_path": "/w/docs/a.md", "content": "x"}, "allow"),
    ("gemini", "replace", {"file_path": "/w/secrets/a", "old_string": "a", "new_string": "b"}, "deny"),
    ("gemini", "read_file", {"absolute_path": "/w/a.py"}, "allow"),
    ("gemini", "read_file", {"absolute_path": "/w/a.py", "file_path": "/w/secrets/a"}, "deny"),
    ("gemini", "read_many_files", {"include": ["docs/**/*.md"]}, "allow"),
    ("gemini", "read_many_files", {"paths": ["docs/*.md", "secrets/*"]}, "deny"),
    ("gemini", "read_many_files", {"paths": ["docs/*.md", "secrets/key"]}, "deny"),
    ("gemini", "read_many_files", {"include": ["/etc/*"]}, "ask"),
    ("gemini", "save_memory", {"fact": "x"}, "ask"),
    ("gemini", "web_fetch", {"prompt": "read http://x.evil.example/a and say"}, "deny"),
    ("someone", "bash", {"command": "ls"}, "ask"),
    ("", "Read", {"file_path": "a.py"}, "ask"),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "tool", "given", "want"), _TABLE)
def test_a_foreign_call_is_judged_by_what_it_does(agent: str, tool: str, given: dict[str, Any], want: str) -> None:
    decision = _judge(agent, tool, given)
    assert decision.effect == want, decision.reason


def test_what_is_unclear_is_allowed_by_no_mode_and_no_grant() -> None:
    odd = {"file_path": "/w/docs/a.md", "content": "", "also": 1}
    assert _judge("claude", "Write", odd, mode="accept-edits").effect == "ask"
    assert _judge("claude", "Write", odd, mode="locked").effect == "deny"
    call = _call("claude", "Bash", {"command": "make", "odd": 1})
    layer = load_layer('allow = ["make"]\n', file="p.toml", layer="user")
    grant = Grant("g", "bash", "command", "make", "/w")
    decision = decide(call, with_built_in([layer]), _WORLD, (grant,), _NOW)
    assert (decision.effect, decision.understood, decision.suggestions) == ("ask", False, ())
    assert "'odd' is not known" in decision.reason


def test_an_edit_is_accepted_in_the_mode_that_accepts_edits() -> None:
    given = {"file_path": "a.py", "old_string": "a", "new_string": "b"}
    assert _judge("claude-code", "Edit", given, mode="accept-edits").effect == "allow"
    assert (
        _judge("claude", "Edit", {**given, "file_path": ".claude/settings.json"}, mode="accept-edits").effect == "ask"
    )
    patch = {"input": _PATCH.format("a.py\n*** Move to: .git/hooks/pre-commit")}
    assert _judge("codex", "apply_patch", patch, mode="accept-edits").effect == "ask"


def test_a_rule_may_name_the_tool_in_the_agents_words() -> None:
    layer = load_layer('[[rule]]\nid = "x"\neffect = "deny"\ntool = "WebFetch"\n', file="p.toml", layer="user")
    call = _call("claude", "WebFetch", {"url": "https://a.example"})
    assert decide(call, with_built_in([layer]), _WORLD, (), _NOW).effect == "deny"


@pytest.mark.parametrize("given", [None, [], "ls", 3])
def test_an_input_that_is_no_object_asks(given: Any) -> None:
    for agent, tool in (("claude", "Bash"), ("codex", "apply_patch"), ("x", "y")):
        assert _judge(agent, tool, given).effect == "ask"


@pytest.mark.parametrize("words", [[[], None], [None, "x"], [{}, {}], [["apply_patch"], "*** Begin Patch"]])
def test_words_that_are_no_texts_ask(words: list[Any]) -> None:
    """Found by the property test of foreign inputs: a list in the place of a program."""
    assert _judge("codex", "Bash", {"command": words}).effect == "ask"
