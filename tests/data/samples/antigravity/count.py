"""Counts an Antigravity log with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path

TALK = ("USER_INPUT", "PLANNER_RESPONSE", "SYSTEM_MESSAGE", "CHECKPOINT", "CONVERSATION_HISTORY")


def count(path):
    found, calls, waiting = Counter(), Counter(), 0
    for raw in Path(path).read_text().splitlines():
        row = json.loads(raw)
        kind = row["type"]
        found["userTurns"] += kind == "USER_INPUT"
        found["injectedMessages"] += kind == "SYSTEM_MESSAGE"
        found["assistantMessages"] += kind == "PLANNER_RESPONSE"
        for call in row.get("tool_calls", []):
            calls[call["name"]] += 1
            waiting += 1
        if kind not in TALK:
            if waiting:
                waiting -= 1
            else:
                calls[kind] += 1
    return {**found, "toolCalls": dict(calls)}
