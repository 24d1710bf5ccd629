"""What the gate of a foreign agent adds to a call: the hook's program and the service, and how soon an ask is seen."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.discovery import hosts
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.gates.claude.settings import claude_hooks
from interlock.runtime.gates.service.config import KEY_HEADER, ServiceConfig, ensure_config
from interlock.runtime.gates.service.server import GateService
from interlock.runtime.gates.service.tell_hook import install_hook

ROUNDS = 60
RULES = '[[rule]]\nid = "tests"\neffect = "allow"\ncommand = "make test"\nreason = "harmless"\n'


def run() -> list[tuple[str, str, str]]:
    """Wall time in milliseconds; the journal is on the real disk. The agent's own start of a shell is told apart."""
    with tempfile.TemporaryDirectory(prefix="il") as folder:
        kept = dict(os.environ)
        for name in ("state", "config", "run"):
            os.environ[f"INTERLOCK_{name.upper()}_DIR"] = f"{folder}/{name}"
        try:
            return asyncio.run(measure(Path(folder)))
        finally:
            os.environ.clear()
            os.environ.update(kept)


async def measure(folder: Path) -> list[tuple[str, str, str]]:
    config = ensure_config()
    install_hook(config)
    (folder / "config" / "policy.toml").write_text(RULES)
    ready = asyncio.Event()
    serving = asyncio.ensure_future(GateService(config).serve(ready.set))
    await asyncio.wait({serving, asyncio.ensure_future(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
    try:
        bare = await asyncio.to_thread(spawn_times, "cat >/dev/null")
        command = claude_hooks()["PreToolUse"][0]["hooks"][0]["command"]
        spent = children_cpu()
        before = await asyncio.to_thread(spawn_times, command)
        spent = (children_cpu() - spent) / ROUNDS * 1e3
        allowed = await asyncio.to_thread(http_times, config)
        seen = await visible(config)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return [
        ("a hook that runs `sh -c` and does nothing", told(bare), "for comparison"),
        ("PreToolUse: sh, curl, socket, policy", told(before), "told"),
        ("… beside the start of the shell", f"p50 {median(before) - median(bare):.1f} ms", "p50 < 30 ms"),
        ("… processor time of its programs", f"{spent:.1f} ms a call", "what is left on an idle machine"),
        ("PermissionRequest, policy allow, over http", told(allowed), "p50 < 30 ms"),
        ("hook posted -> ask seen by a subscriber", told(seen), "< 250 ms"),
    ]


def children_cpu() -> float:
    """Seconds of the processor that ended children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def body(event: str, number: int, command: str = "make test") -> bytes:
    hook = {
        "hook_event_name": event,
        "session_id": "bench",
        "transcript_path": "/nowhere/projects/x/bench.jsonl",
        "cwd": "/tmp",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": f"round {number}"},
    }
    return json.dumps(hook | ({"tool_use_id": f"t{number}"} if event == "PreToolUse" else {})).encode()


def spawn_times(command: str) -> list[float]:
    times = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(
            ["/bin/sh", "-c", command], input=body("PreToolUse", number), stdout=subprocess.DEVNULL, check=True
        )
        times.append((time.perf_counter() - began) * 1e3)
    return times


def http_times(config: ServiceConfig) -> list[float]:
    times = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        answer = post(config, body("PermissionRequest", number), 5)
        times.append((time.perf_counter() - began) * 1e3)
        assert answer["hookSpecificOutput"]["decision"] == {"behavior": "allow"}, answer
    return times


def post(config: ServiceConfig, data: bytes, patience: float) -> dict:
    made = http.client.HTTPConnection("127.0.0.1", config.port, timeout=patience)
    try:
        made.request("POST", "/claude", data, {KEY_HEADER: config.key})
        return json.loads(made.getresponse().read())
    finally:
        made.close()


async def visible(config: ServiceConfig) -> list[float]:
    [host] = hosts()
    times = []
    async with await AskClient.connect(host.socket, "bench") as client:
        notices = client.subscribe()
        following = asyncio.ensure_future(anext(notices))
        await client.ping()
        for number in range(20):
            began = time.perf_counter()
            asking = asyncio.ensure_future(
                asyncio.to_thread(post, config, body("PermissionRequest", number, f"deploy {number}"), 30)
            )
            notice = await following
            times.append((time.perf_counter() - began) * 1e3)
            assert isinstance(notice, OpenedNotice)
            await client.answer(notice.ask.ask_id, notice.ask.input_digest, "deny")
            await asking
            await anext(notices)
            following = asyncio.ensure_future(anext(notices))
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following
    return times


def median(times: list[float]) -> float:
    return statistics.median(times)


def told(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {median(times):.1f} ms, p95 {ordered[int(len(ordered) * 0.95) - 1]:.1f} ms"
