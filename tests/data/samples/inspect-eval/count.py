"""Counts an Inspect archive with plain loops, apart from the product's code."""

import json
import zipfile
from collections import Counter


def count(path):
    found, tokens = Counter(), {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith("samples/"):
                continue
            sample = json.loads(archive.read(name))
            for message in sample["messages"]:
                found["userTurns"] += message["role"] == "user"
                found["assistantMessages"] += message["role"] == "assistant"
            for model, used in sample["model_usage"].items():
                of = tokens.setdefault(model, Counter())
                of["input"] += used["input_tokens"]
                of["output"] += used["output_tokens"]
    return {**found, "tokens": {m: dict(t) for m, t in tokens.items()}}
