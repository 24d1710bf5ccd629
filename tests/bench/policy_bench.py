"""How long a decision takes: everyday calls under a long policy on the real machine, and the worst an agent could send."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.plain_fact import forget_plain_facts
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.shell.parse import forget_read_commands
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.tools.world import PosixWorld

_ROOT = str(Path(__file__).parents[2])
_NOW = datetime(2026, 1, 10, tzinfo=UTC)
_EVERYDAY = [
    "ls -la tests", "cat README.md | head -20", 'grep -rn "TODO" tests | sort | uniq -c', "git status", "git diff --stat",
    "git log --oneline -20", "npm test", "pytest -q tests/unit", "cd tests && ls", "find . -name '*.py'", "python -m build",
    "sed -n '1,20p' README.md", "rg -n foo", "make check", "git commit -am wip", "rm notes.txt",
]  # fmt: skip
_HOSTILE = {
    "1 MB of one word": "echo " + "A" * 1_000_000,
    "50,000 parts": "true && " * 50_000 + "rm -rf x",
    "5,000 different parts": "; ".join(f"touch f{i}" for i in range(5_000)),
    "nested 10,000 deep": "echo " + "$(" * 10_000 + "id" + ")" * 10_000,
    "20,000 operands": "cp " + " ".join(f"a{i}" for i in range(20_000)) + " d",
    "2,000 patterns": "cat " + " ".join(f"*{i}" for i in range(2_000)),
}


def _long_policy() -> Policy:
    """200 rules, as an organisation would keep them."""
    rules = [f'[[rule]]\nid = "deny-{i}"\neffect = "deny"\ncommand = "tool{i} publish --force *"\n' for i in range(80)]
    rules += [f'[[rule]]\nid = "allow-{i}"\neffect = "allow"\ncommand = "tool{i} run *"\n' for i in range(80)]
    rules += [f'[[rule]]\nid = "path-{i}"\neffect = "deny"\npath = "secret{i}/**"\n' for i in range(40)]
    rules.append('[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n')
    layer = load_layer("".join(rules), file="bench.toml", layer="user")
    assert not layer.problems, layer.problems
    return with_built_in([layer])


def _seconds(command: str, policy: Policy) -> float:
    call = Call("bash", {"command": command}, _ROOT, (_ROOT,), os.path.expanduser("~"), frozenset(("execute",)))
    begun = time.perf_counter()
    decision = decide(call, policy, PosixWorld(), (), _NOW)
    _ = decision.suggestions  # a person who is asked is shown them, so they are part of the time
    spent = time.perf_counter() - begun
    assert "policy-fault" not in decision.policy_ids, decision.reason
    return spent


def _spread(policy: Policy, clock: Callable[[], float], *, fresh: bool = False) -> tuple[float, float]:
    """(p50, p99) in milliseconds over the everyday commands. `fresh`: nothing is kept of what was read before."""
    spent: list[float] = []
    for _ in range(60):
        for command in _EVERYDAY:
            if fresh:
                forget_read_commands()
                forget_plain_facts()
            begun = clock()
            _seconds(command, policy)
            spent.append((clock() - begun) * 1000)
    spent.sort()
    return statistics.median(spent), spent[int(len(spent) * 0.99)]


def run() -> list[tuple[str, str, str]]:
    """(name, measured, target) for each figure."""
    policy = _long_policy()
    for command in _EVERYDAY:
        _seconds(command, policy)
    rows: list[tuple[str, str, str]] = []
    for name, clock, fresh in (
        ("", time.perf_counter, False),
        (", processor time", time.process_time, False),
        (", each command new", time.process_time, True),
    ):
        p50, p99 = _spread(policy, clock, fresh=fresh)
        rows.append((f"policy: decision under 200 rules{name}, p50", f"{p50:.3f} ms", "< 0.2 ms"))
        rows.append((f"policy: decision under 200 rules{name}, p99", f"{p99:.3f} ms", "< 5 ms"))
    for name, command in _HOSTILE.items():
        rows.append(
            (f"policy: {name}", f"{min(_seconds(command, policy) for _ in range(5)) * 1000:.1f} ms", "< 100 ms")
        )
    return rows


if __name__ == "__main__":
    for row in run():
        print("  ".join(row))
