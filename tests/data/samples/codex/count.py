"""Counts the facts of a rollout with plain loops, to check the golden facts without any code of Interlock.

python count.py FILE...
"""

from __future__ import annotations

import collections
import json
import re
import sys
from typing import Any


def rows(path: str) -> list[dict[str, Any]]:
    """The records, one a line."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def body(output: Any) -> list[str]:
    """The texts of an output."""
    if isinstance(output, str):
        return [output]
    if isinstance(output, dict):
        return [str(output.get("text") or "")]
    return [str(part.get("text") or "") for part in output or [] if isinstance(part, dict)]


def failed(output: Any) -> bool:
    """Whether an output says that its call failed."""
    texts = body(output)
    head = texts[0] if texts else ""
    if head.startswith('{"output":'):
        return json.loads(head)["metadata"]["exit_code"] != 0
    top = head[:400].split("Output:")[0]
    if re.search(r"exited with code -?[1-9]|^Exit code: -?[1-9]|^Script failed", top, re.MULTILINE):
        return True
    if head.startswith("Script completed"):
        return any(re.match(r'\{.{0,300}?"exit_code": ?-?[1-9]', text, re.DOTALL) for text in texts[1:])
    return re.match(r"[\w_]+ failed: |[\w_]+ verification failed", head) is not None


def count(path: str) -> dict[str, Any]:
    """The facts."""
    tools: collections.Counter[str] = collections.Counter()
    users = replies = wrong = aborts = 0
    versions: list[str] = []
    times: list[str] = []
    tokens: dict[str, list[int]] = {}
    model, before = "unknown", [0, 0, 0, 0]
    for row in rows(path):
        payload, kind = row["payload"], row["type"]
        inner = payload.get("type")
        if re.match(r"\d{4}-", row["timestamp"]):
            times.append(row["timestamp"])
        if kind == "session_meta" and payload["cli_version"] not in versions and payload["cli_version"][0] != "[":
            versions.append(payload["cli_version"])
        elif kind == "turn_context":
            model = payload["model"]
        elif kind == "event_msg" and inner == "user_message":
            users += 1
        elif kind == "event_msg" and inner == "turn_aborted":
            aborts += 1
        elif kind == "event_msg" and inner == "token_count" and payload["info"]:
            total = payload["info"].get("total_token_usage")
            if total:
                now = [
                    total[n]
                    for n in ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens")
                ]
                grown = [n - b for n, b in zip(now, before, strict=True)]
                before = now
                if any(grown):
                    tokens[model] = [a + g for a, g in zip(tokens.get(model, [0] * 4), grown, strict=True)]
        elif kind == "response_item" and inner == "message" and payload["role"] == "assistant":
            replies += 1
        elif kind == "response_item" and inner in ("function_call", "custom_tool_call"):
            tools[payload["name"]] += 1
        elif kind == "response_item" and inner in ("function_call_output", "custom_tool_call_output"):
            wrong += failed(payload["output"])
    with open(path, "rb") as file:
        longest = max(len(line.rstrip(b"\n")) for line in file)
    return {
        "versions": versions,
        "toolCalls": dict(sorted(tools.items())),
        "failed": wrong,
        "interrupted": aborts,
        "userTurns": users,
        "assistantMessages": replies,
        "firstTime": min(times),
        "lastTime": max(times),
        "tokensByModel": tokens,
        "records": len(rows(path)),
        "longestLine": longest,
    }


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, json.dumps(count(name)))
