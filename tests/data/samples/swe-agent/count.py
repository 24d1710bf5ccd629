"""Counts a SWE-agent trajectory with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def count(path):
    whole = json.loads(Path(path).read_text())
    calls = Counter(
        call["function"]["name"]
        for row in whole["history"]
        for call in row.get("tool_calls") or []
        if "tool_calls" in row
    ) or Counter({"bash": sum(bool(step["action"].strip()) for step in whole["trajectory"])})
    return {"userTurns": 1, "assistantMessages": len(whole["trajectory"]), "toolCalls": dict(calls)}
