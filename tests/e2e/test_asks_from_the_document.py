"""An approver that knows docs/protocol.md and the standard library, and nothing of ours, answers a host of ours."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.protocol import ERROR_CODES, NOTICES, PARAMS, Request
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.permission import ToolPermission

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"
APPROVER = r"""
import glob, json, os, socket, sys
assert not any(m.startswith("interlock") for m in sys.modules)
(info,) = [json.load(open(f)) for f in glob.glob(os.environ["INTERLOCK_RUN_DIR"] + "/host-*.json")]
s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(info["socket"])
lines = s.makefile("rb"); notices = []; number = 0
def call(method, **params):
    global number; number += 1
    s.sendall(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
    while True:
        value = json.loads(lines.readline())
        if value.get("id") == number: return value
        notices.append(value)
def notice():
    return notices.pop(0) if notices else json.loads(lines.readline())
assert call("hello", client="from the document")["result"]["protocol"] == 1
assert call("asks.subscribe")["result"]["open"] == 1
ask = notice()["params"]["ask"]
text, at = "", 0
while at is not None:
    part = call("asks.read", askId=ask["askId"], offset=at)["result"]; text += part["text"]; at = part.get("next")
assert json.loads(text) == ask["event"] and "deny.message" in ask["event"]["choices"]
call("asks.shown", askId=ask["askId"])
wrong = call("asks.answer", askId=ask["askId"], inputDigest="other", answer="allow")
right = call("asks.answer", askId=ask["askId"], inputDigest=ask["inputDigest"], answer="deny", message="lint first")
late = call("asks.answer", askId=ask["askId"], inputDigest=ask["inputDigest"], answer="allow")
print(json.dumps([wrong["error"], right["result"], late["error"], notice()]))
"""


@pytest.mark.e2e
async def test_an_approver_written_from_the_document_answers(tmp_path, monkeypatch):
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(run))
    events = []

    def record(event, durable):
        events.append(event.model_copy(update={"seq": len(events), "session": "s1", "ts": "2026-01-10T09:00:00Z"}))
        return events[-1]

    broker = Broker(record, lambda: datetime.now(UTC))
    pending = broker.open(
        ToolPermission(
            ask_id="ask_07",
            intent_id="int_3",
            decision="ask",
            reason="asks",
            source="built-in",
            input_digest="9f2c",
            shown_input={"command": "make test"},
            choices=("allow.once", "deny", "deny.message"),
        )
    )
    async with AskServer(broker):
        command = [sys.executable, "-I", "-c", APPROVER]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=40, env={**os.environ}
        )
    assert done.returncode == 0, done.stderr
    wrong, right, late, seen = json.loads(done.stdout)
    assert (wrong["code"], wrong["data"]["name"]) == (-32003, "digest_mismatch")
    assert (right["accepted"], right["by"]["client"]) == (True, "from the document")
    assert (late["code"], late["data"]["by"]["client"]) == (-32002, "from the document")
    assert (seen["method"], seen["params"]["message"]) == ("asks.answered", "lint first")
    outcome = await pending.wait()
    assert (outcome.allowed, outcome.message) == (False, "lint first")
    kinds = [e.type.removeprefix("tool.permission") for e in events]
    assert kinds == ["", ".shown", ".answered", ".delivered"]


def test_the_document_names_every_method_notification_and_error_and_its_frames_are_valid():
    text = DOCUMENT.read_text()
    for name in (*PARAMS, *NOTICES):
        assert f"`{name}`" in text
    for name, code in ERROR_CODES.items():
        assert f"| `{name.value}` | {code} |" in text
    frames = re.findall(r"^    ([<>]) (\{.*\})$", text, re.M)
    assert len(frames) >= 10
    for direction, frame in frames:
        value = json.loads(frame)
        if direction == ">":
            request = Request.model_validate(value)
            PARAMS[request.method].model_validate(request.params, by_alias=True, by_name=False)
        elif value.get("method") in NOTICES:
            NOTICES[value["method"]].model_validate(value["params"])
