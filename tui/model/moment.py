"""Times, ages, sizes and sums as a person reads them on a list.

Promises: pure; ages never run backwards below zero; numbers of one kind have one form, so that columns align.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

SECOND = 1_000_000
"""Times of the journal are whole microseconds since 1970."""


def age(span: int) -> str:
    """A span of microseconds: `0s`, `41s`, `2m14s`, `1h07m`, `3d04h`."""
    seconds = max(0, span) // SECOND
    if seconds < 60:
        return f"{seconds}s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}m{seconds:02}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02}m"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02}h"


def rough_age(span: int) -> str:
    """A span with one unit, for old things: `41s`, `12m`, `3h`, `5d`."""
    seconds = max(0, span) // SECOND
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def duration(span: int) -> str:
    """How long something took: `84ms`, `4.8s`, `2m14s`."""
    span = max(0, span)
    if span < SECOND:
        return f"{span // 1000}ms"
    return f"{span / SECOND:.1f}s" if span < 60 * SECOND else age(span)


def clock(at: int, zone: tzinfo | None = None) -> str:
    """Local time of day, `14:02:09`; blanks for an unknown time."""
    return f"{_local(at, zone):%H:%M:%S}" if at > 0 else " " * 8


def minute(at: int, zone: tzinfo | None = None) -> str:
    """Local time of day, `14:02`."""
    return f"{_local(at, zone):%H:%M}" if at > 0 else ""


def day(at: int, zone: tzinfo | None = None) -> str:
    """Local date and minute, `2026-01-10 14:02`."""
    return f"{_local(at, zone):%Y-%m-%d %H:%M}" if at > 0 else "unknown"


def _local(at: int, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(at / SECOND, zone)


def same_day(one: int, other: int, zone: tzinfo | None = None) -> bool:
    """Whether both times fall on one local date."""
    return _local(one, zone).date() == _local(other, zone).date()


def amount(number: int) -> str:
    """A count in at most four characters and a unit: `999`, `1.8k`, `182k`, `4.1M`."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
    return str(number)


def money(dollars: float) -> str:
    """A sum: `$1.42`; nothing for nothing."""
    return f"${dollars:.2f}" if dollars >= 0.005 else ("<$0.01" if dollars > 0 else "")


def count(number: int, one: str, many: str = "") -> str:
    """`1 call`, `3 calls`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
