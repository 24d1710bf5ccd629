"""An approver made of docs/protocol.md and the standard library finds the living demo and sees it through. (issue: first
light)"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent / "interlock"
PATIENCE_S = 90.0

# Run with -I -S: no site-packages, no environment, so that nothing of Interlock can be imported even by accident.
APPROVER = r"""
import glob, json, os, selectors, socket, sys
run = sys.argv[1]
hosts = []
for name in sorted(glob.glob(os.path.join(run, "host-*.json"))):
    with open(name, encoding="utf-8") as file: info = json.load(file)
    with open(f"/proc/{info['pid']}/stat", "rb") as file: start = file.read().rpartition(b") ")[2].split()[19].decode()
    if info["protocol"] == 1 and start == info["startTime"]: hosts.append(info)  # field 22, counted from the third
assert hosts, "no host lives"

class Host:
    def __init__(self, info):
        self.info, self.number, self.rest, self.asks = info, 0, b"", {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(info["socket"])
    def send(self, method, **params):
        self.number += 1
        frame = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        try: self.socket.sendall(json.dumps(frame).encode() + b"\n")
        except BrokenPipeError: pass  # the host has ended: its end is read below
    def lines(self):
        data = self.socket.recv(65536)
        if not data: return None
        *whole, self.rest = (self.rest + data).split(b"\n")
        return [json.loads(line) for line in whole if line]
    def take(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "asks.opened":
            ask = params["ask"]
            event = ask["event"]
            assert not ask["omitted"] and event["decision"] == "ask" and event["askId"] == ask["askId"]
            assert "allow.once" in event["choices"] and event["shownInput"]
            self.send("asks.shown", askId=ask["askId"])
            self.send("asks.answer", askId=ask["askId"], inputDigest=ask["inputDigest"], answer="allow")
            print(json.dumps({"asked": event["tool"], "askId": ask["askId"], "session": ask["session"]}), flush=True)
        elif method == "asks.answered":
            print(json.dumps({"answered": params["askId"], "by": params["by"]}), flush=True)
        elif "error" in message:
            print(json.dumps({"error": message["error"]}), flush=True)

watch = selectors.DefaultSelector()
for info in hosts:
    host = Host(info)
    host.send("hello", client="only the standard library", protocol=1)
    host.send("asks.subscribe")
    watch.register(host.socket, selectors.EVENT_READ, host)
assert not any(name.split(".")[0] in ("interlock", "pydantic", "orjson") for name in sys.modules)
while watch.get_map():
    ready = watch.select(60)
    assert ready, "nothing happened for a minute"
    for key, _ in ready:
        messages = key.data.lines()
        if messages is None: watch.unregister(key.fileobj); key.fileobj.close(); continue
        for message in messages: key.data.take(message)
print(json.dumps({"end": True}), flush=True)
"""

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the approver reads /proc for the start time"),
]


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    """The first line of its output, waited for with a bound."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as watch:
        watch.register(process.stdout, selectors.EVENT_READ)
        assert watch.select(PATIENCE_S), "it says nothing"
    return process.stdout.readline()


def events_of(journal: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(journal).read_bytes().split(b"\n") if line]


def test_an_approver_of_the_standard_library_alone_sees_the_demo_through(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "INTERLOCK_STATE_DIR": str(tmp_path / "state"),
        "INTERLOCK_RUN_DIR": str(tmp_path / "run"),
        "TMPDIR": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    log = tmp_path / "host.log"
    with log.open("wb") as errors:
        host = subprocess.Popen([str(BIN), "demo", "--host"], env=environment, stdout=subprocess.PIPE, stderr=errors)
    try:
        ready = json.loads(first_line(host))
        approver = subprocess.run(
            [sys.executable, "-I", "-S", "-c", APPROVER, str(tmp_path / "run")],
            env={},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        code = host.wait(timeout=PATIENCE_S)
    finally:
        if host.poll() is None:
            host.send_signal(signal.SIGKILL)
            host.wait()
        assert host.stdout is not None
        host.stdout.close()
    assert approver.returncode == 0, approver.stderr
    assert code == 0, log.read_text()
    said = [json.loads(line) for line in approver.stdout.splitlines()]
    assert said[-1] == {"end": True}
    assert not [line for line in said if "error" in line]
    asked = {line["askId"]: line["session"] for line in said if "asked" in line}
    assert set(asked.values()) == set(ready["ready"]), "both sessions asked"
    for session in ready["ready"]:
        events = events_of(str(tmp_path / "state" / "sessions" / session / "events.jsonl"))
        assert (events[-1]["type"], events[-1]["reason"]) == ("session.ended", "completed")
        answers = {e["askId"]: e for e in events if e["type"] == "tool.permission.answered"}
        opened = {e["askId"] for e in events if e["type"] == "tool.permission" and e["decision"] == "ask"}
        assert set(answers) == opened == {ask for ask, of in asked.items() if of == session}
        assert {e["by"]["client"] for e in answers.values()} == {"only the standard library"}
        shown = {e["askId"] for e in events if e["type"] == "tool.permission.shown"}
        assert shown == opened
    mended = events_of(str(tmp_path / "state" / "sessions" / ready["ready"][0] / "events.jsonl"))
    assert [e["evidence"]["verdict"] for e in mended if e["type"] == "answer.final"] == ["passed"]
    assert not list((tmp_path / "run").glob("host-*")), "the host has taken its files away"
