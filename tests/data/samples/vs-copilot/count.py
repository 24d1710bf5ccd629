"""Counts Visual Studio's spans with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def count(path):
    found, calls = Counter(), Counter()
    for raw in Path(path).read_text().splitlines():
        for span in json.loads(raw)["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            told = {a["key"]: a["value"].get("stringValue") for a in span["attributes"]}
            found["userTurns"] += told["gen_ai.operation.name"] == "invoke_agent"
            if told["gen_ai.operation.name"] == "execute_tool":
                calls[told["gen_ai.tool.name"]] += 1
    return {**found, "toolCalls": dict(calls)}
