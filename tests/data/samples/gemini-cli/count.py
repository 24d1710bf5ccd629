"""Counts a Gemini CLI log with plain loops, apart from the product's code."""

import json
from collections import Counter
from pathlib import Path


def messages(text):
    try:
        return json.loads(text)["messages"]
    except (ValueError, KeyError):
        rows = {}
        for line in text.splitlines():
            row = json.loads(line)
            for message in row.get("$set", {}).get("messages", []) + ([row] if "id" in row else []):
                rows[message["id"]] = message
        return list(rows.values())


def count(path):
    found, calls, tokens = Counter(), Counter(), {}
    for row in messages(Path(path).read_text()):
        if row["type"] == "user":
            said = row["content"] if isinstance(row["content"], str) else row["content"][0].get("text")
            if said is None:  # the responses of calls
                continue
            found["injectedMessages" if said.startswith(("System: ", "<session_context>")) else "userTurns"] += 1
        if row["type"] == "gemini":
            found["assistantMessages"] += bool(row["content"] or row.get("toolCalls"))
            for call in row.get("toolCalls", []):
                calls[call["name"]] += 1
                said = json.dumps(call["result"])
                if "requires user confirmation" in said or "canceled by the user" in said:
                    found["denied"] += 1
                elif call["status"] != "success":
                    found["failed"] += 1
            of = tokens.setdefault(row["model"], Counter())
            for ours, theirs in (
                ("input", "input"),
                ("output", "output"),
                ("cacheRead", "cached"),
                ("reasoning", "thoughts"),
            ):
                of[ours] += (row.get("tokens") or {}).get(theirs, 0)
    return {**found, "toolCalls": dict(calls), "tokens": {m: dict(t) for m, t in tokens.items()}}
