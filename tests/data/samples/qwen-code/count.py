"""Counts a Qwen Code log with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def count(path):
    found, calls, replies, tokens = Counter(), Counter(), set(), {}
    for raw in Path(path).read_text().splitlines():
        row = json.loads(raw)
        parts = row.get("message", {}).get("parts", [])
        found["userTurns"] += row["type"] == "user"
        if row["type"] == "assistant":
            if any("functionCall" in p or ("text" in p and not p.get("thought")) for p in parts):
                replies.add(row["uuid"])
            calls.update(p["functionCall"]["name"] for p in parts if "functionCall" in p)
        if "usageMetadata" in row:
            used = row["usageMetadata"]
            tokens[row["model"]] = {"input": used["promptTokenCount"], "output": used["candidatesTokenCount"]}
    return {**found, "assistantMessages": len(replies), "toolCalls": dict(calls), "tokens": tokens}
