"""Time stamps of the wire as whole microseconds, which columns can hold."""

from __future__ import annotations

from datetime import UTC, datetime

_seconds: dict[str, int] = {}
"""`2026-01-10T09:00:00` -> microseconds since 1970. Stamps that stand together in a journal share their seconds."""


def micros(ts: str) -> int:
    """Microseconds since 1970 of an RFC 3339 stamp; 0 where it cannot be read. Never raises."""
    try:
        if len(ts) == 27 and ts[26] == "Z":
            return _seconds[ts[:19]] + int(ts[20:26])
    except (KeyError, ValueError):
        pass
    return _slow(ts)


def _slow(ts: str) -> int:
    try:
        moment = datetime.fromisoformat(ts)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        whole = int(moment.replace(microsecond=0).timestamp()) * 1_000_000
    except (ValueError, OverflowError):
        return 0
    if ts[19:20] == "." and ts[-1:] == "Z":
        if len(_seconds) >= 256:
            _seconds.clear()
        _seconds[ts[:19]] = whole
    return whole + moment.microsecond if -(2**62) < whole < 2**62 else 0
