"""A call is made in one way: `policy check`, the gate, the engine and its previews say the same of it. (spec PO-4, PO-6)"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine import gate, lookup, validate
from interlock.runtime.engine.intent import Call as EngineCall
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.past import past_calls
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionStarted
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.rules import Rules
from interlock.runtime.journal.place import sessions_home
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.policy.facts.foreign_table import OWN, tools_of
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.policy.verdict.decision import Decision
from interlock.runtime.tools.builtin.all import BUILTIN_TOOLS

CALLS = 2_000
AGENTS = (OWN, "claude", "codex", "gemini", "opencode", "acp")
RULES = """
allow = ["npm run lint *"]
ask = ["npm test *"]
deny = ["rm -rf *"]
[[rule]]
id = "reads"
effect = "allow"
read_only = true
inside = true
[[rule]]
id = "docs"
effect = "allow"
path = "docs/**"
[[rule]]
id = "secrets"
effect = "deny"
path = "secrets/**"
[[rule]]
id = "no-delete"
effect = "deny"
path = "kept/**"
use = "delete"
[[rule]]
id = "host"
effect = "deny"
host = "*.evil.example"
[[rule]]
id = "tracker"
effect = "allow"
tool = "mcp__tracker__list"
argument = "open"
"""
COMMANDS = ["ls", "cat a.py", "cat key", "cat ../secrets/key", "rm -rf build", "npm test x", "npm run lint", "cat .env",
            "git status; rm -fr x", "echo x > docs/b", "echo x > b", "curl https://a.evil.example", "bash -lc 'ls; cat a.py'",
            "env | grep PATH", "grep -r x .", "",
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: kept/a\n*** End Patch\nEOF",
            "l\u200bs"]  # fmt: skip
ARGV = [["ls", "-la"], ["cat", "key"], ["bash", "-lc", "git status; rm -rf x"], ["bash", "-lc", "cat a.py"], ["rm", "-rf", "x"],
        ["cat", "a.py; rm -rf x"], ["apply_patch", "*** Begin Patch\n*** Add File: docs/c\n+x\n*** End Patch"]]  # fmt: skip
PATHS = ["a.py", "docs/a.md", "./docs/../secrets/key", "secrets/key", "secrets", "/etc/passwd", "~/.ssh/id_rsa", ".env",
         ".git/HEAD", "lefthook.yml",
         ".claude/worktrees/f/a.py", ".", "docs", "src", "..", "kept/a", "interlock-policy.toml"]  # fmt: skip
FOLDERS = ["docs", "secrets", "src", "/etc", ".", ".."]
GLOBS = ["**/*.py", "docs/*", "secrets/*", "/etc/**", "*.md"]
PATCHES = [f"*** Begin Patch\n*** {verb} File: {path}\n@@\n-a\n+b\n*** End Patch\n"
           for verb in ("Add", "Update", "Delete") for path in ("docs/a.md", "a.py", "secrets/key", "kept/a", "../x")] + [
           "*** Begin Patch\n*** Update File: kept/a\n*** Move to: docs/a\n*** End Patch",
           "--- a/secrets/key\n+++ b/secrets/key\n",
           "nothing"]  # fmt: skip
CHANGES = [{"docs/a.md": {"type": "update"}}, {"kept/a": {"type": "delete"}}, {"a.py": {"update": {"move_path": "secrets/a"}}},
           [{"path": "docs/a.md", "kind": {"type": "add"}}], [{"kind": "add"}]]  # fmt: skip
BY_ROLE: dict[str, list[Any]] = {
    "command": [*COMMANDS, *ARGV, 7, None], "typed": ["ls\n", "rm -rf x\n", ""], "cwd": FOLDERS, "path": [*PATHS, ["a.py"], 3],
    "paths": [["a.py"], ["docs/a.md", "secrets/key"], ["docs/*"], "a.py"], "gone": [["kept/a"], ["docs/a.md"]],
    "pattern": [*GLOBS, "x"], "glob": GLOBS, "url": ["https://docs.example/x", "read http://a.evil.example/y"],
    "patch": PATCHES, "changes": CHANGES, "escape": [False, True, "require_escalated", "use_default", None],
    "shell": ["bash", "/bin/sh", "./sh"], "memory": ["note"], "": ["text", 3, True, None, []],
}  # fmt: skip
STRANGE = {
    "env": {"LD_PRELOAD": "./x.so"},
    "args": ["-rf"],
    "shell": "./sh",
    "file": "secrets/key",
    "stdin": "rm -rf x",
}
NAMES = ["mcp__tracker__list", "mcp__files__read", "bash\u200b", "Rea\u00add", "Hologram", "mcp__tracker__list\u2060"]


@dataclass
class Sent:
    """One call of one agent."""

    agent: str
    tool: str
    input: dict[str, Any]


@dataclass
class Place:
    """A project, and rules for it."""

    root: Path
    home: Path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    root, home = tmp_path / "w", tmp_path / "home"
    for name in ("a.py", "docs/a.md", "secrets/key", "kept/a", "src/b.py", ".env", ".claude/worktrees/f/a.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/policy.toml").write_text(RULES)
    home.mkdir()
    places = {"HOME": home, "INTERLOCK_CONFIG_DIR": tmp_path / "config", "INTERLOCK_STATE_DIR": tmp_path / "state",
              "INTERLOCK_RUN_DIR": tmp_path / "run"}  # fmt: skip
    for name, value in places.items():
        monkeypatch.setenv(name, str(value))
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.chdir(root)
    return Place(root, home)


def made(count: int) -> Iterator[Sent]:
    """Calls over every tool of every agent, each field by what it means, some of them strange."""
    draw = random.Random(8)
    tools = [(agent, name, tool) for agent in AGENTS for name, tool in tools_of(agent).items()]
    for number in range(count):
        agent, name, tool = tools[number % len(tools)]
        needed = {
            field for field in tool.fields if field in tool.needs or tool.fields[field] in ("command", "path", "paths")
        }
        chosen = [field for field in tool.fields if draw.random() < (0.8 if field in needed else 0.25)]
        given = {field: draw.choice(BY_ROLE[tool.fields[field]]) for field in chosen}
        if draw.random() < 0.08:
            given.update([draw.choice(list(STRANGE.items()))])
        yield Sent(agent, draw.choice(NAMES) if draw.random() < 0.05 else name, given)


def own_and_right(count: int) -> Iterator[Sent]:
    """Calls of our own tools in a form that the runtime takes."""
    draw = random.Random(9)
    texts = [command for command in COMMANDS if command]
    forms: list[tuple[str, Callable[[], dict[str, Any]]]] = [
        ("bash", lambda: {"command": draw.choice(texts), **draw.choice([{}, {"cwd": draw.choice(FOLDERS[:4])}])}),
        ("read_file", lambda: {"path": draw.choice(PATHS)}),
        ("write_file", lambda: {"path": draw.choice(PATHS) + draw.choice(["", ".new"]), "content": "y"}),
        ("glob", lambda: {"pattern": draw.choice(GLOBS), "path": draw.choice([".", "docs", "secrets", ".."])}),
        (
            "grep",
            lambda: {"pattern": "x", "path": draw.choice(PATHS), **draw.choice([{}, {"glob": draw.choice(GLOBS)}])},
        ),
    ]
    for number in range(count):
        tool, form = forms[number % len(forms)]
        yield Sent("tester", tool, form())


def checked(place: Place, calls: list[Sent]) -> list[dict[str, Any]]:
    """What `interlock policy check --jsonl` answers."""
    around = {"cwd": str(place.root), "workspace": [str(place.root)], "home": str(place.home)}
    lines = [json.dumps({"tool": c.tool, "input": c.input, "agent": c.agent, **around}) for c in calls]
    done = subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", "policy", "check", "--jsonl"],
        input="".join(line + "\n" for line in lines), capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(calls), done.stderr
    return rows


def told(decision: Decision) -> dict[str, Any]:
    """The verdict as `policy check` tells it."""
    return {
        "decision": decision.effect,
        "reason": decision.reason,
        "source": decision.source,
        "policyIds": list(decision.policy_ids),
        "understood": decision.understood,
    }


def differing(rows: list[dict[str, Any]], others: list[dict[str, Any] | None], calls: list[Sent]) -> list[Any]:
    return [
        (call, {key: row[key] for key in other}, other)
        for call, row, other in zip(calls, rows, others, strict=True)
        if other is not None and {key: row[key] for key in other} != other
    ]


def test_check_and_gate_say_the_same_of_every_agents_calls(place: Place) -> None:
    calls = list(made(CALLS))
    rows = checked(place, calls)
    rules, now = Rules(place.root / "none.toml"), datetime.now(UTC)
    judged = [
        told(rules.decide(c.agent, ForeignCall(c.tool, c.input, str(place.root)), [str(place.root)], (), now))
        for c in calls
    ]
    assert not differing(rows, list(judged), calls)[:3]
    met = Counter((call.agent, row["decision"]) for call, row in zip(calls, rows, strict=True))
    assert all(met[agent, effect] >= 5 for agent in AGENTS[:5] for effect in ("allow", "ask", "deny")), met


def test_previews_judge_a_gates_past_calls_as_the_gate_did(place: Place) -> None:
    calls = [call for call in made(CALLS) if call.agent != OWN]
    rules, now = Rules(place.root / "none.toml"), datetime.now(UTC)
    root = str(place.root)
    seen = 0
    for agent in AGENTS[1:]:
        mine = [call for call in calls if call.agent == agent]
        keep_journal(agent, mine, root)
        made_by_gate = [rules.as_ours(agent, ForeignCall(c.tool, c.input, root), [root]) for c in mine]
        for tool in {call.tool for call in made_by_gate}:
            found = past_calls(sessions_home(), tool, user_home=str(place.home), most=CALLS)
            past = [one.call for one in found.calls if one.agent == agent]
            theirs = [call for call in reversed(made_by_gate) if call.tool == tool]
            assert [replace(call, protected=()) for call in past] == [replace(call, protected=()) for call in theirs]
            policy = rules.policy([root])
            assert all(
                decide(replace(one, protected=two.protected), policy, rules.world, (), now).effect
                == decide(two, policy, rules.world, (), now).effect
                for one, two in zip(past, theirs, strict=True)
            )
            seen += len(past)
    assert seen == len(calls)


def keep_journal(agent: str, calls: list[Sent], root: str) -> None:
    """A gate's journal of these calls."""
    writer = JournalWriter.create(f"gate-{agent}")
    writer.append(
        SessionStarted(
            agent=Agent(name=agent, kind=agent), cwd=root, workspace=(root,), host="h", pid=1, user="u",
            sandbox=SandboxState(), runtime_version="0", foreign=Foreign(session="s"),
        )
    )  # fmt: skip
    for number, call in enumerate(calls):
        intent = f"int_{number}"
        writer.append(ToolIntent(intent_id=intent, tool=call.tool, raw_input=call.input))
        writer.append(
            ToolPermission(
                intent_id=intent,
                decision="ask",
                reason="",
                source="user",
                tool=call.tool,
                cwd=root,
                shown_input=call.input,
            )
        )
    writer.close()


async def test_check_and_engine_say_the_same_of_our_own_tools(place: Place) -> None:
    calls = list(own_and_right(CALLS))
    rows = await asyncio.to_thread(checked, place, calls)
    async with RuntimeSession.start(place.root, agent="tester", server=False) as session:
        steps = [await step(session, call) for call in calls]
    judged = [seen if isinstance(seen, dict) else None for seen in steps]
    assert not differing(rows, judged, calls)[:3]
    assert sum(other is not None for other in judged) > CALLS / 2
    # what the runtime refuses to begin outside the workspace is never what a check calls allowed
    outside = [row["decision"] for row, seen in zip(rows, steps, strict=True) if "outside the workspace" in str(seen)]
    assert len(outside) > 50
    assert "allow" not in outside


async def step(session: RuntimeSession, sent: Sent) -> dict[str, Any] | str:
    """What the engine's gate says, or why the call is refused before."""
    call = EngineCall(Intent(sent.tool, sent.input), "int_1", sent.input)
    try:
        lookup.look_up(session.setting, call)
        call.input = validate.check_shape(call)
        call.ticket = session.setting.scheduler.enqueue("inv_1", validate.concurrency_of(session.setting, call))
        session.setting.scheduler.release(call.ticket)
        call.prepared = await validate.check_world(session.setting, call, accept_current=True)
    except Stop as stop:
        return stop.message
    return told(gate.decide_now(session.setting, call))


def test_the_table_of_our_own_tools_is_what_they_take() -> None:
    fields = {tool.name: set(tool.input_model.model_fields) for tool in BUILTIN_TOOLS}
    assert {name: set(tool.fields) for name, tool in tools_of(OWN).items()} == fields
