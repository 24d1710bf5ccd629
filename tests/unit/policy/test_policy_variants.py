"""Spellings of every attack class and of everyday reading, judged by the policy of the examples. (spec, RT-8)

`must-deny.jsonl` is also run for real by the end-to-end test of the ground truth.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "policy"
POLICY = with_built_in(
    [load_layer((ROOT / "examples/policies/cases.toml").read_text(encoding="utf-8"), file="cases.toml", layer="user")]
)


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line]


def _judged(command: str) -> Decision:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, POLICY, MemoryWorld(kinds={"/w/proj": "folder"}), (), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("command", [row["command"] for row in _rows("must-deny.jsonl")])
def test_what_deletes_or_resets_is_denied_in_every_dress(command: str) -> None:
    seen = _judged(command)
    assert seen.effect == "deny", seen.reason


@pytest.mark.parametrize(("command", "want"), [(row["command"], row["want"]) for row in _rows("variants.jsonl")])
def test_only_what_reads_inside_the_workspace_passes(command: str, want: str) -> None:
    seen = _judged(command)
    assert seen.effect == want, seen.reason
