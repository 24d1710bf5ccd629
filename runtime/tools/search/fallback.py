"""Searches text where there is no ripgrep; run as a process of its own.

Promises: prints ripgrep's JSON lines `match`, `context` and `end` for the same files in the same order; files with a
NUL are told as binary. Does not promise: ripgrep's speed, or its dialect beyond what Python's `re` shares with it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from base64 import b64encode
from typing import Any

from interlock.runtime.tools.search.ignore import walk


def main() -> None:
    """Search as the JSON in the first argument says."""
    order = json.loads(sys.argv[1])
    pattern = re.compile(order["pattern"], re.IGNORECASE if order["ignoreCase"] else 0)
    start = order["start"]
    for path in [start] if os.path.isfile(start) else walk(start):
        search(path, pattern, order["context"])


def search(path: str, pattern: re.Pattern[str], context: int) -> None:
    """Search one file and print what is found."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return
    lines = data.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    hits = {n for n, line in enumerate(ended) if pattern.search(_text(line))}
    if not hits:
        return
    near = {k for n in hits for k in range(max(0, n - context), min(len(ended), n + context + 1))}
    for n in sorted(near):
        fields = {"path": _value(os.fsencode(path)), "lines": _value(ended[n]), "line_number": n + 1}
        _print("match" if n in hits else "context", fields)
    binary = data.find(b"\0")
    _print("end", {"path": _value(os.fsencode(path)), "binary_offset": binary if binary >= 0 else None})


def _text(line: bytes) -> str:
    body = line[:-1] if line.endswith(b"\n") else line
    body = body[:-1] if body.endswith(b"\r") else body
    return body.decode("utf-8", "surrogateescape")


def _value(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bytes": b64encode(data).decode("ascii")}


def _print(kind: str, data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"type": kind, "data": data}) + "\n")


if __name__ == "__main__":
    main()
