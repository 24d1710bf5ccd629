"""One recorded line of the protocol, bare or with the recorder's own notes around it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.runtime.sources.foreign.adapter import Sample
from interlock.runtime.sources.foreign.shape import at, mapping, text

_TIMES = ("t", "ts", "time", "timestamp", "at")
METHODS = ("session/", "fs/", "terminal/", "_session/")


def frame_of(value: Any) -> tuple[dict[str, Any], Any]:
    """(the frame, when it was recorded or None); an empty frame where there is none."""
    outer = mapping(value)
    if "jsonrpc" in outer:
        return outer, None
    inner = [item for item in outer.values() if isinstance(item, dict) and "jsonrpc" in item]
    if len(inner) != 1:
        return {}, None
    return inner[0], next((outer[name] for name in _TIMES if name in outer), None)


def claims(sample: Sample) -> int:
    """How sure it is that this is such traffic."""
    return _claims(sample.records)


def _claims(records: Sequence[Any]) -> int:
    best = 0
    for value in records[:50]:
        frame, _ = frame_of(value)
        method = text(frame.get("method"))
        if method.startswith(("session/", "_session/")):
            return 96
        if method == "initialize" and "clientCapabilities" in mapping(frame.get("params")):
            best = max(best, 70 if "protocolVersion" in frame["params"] else 40)
        elif at(frame, "result", "agentCapabilities") is not None:
            best = max(best, 90)
        elif method.startswith(METHODS):
            best = max(best, 60)
    return best
