"""`interlock policy grants`, and the cases' own inputs word for word. (spec, ASK-4, PO-4)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from interlock.runtime.cli.text_expression import text_of
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked
from interlock.runtime.journal.writer import JournalWriter, stamp

ROOT = Path(__file__).parents[3]
ATTACKS = ROOT / "tests" / "data" / "cases" / "attack-cases.jsonl"


def interlock(home: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program in a home of its own."""
    own = {"PATH": "/usr/bin:/bin", "HOME": str(home), "INTERLOCK_STATE_DIR": str(home / "state")}
    return subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", *words],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=home,
        env={**own, "INTERLOCK_RUN_DIR": str(home / "run")},
    )


def grant(name: str, *, until: timedelta | None = None) -> GrantMade:
    expires = stamp(datetime.now(UTC) + until) if until else None
    covers = {"field": "pattern", "value": f"git commit *\n{name} *", "cwd": "/w"}
    return GrantMade(grant_id=name, ask_id="ask_1", scope="session", tool="bash", matches=covers, expires_at=expires)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JournalWriter:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path / "state"))
    return JournalWriter.create("s-1")


def test_the_permissions_that_hold_are_listed_and_no_others(tmp_path: Path, journal: JournalWriter) -> None:
    for event in (
        grant("stands"),
        grant("over", until=-timedelta(minutes=1)),
        grant("ends", until=timedelta(minutes=9)),
        grant("gone"),
    ):
        journal.append(event, durable=True)
    journal.append(GrantRevoked(grant_id="gone", by=Approver(kind="person", uid=os.getuid())), durable=True)
    done = interlock(tmp_path, "policy", "grants", "--json")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["grantId"] for line in done.stdout.splitlines()] == ["stands", "ends"]
    shown = interlock(tmp_path, "policy", "grants").stdout
    assert "git commit * | stands *" in shown
    journal.close()
    assert "No standing permission" in interlock(tmp_path, "policy", "grants").stdout


def test_the_inputs_of_the_cases_are_taken_as_they_stand(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in ATTACKS.read_text(encoding="utf-8").splitlines()]
    long = [row for row in rows if "command_python" in row["input"]]
    policy = str(ROOT / "examples" / "policies" / "cases.toml")
    given = "".join(json.dumps(row["input"]) + "\n" for row in long)
    done = interlock(tmp_path, "policy", "check", "--jsonl", "--policy", policy, given=given)
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(seen) == len(long) >= 2
    assert all(row["decision"] in ("ask", "deny") and not row.get("error") for row in seen)


@pytest.mark.parametrize(
    ("expression", "text"),
    [("'a'", "a"), ("'a'+'b'*3", "abbb"), ("('ab'*2)+'c'", "ababc"), ("2*'x'", "xx")],
)
def test_an_expression_of_texts_is_its_text(expression: str, text: str) -> None:
    assert text_of(expression) == text


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1",
        "a",
        "f('x')",
        "'a'.upper()",
        "__import__('os')",
        "'a'*'b'",
        "'a'+1",
        "'a'*10**9",
        "'a'*99999999999",
        "[1]",
        "'a'%1",
        "f'{1}'",
        "(",
    ],
)
def test_an_expression_of_anything_else_is_refused(expression: str) -> None:
    with pytest.raises(ValueError):
        text_of(expression)


def test_an_expression_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="no expression"):
        text_of("(" * 100_000 + "'a'" + ")" * 100_000)
