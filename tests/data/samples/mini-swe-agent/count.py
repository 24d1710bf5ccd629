"""Counts a mini-swe-agent trajectory of the old form with plain loops, apart from the product's code."""

import json
from pathlib import Path


def count(path):
    rows = json.loads(Path(path).read_text())
    users = [r["content"] for r in rows if r["role"] == "user"]
    asked = [r["content"] for r in rows if r["role"] == "assistant"]
    return {
        # every user message behind an assistant's is the output of its command, the submission too
        "userTurns": sum(r["role"] == "user" and rows[n - 1]["role"] != "assistant" for n, r in enumerate(rows)),
        "assistantMessages": len(asked),
        "failed": sum("<returncode>0<" not in said and said.startswith("<returncode>") for said in users),
        "toolCalls": {"bash": sum("```mswea_bash_command" in said for said in asked)},
    }
