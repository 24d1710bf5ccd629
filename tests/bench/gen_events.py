"""Makes journals of any size in our own format, chain included: the input of the measurements.

The same options give the same bytes. The text is drawn from a small vocabulary, so that it says nothing about search.

    python tests/bench/gen_events.py --bytes 100M --out DIR [--session NAME] [--seed N]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

WORDS = (  # noqa: SIM905 - reads better as text
    "test module session assert value line error path open read write import return class token retry parse config "
    "worker queue signal buffer stream index cursor offset digest anchor window screen agent folder branch commit"
).split()
TOOLS = ("read_file", "grep", "glob", "bash", "edit_file", "write_file")
START = datetime(2026, 1, 10, 9, 0, 0, tzinfo=UTC)


class _Chain:
    def __init__(self, session: str) -> None:
        self.session, self.seq, self.prev, self.at = session, 0, "0" * 64, START

    def line(self, kind: str, step: int, **fields: Any) -> bytes:
        self.at += timedelta(microseconds=step)
        record = {
            "v": 1,
            "seq": self.seq,
            "ts": self.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "session": self.session,
            "prev": self.prev,
            "type": kind,
            **fields,
        }
        data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self.seq, self.prev = self.seq + 1, hashlib.sha256(data).hexdigest()
        return data


def journal(session: str, seed: int = 1) -> Iterator[bytes]:
    """The lines of a session that never ends; take as many as are wanted."""
    rng, chain = random.Random(seed), _Chain(session)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(5, 60))) for _ in range(200)]
    sandbox = {"mode": "workspace-write", "provider": "bubblewrap", "network": False, "detail": ""}
    yield chain.line(
        "session.started", 0, agent={"name": "generated", "version": "1", "kind": "runtime"}, cwd="/home/dev/app",
        workspace=["/home/dev/app"], host="box", pid=4242, user="dev", model="scripted", policyDigest="",
        sandbox=sandbox, runtimeVersion="0.1.0", title="a generated session", branch="main",
    )  # fmt: skip
    number = 0
    while True:
        number += 1
        yield from _turn(chain, rng, texts, number, sandbox)


def _turn(chain: _Chain, rng: random.Random, texts: list[str], number: int, sandbox: dict[str, Any]) -> Iterator[bytes]:
    request, intent, invocation = f"req_{number}", f"int_{number}", f"inv_{number}"
    tool = rng.choice(TOOLS)
    menu = {"digest": "d" * 64, "tools": [{"name": name, "version": "1"} for name in TOOLS]}
    yield chain.line("model.request", 900, requestId=request, model="scripted", menu=menu, inputTokensEstimate=1200)
    usage = {"input": 1200, "output": rng.randint(20, 400), "cacheRead": 0, "cacheWrite": 0, "reasoning": 0}
    yield chain.line(
        "model.response", 9000, requestId=request, usage=usage, stopReason="tool_use", durationMs=900, costUsd=0.002
    )
    if number % 4 == 0:
        yield chain.line("message.assistant", 20, messageId=f"msg_{number}", text=rng.choice(texts))
    yield chain.line(
        "tool.intent", 40, intentId=intent, tool=tool, toolVersion="1", rawInput={"path": f"src/{rng.choice(WORDS)}.py"},
        reason=rng.choice(texts)[:80], requestId=request, callId=f"call_{number}",
    )  # fmt: skip
    yield chain.line("tool.validation", 60, intentId=intent, ok=True, phase="validate", errors=[])
    yield from _gate(chain, rng, number, intent)
    yield chain.line(
        "tool.scheduled",
        30,
        invocationId=invocation,
        intentId=intent,
        concurrency="safe",
        waitsFor=[],
        timeoutMs=120000,
    )
    yield chain.line(
        "tool.invocation.started", 80, invocationId=invocation, intentId=intent, executor=f"builtin:{tool}",
        cwd="/home/dev/app", sandbox=sandbox,
    )  # fmt: skip
    failed = rng.random() < 0.1
    yield chain.line(
        "tool.invocation.completed", 40_000, invocationId=invocation, exit="error" if failed else "ok",
        exitCode=1 if failed else 0, durationMs=40,
    )  # fmt: skip
    content = "\n".join(rng.choices(texts, k=int(rng.lognormvariate(1.6, 1.0))))
    yield chain.line(
        "tool.observation", 200, observationId=f"obs_{number}", intentId=intent, invocationId=invocation,
        ok=not failed, phase="execute", code="nonzero_exit" if failed else "ok", title=f"{tool} {number}",
        summary=rng.choice(texts)[:120], content=content, userText="", truncated=False, omittedBytes=0, artifacts=[],
        sideEffects=[], metrics={"durationMs": 40, "outputBytes": len(content)}, retryable=False,
        trust="tool_output_untrusted", format="text",
    )  # fmt: skip


def _gate(chain: _Chain, rng: random.Random, number: int, intent: str) -> Iterator[bytes]:
    ask = f"ask_{number:032x}"
    fields = {"intentId": intent, "reason": "built-in rule", "source": "built-in", "policyIds": ["builtin.read"]}
    if rng.random() > 0.2:
        yield chain.line("tool.permission", 50, decision="allow", **fields)
        return
    yield chain.line(
        "tool.permission", 50, decision="ask", askId=ask, prompt="run it?", risks=["execute"], facts={},
        suggestedRules=[], inputDigest="e" * 64, replyTo="/run/x.sock", **fields,
    )  # fmt: skip
    yield chain.line(
        "tool.permission.answered", 2_000_000, askId=ask, intentId=intent, answer="allow", scope="once",
        by={"kind": "person", "uid": 1000, "pid": 77}, inputDigest="e" * 64,
    )  # fmt: skip
    yield chain.line("tool.permission.delivered", 90, askId=ask, intentId=intent)


def write(path: Path, *, nbytes: int, session: str = "generated", seed: int = 1) -> int:
    """Write a journal of at least `nbytes` bytes and return its number of lines. The folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = count = 0
    with open(path, "wb", buffering=1 << 20) as file:
        for line in journal(session, seed):
            file.write(line)
            size, count = size + len(line), count + 1
            if size >= nbytes:
                break
    return count


def parse_size(text: str) -> int:
    """`100M` -> 100,000,000. Raises ValueError."""
    units = {"k": 10**3, "m": 10**6, "g": 10**9}
    last = text[-1:].lower()
    return int(float(text[:-1]) * units[last]) if last in units else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=parse_size, default=parse_size("1M"))
    parser.add_argument("--session", default="generated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="folder of sessions")
    asked = parser.parse_args()
    path = asked.out / asked.session / "events.jsonl"
    print(write(path, nbytes=asked.bytes, session=asked.session, seed=asked.seed), "lines in", path)


if __name__ == "__main__":
    main()
