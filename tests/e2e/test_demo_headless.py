"""`interlock demo --headless` from outside: processes, files and the published schema. (spec, RT-19; issue: first light)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

BIN = Path(sys.executable).parent / "interlock"


@dataclass
class Run:
    code: int
    lines: list[dict[str, Any]]
    stderr: str
    home: Path
    environment: dict[str, str]

    @property
    def last(self) -> dict[str, Any]:
        return self.lines[-1]

    def events(self, journal: str | None = None) -> list[dict[str, Any]]:
        data = Path(journal or self.last["journal"]).read_bytes()
        return [json.loads(line) for line in data.split(b"\n") if line]

    def interlock(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(BIN), *arguments], env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )


def demo(home: Path, *arguments: str) -> Run:
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "INTERLOCK_STATE_DIR": str(home / "state"),
        "INTERLOCK_RUN_DIR": str(home / "run"),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        [str(BIN), "demo", "--headless", *arguments, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.split("\n") if line]
    return Run(done.returncode, lines, done.stderr, home, environment)


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return demo(tmp_path_factory.mktemp("allow"), "--answer", "allow")


@pytest.fixture(scope="module")
def denied(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return demo(tmp_path_factory.mktemp("deny"), "--answer", "deny")


def git(folder: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=30, check=True
    ).stdout.strip()


pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]


def test_allowed_demo_ends_well_and_names_its_journal(allowed: Run) -> None:
    assert allowed.code == 0, allowed.stderr
    assert {"session", "journal", "result"} <= set(allowed.last)
    assert Path(allowed.last["journal"]).name == "events.jsonl"
    assert allowed.last["result"] == "completed"


def test_denied_demo_ends_well_too(denied: Run) -> None:
    assert denied.code == 0, denied.stderr
    assert denied.last["result"] == "completed"


@pytest.mark.parametrize("which", ["allowed", "denied"])
def test_every_line_of_every_journal_fits_the_published_schema(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    schema = json.loads(run.interlock("schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    for journal in run.last["journals"]:
        for event in run.events(journal):
            validator.validate(event)


@pytest.mark.parametrize("which", ["allowed", "denied"])
def test_every_intent_has_exactly_one_observation(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    for journal in run.last["journals"]:
        events = run.events(journal)
        intents = [e["intentId"] for e in events if e["type"] == "tool.intent"]
        observed = Counter(e["intentId"] for e in events if e["type"] == "tool.observation")
        assert intents
        assert dict(observed) == dict.fromkeys(intents, 1)


@pytest.mark.parametrize("which", ["allowed", "denied"])
def test_verify_accepts_every_journal(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    for journal in run.last["journals"]:
        done = run.interlock("verify", Path(journal).parent.name)
        assert done.returncode == 0, done.stdout + done.stderr


def test_allowed_demo_really_mends_the_project_and_shows_its_evidence(allowed: Run) -> None:
    project = allowed.last["project"]
    assert git(project, "diff", "--stat").endswith("1 file changed, 1 insertion(+), 1 deletion(-)")
    tests = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=project, capture_output=True, timeout=60, check=False
    )
    assert tests.returncode == 0
    events = allowed.events()
    assert [e["evidence"]["verdict"] for e in events if e["type"] == "answer.final"] == ["passed"]
    runs = [e for e in events if e["type"] == "verification"]
    assert [r["passed"] for r in runs] == [False, True]


def test_denied_demo_changes_nothing_and_every_denial_says_by_whom(denied: Run) -> None:
    assert git(denied.last["project"], "status", "--porcelain", "--ignored") == ""
    denials = 0
    for journal in denied.last["journals"]:
        events = denied.events(journal)
        refused = {e["intentId"] for e in events if e["type"] == "tool.permission.answered" and e["answer"] == "deny"}
        for event in events:
            if event["type"] == "tool.observation" and event["intentId"] in refused:
                denials += 1
                assert (event["phase"], event["code"], event["ok"]) == ("permission", "user_denied", False)
        assert not any(e["type"] == "tool.invocation.started" and e["intentId"] in refused for e in events)
    assert denials >= 4


def test_the_second_session_shows_what_the_screen_needs(allowed: Run) -> None:
    journals = [j for j in allowed.last["journals"] if j != allowed.last["journal"]]
    assert len(journals) == 1
    events = allowed.events(journals[0])
    observed = [e for e in events if e["type"] == "tool.observation"]
    assert any(e["code"] == "policy_denied" for e in observed)
    assert any(e["truncated"] and e["omittedBytes"] > 0 for e in observed)
    assert any(e["type"] == "tool.invocation.completed" and e["exit"] == "timeout" for e in events)
    batch = [e["seq"] for e in events if e["type"] == "tool.intent"][:5]
    first_end = next(e["seq"] for e in events if e["type"] == "tool.invocation.completed")
    assert sum(seq < first_end for seq in batch) >= 2, "reads of one turn run beside each other"


def test_replay_reads_and_never_runs(allowed: Run) -> None:
    before = {p: p.stat().st_mtime_ns for p in Path(allowed.last["project"]).rglob("*") if p.is_file()}
    journal = Path(allowed.last["journal"])
    bytes_before = journal.read_bytes()
    done = allowed.interlock("replay", journal.parent.name)
    assert done.returncode == 0, done.stderr
    assert "edit_file" in done.stdout
    assert journal.read_bytes() == bytes_before
    assert {p: p.stat().st_mtime_ns for p in Path(allowed.last["project"]).rglob("*") if p.is_file()} == before


def test_sessions_and_show_list_what_was_done(allowed: Run) -> None:
    listed = json.loads(allowed.interlock("sessions", "--json").stdout)
    ids = {row["id"] for row in listed}
    assert {Path(j).parent.name for j in allowed.last["journals"]} <= ids
    shown = json.loads(allowed.interlock("show", allowed.last["session"], "--json").stdout)
    assert shown["id"] == allowed.last["session"]
    assert [c["tool"] for c in shown["calls"]].count("bash") == 2


def test_a_tampered_journal_is_named_with_its_first_bad_line(tmp_path: Path) -> None:
    run = demo(tmp_path, "--answer", "deny")
    journal = Path(run.last["journal"])
    lines = journal.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b'"', b'" ', 1)
    journal.write_bytes(b"\n".join(lines))
    done = run.interlock("verify", journal.parent.name)
    assert done.returncode == 1
    assert "line 5" in done.stdout + done.stderr or "line 4" in done.stdout + done.stderr
