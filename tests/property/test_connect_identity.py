"""Connect, then disconnect: every file is as it was, whatever it held (ours, AG-2)."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.gates.connect.act import connect, disconnect
from interlock.runtime.gates.connect.agent import AGENTS, Choice, plan_for
from interlock.runtime.gates.connect.file import FileRefused
from interlock.runtime.gates.connect.receipt import home, load
from interlock.runtime.gates.service.config import ServiceConfig

SERVICE = ServiceConfig(20_001, "k" * 24, "/run/user/1000/interlock/gate.sock")
words = st.text(st.sampled_from('ab "\\/*#é{}[],:\t\u2028'), max_size=6)
data = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)
groups = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.just({"type": "command", "command": "mine"}), max_size=2)})
)
events = st.sampled_from(["PreToolUse", "BeforeTool", "SessionStart", "Stop"])
values = st.dictionaries(st.sampled_from(["model", "x y", "env2"]), data) | st.fixed_dictionaries(
    {"hooks": st.dictionaries(events, groups, max_size=2)}, optional={"env": st.dictionaries(words, words, max_size=2)}
)
manners = st.sampled_from([None, 1, 2, 4, "\t"])


@contextmanager
def a_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("INTERLOCK_STATE_DIR")
        os.environ["INTERLOCK_STATE_DIR"] = f"{folder}/state"
        try:
            yield Path(folder) / "home"
        finally:
            if before is None:
                del os.environ["INTERLOCK_STATE_DIR"]
            else:
                os.environ["INTERLOCK_STATE_DIR"] = before


def tree(root: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


def round_trip(agent: str, content: bytes) -> None:
    with a_home() as user:
        env = {"HOME": str(user)}
        path = AGENTS[agent].config(env)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        before = tree(user)
        plan = plan_for(agent, env, SERVICE, choice=Choice(ask_first=True))
        connect(plan)
        assert all(change.target.path.read_bytes() == change.after for change in plan.changes)
        assert not plan_for(agent, env, SERVICE, choice=Choice(ask_first=True)).needed
        receipt = load(agent, path)
        assert receipt is not None
        disconnect(receipt)
        assert tree(user) == before
        assert not home().exists()


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["claude", "gemini", "opencode"]), values, manners, st.booleans(), st.booleans(), st.booleans())
def test_json_settings_come_back_byte_for_byte(
    agent: str, value: Any, indent: Any, crlf: bool, bom: bool, final: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=bom) + ("\n" if final else "")
    text = text.replace("\n", "\r\n") if crlf else text
    round_trip(agent, (b"\xef\xbb\xbf" if bom else b"") + text.encode())


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused_unchanged_or_come_back(content: bytes) -> None:
    for agent in ("claude", "codex"):
        try:
            round_trip(agent, content)
        except FileRefused:
            continue


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "b.c", "d e"]), words | st.integers(0, 9)), st.integers(0, 2), st.booleans()
)
def test_toml_settings_come_back_byte_for_byte(pairs: dict[str, Any], mine: int, final: bool) -> None:
    rows = [f"{json.dumps(key)} = {json.dumps(value)} # why" for key, value in pairs.items()]
    rows += ['[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "mine"'] * mine
    text = "\n".join(rows) + ("\n" if final else "")
    tomllib.loads(text)
    round_trip("codex", text.encode())
