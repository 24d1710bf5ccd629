"""Counts a pi session file with plain loops, apart from the product's code."""

import json
from collections import Counter, defaultdict
from pathlib import Path


def count(path):
    calls, tokens = Counter(), defaultdict(Counter)
    found = Counter()
    times = []
    for raw in Path(path).read_bytes().split(b"\n"):
        try:
            row = json.loads(raw)
        except ValueError:
            found["damagedLines"] += bool(raw.strip())
            continue
        times.append(row["timestamp"])
        message = row.get("message", {})
        role = message.get("role")
        found["userTurns"] += role == "user"
        if role == "toolResult" and message["isError"]:
            said = message["content"][0]["text"].rstrip()
            found["interrupted" if said.endswith("aborted") else "failed"] += 1
        if role == "assistant":
            kinds = [b["type"] for b in message["content"]]
            found["assistantMessages"] += "text" in kinds or "toolCall" in kinds
            calls.update(b["name"] for b in message["content"] if b["type"] == "toolCall")
            found["interrupted"] += message["stopReason"] == "aborted"
            used = message["usage"]
            names = (("input", "input"), ("output", "output"), ("cacheRead", "cacheRead"), ("cacheWrite", "cacheWrite"))
            for ours, theirs in names:
                if used.get(theirs):
                    tokens[message["model"]][ours] += used[theirs]
    return {
        **found,
        "toolCalls": dict(calls),
        "tokens": {m: dict(t) for m, t in tokens.items()},
        "times": [min(times), max(times)],
    }
