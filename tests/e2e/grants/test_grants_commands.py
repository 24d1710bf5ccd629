"""Scripts give, list and take back standing permissions. (spec ASK-4, ASK-8)"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.tools.policy_files import user_file

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))


async def interlock(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interlock.runtime.cli", *words]
    return await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)


async def waiting(session: RuntimeSession) -> str:
    async with asyncio.timeout(20):
        while not session.setting.broker.pending():
            await asyncio.sleep(0.01)
    return session.setting.broker.pending()[0].ask_id


async def test_a_session_grant_is_given_listed_and_revoked(tmp_path: Path) -> None:
    async with RuntimeSession.start(tmp_path, agent="one") as session:
        running = asyncio.create_task(session.pipeline.run(Intent("bash", {"command": "touch a"})))
        done = await interlock("answer", await waiting(session), "allow", "--scope", "session", "--suggestion", "2")
        assert done.returncode == 0, done.stderr
        assert "grant_1 covers touch *" in done.stdout
        assert (await running).ok
        listed = await interlock("policy", "grants", "--json")
        (row,) = map(json.loads, listed.stdout.splitlines())
        assert (row["grantId"], row["session"], row["scope"]) == ("grant_1", session.id, "session")
        assert "touch *" in (await interlock("policy", "grants")).stdout
        revoked = await interlock("policy", "revoke", f"{session.id}/grant_1")
        assert revoked.returncode == 0, revoked.stderr
        assert "had begun" in revoked.stdout
        again = await interlock("policy", "revoke", "grant_1")
        assert again.returncode == 1
        assert "`interlock policy grants` lists them" in again.stderr
        assert (await interlock("policy", "grants")).stdout == "No standing permission holds now.\n"


async def test_a_rule_of_a_session_that_has_ended_is_listed_and_taken_out(tmp_path: Path) -> None:
    user_file().parent.mkdir()
    user_file().write_text("# mine\n")
    async with RuntimeSession.start(tmp_path, agent="one") as session:
        running = asyncio.create_task(session.pipeline.run(Intent("bash", {"command": "touch a"})))
        edited = tmp_path / "edited.toml"
        edited.write_text('[[rule]]\nid = "mine"\neffect = "allow"\ntool = "bash"\ncommand = "* *"\n')
        ask = await waiting(session)
        refused = await interlock("answer", ask, "allow", "--scope", "rule", "--rule", str(edited))
        assert refused.returncode == 1
        assert "rule_refused" in refused.stderr
        edited.write_text(edited.read_text().replace("* *", "touch a*"))
        done = await interlock("answer", ask, "allow", "--scope", "rule", "--rule", str(edited))
        assert done.returncode == 0, done.stderr
        assert (await running).ok
    (row,) = map(json.loads, (await interlock("policy", "grants", "--json")).stdout.splitlines())
    assert (row["grantId"], row["scope"]) == ("mine", "rule")
    revoked = await interlock("policy", "revoke", f"{session.id}/grant_1")
    assert revoked.returncode == 0, revoked.stderr
    assert user_file().read_text() == "# mine\n"
    assert (await interlock("policy", "revoke", "mine")).returncode == 1


async def test_a_grant_id_of_two_sessions_is_refused_with_the_clear_names(tmp_path: Path) -> None:
    async with RuntimeSession.start(tmp_path, agent="one") as one, RuntimeSession.start(tmp_path, agent="two") as two:
        for session in (one, two):
            running = asyncio.create_task(session.pipeline.run(Intent("bash", {"command": "touch a"})))
            assert (await interlock("answer", await waiting(session), "allow", "--scope", "turn")).returncode == 0
            await running
        clash = await interlock("policy", "revoke", "grant_1")
        assert clash.returncode == 2
        assert f"{one.id}/grant_1" in clash.stderr
        assert f"{two.id}/grant_1" in clash.stderr
