"""Whatever another agent sends, it is judged, and what is odd is never allowed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.policy.call import MemoryWorld
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide

_NAMES = ["Bash", "Read", "Edit", "Glob", "shell", "exec_command", "apply_patch", "write_stdin", "edit", "bash", "patch",
          "replace", "read_many_files", "save_memory", "list", "TodoWrite", "mcp__a__b", "other"]  # fmt: skip
_FIELDS = ["command", "cmd", "file_path", "path", "paths", "include", "workdir", "input", "changes", "patchText", "chars",
           "pattern", "glob", "shell", "sandbox_permissions", "filePath", "odd"]  # fmt: skip
_TEXTS = st.one_of(
    st.sampled_from(["ls", "a.py", "..", "~/x", "/etc/passwd", "", "\0", "*** Begin Patch\n*** Add File: a\n"]),
    st.text(),
)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=3)),
    max_leaves=6,
)
_POLICY = with_built_in(
    [load_layer('allow = ["ls *"]\n[[rule]]\nid = "r"\neffect = "allow"\nread_only = true\n', file="p", layer="user")]
)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["claude", "codex", "gemini-cli", "opencode", "x", ""]),
    st.one_of(st.sampled_from(_NAMES), st.text()),
    st.one_of(st.dictionaries(st.one_of(st.sampled_from(_FIELDS), st.text()), _JSON, max_size=4), _JSON),
)
def test_any_input_is_judged_and_what_is_odd_asks(agent: str, tool: str, sent: Any) -> None:
    call = make_call(agent, tool, sent, cwd="/w", workspace=("/w",), home="/home/u")
    decision = decide(call, _POLICY, MemoryWorld(kinds={"/w": "folder"}), (), _NOW)
    assert "policy-fault" not in decision.policy_ids, decision.reason
    if call.unclear:
        assert decision.effect != "allow"
        assert not decision.understood
