"""Counts a Kimi wire log with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def count(path):
    found, calls, tokens, replies, times = Counter(), Counter(), {}, set(), []
    for raw in Path(path).read_text().splitlines():
        row = json.loads(raw)
        times.append(row.get("time") or row["created_at"])
        event = row.get("event", {})
        if row["type"] == "turn.prompt":
            found["userTurns" if row["origin"]["kind"] == "user" else "injectedMessages"] += 1
        if row["type"] == "context.append_message" and row["message"]["origin"]["kind"] == "injection":
            found["injectedMessages"] += 1
        if event.get("type") == "tool.call":
            calls[event["name"]] += 1
            found["subAgentCalls"] += event["name"] == "Agent"
            replies.add(event["stepUuid"])
        if event.get("type") == "content.part" and event["part"]["type"] == "text":
            replies.add(event["stepUuid"])
        found["failed"] += event.get("type") == "tool.result" and event["result"].get("isError") is True
        if row["type"] == "usage.record":
            of = tokens.setdefault(row["model"], Counter())
            for ours, theirs in (("input", "inputOther"), ("output", "output"), ("cacheRead", "inputCacheRead")):
                of[ours] += row["usage"][theirs]
    return {
        **found,
        "assistantMessages": len(replies),
        "toolCalls": dict(calls),
        "tokens": {m: dict(t) for m, t in tokens.items()},
        "times": [min(times), max(times)],
    }
