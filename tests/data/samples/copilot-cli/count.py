"""Counts a Copilot CLI log with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def count(path):
    found, calls, ids, replies = Counter(), Counter(), set(), set()
    for raw in Path(path).read_text().splitlines():
        row = json.loads(raw)
        data = row["data"]
        kind = row["type"]
        found["userTurns"] += kind == "user.message"
        found["injectedMessages"] += kind == "system.notification"
        found["interrupted"] += kind == "abort"
        found["subAgentCalls"] += kind == "subagent.started"
        if kind == "assistant.message":
            replies.add(data["messageId"])
            for request in data["toolRequests"]:
                if request["toolCallId"] not in ids:
                    ids.add(request["toolCallId"])
                    calls[request["name"]] += 1
        if kind == "tool.execution_complete":
            if data["toolCallId"] not in ids:
                ids.add(data["toolCallId"])  # a result whose call is not in the log
            elif f"ended {data['toolCallId']}" in ids:
                continue
            ids.add(f"ended {data['toolCallId']}")
            found["failed"] += data["success"] is False
        if kind == "session.shutdown":
            tokens = {k: v["tokenCount"] for k, v in data["tokenDetails"].items()}
            model = data["currentModel"]
    wire = {"input": tokens["input"], "output": tokens["output"], "cacheRead": tokens["cache_read"]}
    return {**found, "assistantMessages": len(replies), "toolCalls": dict(calls), "tokens": {model: wire}}
