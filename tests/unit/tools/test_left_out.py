"""Our own folder tools leave out what is denied or guarded, and say how many. (spec RT-7, RT-9, PO-2)"""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.tool import ToolObservation
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.state.context import model_text
from interlock.runtime.tools.search import ripgrep

DENY = '[[rule]]\nid = "no"\neffect = "deny"\npath = ["secrets/**", "**/*.pem"]\n'
FILES = ["a.py", "src/b.py", "secrets/key", "secrets/deep/er", "src/c.pem", ".env", "src/id_rsa", ".env.example"]


@pytest.fixture(params=["ripgrep", "fallback"], autouse=True)
def searcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "fallback":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: None)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTERLOCK_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    root = tmp_path / "w"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"KEY of {name}\n")
    return root


async def use(root: Path, rules: str, tool: str, **given: object) -> ToolObservation:
    layer = load_layer(rules, file="p.toml", layer="user")
    assert not layer.problems, layer.problems
    policy = with_built_in([layer])
    async with RuntimeSession.start(root, agent="tester", policy=policy, server=False) as session:
        return await session.pipeline.run(Intent(tool, given))


def shown(observation: ToolObservation) -> set[str]:
    """The files that the content names."""
    return {line.partition(":")[0] for line in model_text(observation).splitlines()[1:] if line}


async def test_a_search_leaves_out_what_is_denied_and_what_is_guarded(root: Path) -> None:
    found = await use(root, DENY, "grep", pattern="KEY")
    assert shown(found) == {"a.py", "src/b.py", ".env.example"}
    assert "; 5 files left out by rules and guards" in found.summary
    for mode in ("files", "count"):
        assert shown(await use(root, DENY, "grep", pattern="KEY", mode=mode)) == {"a.py", "src/b.py", ".env.example"}


async def test_a_listing_leaves_them_out_too(root: Path) -> None:
    found = await use(root, DENY, "glob", pattern="**/*")
    assert shown(found) == {"a.py", "src/b.py", ".env.example"}
    assert "; 5 files left out by rules and guards" in found.summary


async def test_how_many_are_left_out_tells_nothing_of_what_is_in_them(root: Path) -> None:
    said = {
        (await use(root, DENY, "grep", pattern=p)).summary.partition(";")[2]
        for p in ("KEY of .env$", "KEY of x", "src/id_rsa")
    }
    assert said == {" 5 files left out by rules and guards"}
    assert "5 files left out" in (await use(root, DENY, "glob", pattern="*.nothing")).summary


async def test_a_folder_of_its_own_is_denied_or_free(root: Path) -> None:
    denied = await use(root, DENY, "grep", pattern="KEY", path="secrets")
    assert (denied.ok, denied.code) == (False, "policy_denied")
    free = await use(root, DENY, "grep", pattern="KEY", path="src")
    assert shown(free) == {"src/b.py"}
    assert "2 files left out" in free.summary
    nothing = await use(root, "", "grep", pattern="KEY", path="secrets")
    assert shown(nothing) == {"secrets/key", "secrets/deep/er"}
    assert "left out" not in nothing.summary


async def test_a_deny_of_reading_holds_for_a_search_and_one_of_writing_does_not(root: Path) -> None:
    reading = '[[rule]]\nid = "no"\neffect = "deny"\ntool = "read_file"\npath = "secrets/**"\n'
    assert "secrets/key" not in shown(await use(root, reading, "grep", pattern="KEY"))
    writing = '[[rule]]\nid = "no"\neffect = "deny"\nuse = "write"\npath = "secrets/**"\n'
    assert "secrets/key" in shown(await use(root, writing, "grep", pattern="KEY"))


async def test_an_allow_that_names_guarded_files_brings_them_back(root: Path) -> None:
    allow = '[[rule]]\nid = "env"\neffect = "allow"\npath = ".env"\nread_only = true\nguarded_too = true\n'
    assert shown(await use(root, DENY + allow, "grep", pattern="KEY")) == {".env", "a.py", "src/b.py", ".env.example"}
