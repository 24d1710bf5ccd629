"""The signs of the screen, each with its ASCII form and its theme variable.

Promises: one cell wide, always; a sign that is measured wider is replaced by its ASCII form. Pure: no widget library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign."""

    glyph: str
    ascii: str
    variable: str
    """Name of the theme variable of its colour, without `$`."""
    meaning: str

    def shown(self, *, ascii_only: bool = False) -> str:
        """The sign as it is drawn, one cell wide."""
        return self.ascii if ascii_only or cell_len(self.glyph) != 1 else self.glyph


SIGNS: Mapping[str, Sign] = {
    "ask": Sign("?", "?", "ask", "waiting for you"),
    "running": Sign("▶", ">", "running", "running"),
    "idle": Sign("·", ".", "idle", "idle, its turn is yours"),
    "ok": Sign("✔", "+", "ok", "done, ok"),
    "failed": Sign("✖", "x", "failed", "failed"),
    "denied": Sign("⊘", "o", "denied", "denied"),
    "gone": Sign("◌", "-", "gone", "writer gone, unknown"),
    "bar-wait": Sign("░", ".", "wait", "waiting for a person"),
    "bar-queued": Sign("▒", ":", "queued", "queued"),
    "bar-running": Sign("▓", "#", "running", "running"),
    "bar-span": Sign("─", "-", "running", "from the call to its result; its log does not say when it ran"),
}
"""Every sign by name."""


def wants_ascii(environ: Mapping[str, str]) -> bool:
    """Whether a terminal should be given ASCII signs: asked for, or its locale is not UTF-8."""
    if environ.get("INTERLOCK_ASCII", "") not in ("", "0"):
        return True
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return environ.get("TERM") in ("dumb", "linux") or (bool(locale) and "utf" not in locale.lower())
