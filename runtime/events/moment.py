"""Time stamps of the wire as whole microseconds, which columns can hold."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=256)
def _day(date: str) -> int:
    try:
        moment = datetime.fromisoformat(date).replace(tzinfo=UTC)
    except ValueError:
        return -1
    return int(moment.timestamp()) * 1_000_000


def micros(ts: str) -> int:
    """Microseconds since 1970 of an RFC 3339 stamp; 0 where it cannot be read. Never raises."""
    day = _day(ts[:10])
    if day < 0 or len(ts) < 19:
        return 0
    try:
        seconds = int(ts[11:13]) * 3600 + int(ts[14:16]) * 60 + int(ts[17:19])
        if ts[-1:] != "Z":
            return int(datetime.fromisoformat(ts).timestamp() * 1_000_000)
        fraction = int(ts[20:-1].ljust(6, "0")[:6]) if len(ts) > 20 else 0
    except ValueError:
        return 0
    return day + seconds * 1_000_000 + fraction
