"""The public cases through `interlock policy check --jsonl`, as a user's CI would put them. (spec, RT-5, RT-8, PO-1, PO-5)"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "data" / "cases"
POLICY = ROOT / "examples" / "policies" / "cases.toml"
Check = Callable[..., list[dict[str, Any]]]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines() if line]


def _input(row: dict[str, Any]) -> dict[str, Any]:
    given = dict(row["input"])
    if "command_python" in given:
        given["command"] = eval(given.pop("command_python"))  # an expression of our own data files
    return given


ATTACKS = _rows("attack-cases.jsonl")
SHELL = [row for row in ATTACKS if row["class"] == "shell"]
BUGS = {row["id"]: row for row in _rows("bug-cases.jsonl")}


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Runs `policy check --jsonl` once over many inputs."""
    home = tmp_path_factory.mktemp("home")

    def run(inputs: list[dict[str, Any]], policy: Path = POLICY) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-m", "interlock.runtime.cli", "policy", "check", "--jsonl", "--policy", str(policy)],
            input="".join(json.dumps(one) + "\n" for one in inputs),
            capture_output=True,
            text=True,
            timeout=120,
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "INTERLOCK_RUN_DIR": str(home / "run")},
        )
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == len(inputs)
        return rows

    return run


@pytest.fixture(scope="module")
def judged(check: Check) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Every shell case with what the command said of it."""
    return {row["id"]: (row, seen) for row, seen in zip(SHELL, check([_input(r) for r in SHELL]), strict=True)}


@pytest.mark.parametrize("case", [row["id"] for row in SHELL])
def test_the_verdict_on_a_shell_case_is_the_right_one(case: str, judged: dict[str, Any]) -> None:
    row, seen = judged[case]
    wanted = row["what_must_happen"]
    match wanted["decision"]:
        case "must_deny":
            assert seen["decision"] == "deny", seen["reason"]
        case "must_ask":
            assert seen["decision"] in ({"ask", "deny"} if "deny_ok" in wanted["flags"] else {"ask"}), seen["reason"]
        case "may_allow":
            assert seen["decision"] in ("allow", "ask"), seen["reason"]


def test_few_harmless_commands_ask(judged: dict[str, Any]) -> None:
    asks = [
        row["id"]
        for row, seen in judged.values()
        if row["what_must_happen"]["decision"] == "may_allow"
        and seen["decision"] != "allow"
        and "ask_ok" not in row["what_must_happen"]["flags"]
    ]
    assert len(asks) <= 3, asks


@pytest.mark.parametrize("case", [row["id"] for row in SHELL])
def test_the_names_are_those_of_the_case(case: str, judged: dict[str, Any]) -> None:
    row, seen = judged[case]
    wanted = row["what_must_happen"]["names"]
    literal = Counter(name for name in wanted if not name.startswith("<"))
    names = Counter(seen["names"])
    assert not literal - names
    assert names.total() == len(wanted)


@pytest.mark.parametrize("case", [row["id"] for row in SHELL])
def test_what_it_touches_is_told_where_a_case_says_so(case: str, judged: dict[str, Any]) -> None:
    row, seen = judged[case]
    wanted = row["what_must_happen"]
    assert seen["readOnly"] == wanted["read_only"]
    if wanted["network"]:
        assert seen["network"]
    if wanted["decision"] == "must_ask" and wanted["reads"]:
        # the home directory is told by its name, as the shell would
        reads = {one.replace("~", row["input"]["home"]) for one in wanted["reads"]}
        assert reads <= set(seen["reads"]) | set(seen["writes"]) or not seen["readOnly"]


@pytest.mark.parametrize(
    ("path", "tool", "wanted"),
    [
        ("/w/proj/../proj-secret/key", "read", "ask"),
        ("file\0.txt/../../etc/passwd", "read", "deny"),
        ("/dev/fd/3", "read", "ask"),
        ("/proc/1234/fd/3", "read", "ask"),
        (".git/hooks/pre-commit", "write", "ask"),
        *[(path, "write", "ask") for path in (".claude/settings.json", ".codex/config.toml", ".gemini/settings.json")],
        *[(path, "write", "ask") for path in (".cursor/mcp.json", ".vscode/settings.json", ".mcp.json", "AGENTS.md")],
    ],
)
def test_the_verdict_on_a_path_case_is_the_right_one(check: Check, path: str, tool: str, wanted: str) -> None:
    """PA-006, PA-010, PA-014, PA-015, PA-016."""
    (seen,) = check([{"call": {"tool": tool, "path": path}, "cwd": "/w/proj", "home": "/home/u"}])
    assert seen["decision"] == wanted, seen["reason"]


def _toml(rules: dict[str, list[str]]) -> str:
    """The rules of a case, which speak of rules alone: what only reads passes by none of its own."""
    off = 'switch_off = ["read-only-commands"]\n'
    return off + "".join(f"{effect} = {json.dumps(patterns)}\n" for effect, patterns in rules.items())


@pytest.mark.parametrize("case", ["BC-046", "BC-049"])
def test_rules_look_at_every_part_of_a_chain(case: str, check: Check, tmp_path: Path) -> None:
    policy = tmp_path / "rules.toml"
    policy.write_text(_toml(BUGS[case]["input"]["rules"]))
    rows = BUGS[case]["input"]["cases"]
    inputs = [{"tool": "bash", "command": row["cmd"], "cwd": "/w/proj", "home": "/home/u"} for row in rows]
    seen = check(inputs, policy)
    assert [(row["cmd"], got["decision"]) for row, got in zip(rows, seen, strict=True)] == [
        (row["cmd"], row["want"]) for row in rows
    ]


def test_an_ask_names_the_part_that_no_rule_covers(check: Check, tmp_path: Path) -> None:
    """BC-046."""
    policy = tmp_path / "rules.toml"
    policy.write_text(_toml(BUGS["BC-046"]["input"]["rules"]))
    command = "git status && echo '---' && pwd"
    (seen,) = check([{"tool": "bash", "command": command, "cwd": "/w/proj", "home": "/home/u"}], policy)
    assert "echo" in seen["reason"]


def test_one_bad_rule_disables_no_other_and_fails_closed(check: Check, tmp_path: Path) -> None:
    """BC-048, the file as it stands."""
    given = BUGS["BC-048"]["input"]
    policy = tmp_path / given["name"]
    policy.write_text("\n".join(given["lines"]) + "\n")
    inputs = [{"tool": "bash", "command": row["cmd"], "cwd": "/w/proj", "home": "/home/u"} for row in given["cases"]]
    seen = check(inputs, policy)
    assert [got["decision"] for got in seen] == [row["want"] for row in given["cases"]]
    (npm,) = check([{"tool": "bash", "command": "npm --version", "cwd": "/w/proj", "home": "/home/u"}], policy)
    assert npm["decision"] == "ask"
