"""Rules and commands that once passed or asked where they should not, over real files. (spec, PO-7, PO-8)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.tools.world import PosixWorld

DATA = Path(__file__).parents[2] / "data" / "cases" / "policy-faults.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with files to keep and files to hide."""
    root = tmp_path_factory.mktemp("faults").resolve() / "project"
    for name, text in {
        "keep/b": "precious\n", "secrets/key": "PASSWORD=x\n", "cert.pem": "PRIVATE\n", "a.txt": "a\n", "README.md": "# x\n",
        "log.txt": "line\n", "data.json": "{}\n", "x.tar": "", "evil.awk": 'BEGIN{system("id")}', "src/m.py": "pass\n",
    }.items():  # fmt: skip
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def _effect(command: str, rules: str, root: Path) -> Any:
    layer = load_layer(rules, file="policy.toml", layer="user")
    assert not layer.problems
    call = Call("bash", {"command": command}, str(root), (str(root),), str(root.parent))
    return decide(call, with_built_in([layer]), PosixWorld())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_has_the_verdict_that_its_kind_wants(case: dict[str, str], place: Path) -> None:
    seen = _effect(case["command"], case["rules"], place)
    if case["must"] == "not_allow":
        assert seen.effect != "allow", seen.reason
    elif case["must"] == "allow":
        assert seen.effect == "allow", seen.reason


def test_the_cases_cover_every_kind() -> None:
    assert len(CASES) > 100
    assert {case["must"] for case in CASES} == {"not_allow", "allow", "prefer_allow"}
