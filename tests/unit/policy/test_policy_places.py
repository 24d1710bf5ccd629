"""Where a command runs when a `cd` leads nowhere, and links that are named themselves. (issue 8: found by the oracle)"""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.reading import read_call
from interlock.runtime.tools.world import PosixWorld


@pytest.fixture
def proj(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "proj"
    (root / "docs").mkdir(parents=True)
    (root / "key").write_text("k")
    (root / "docs/link").symlink_to("../key")
    return root


def _paths(command: str, root: Path) -> set[tuple[str, str]]:
    call = Call("bash", {"command": command}, str(root), (str(root),), str(root.parent))
    facts = [fact for subject in read_call(call, PosixWorld()).subjects for fact in subject.paths]
    return {(fact.use, fact.resolved.removeprefix(f"{root}/")) for fact in facts}


@pytest.mark.parametrize(
    "command", ["cd nowhere; cat key", "(cd nowhere; cat key)", "cd nowhere && true; cat key", "cd /nowhere\ncat key"]
)
def test_a_cd_that_leads_nowhere_leaves_the_command_where_it_was(command: str, proj: Path) -> None:
    assert ("read", "key") in _paths(command, proj)


def test_a_cd_that_must_have_worked_leaves_no_doubt(proj: Path) -> None:
    assert ("read", "key") not in _paths("cd nowhere && cat key", proj)
    assert ("read", "key") not in _paths("cd docs; cat key", proj)


@pytest.mark.parametrize("command", ["rm docs/link", "mv docs/link x", "cd docs && rm ./link", "ln -sf a docs/link"])
def test_a_link_is_told_by_its_own_name_as_well(command: str, proj: Path) -> None:
    told = {path for use, path in _paths(command, proj) if use != "read"}
    assert {"docs/link", "key"} <= told
