"""What a tool returns (RT-10): a summary that always stays in history, and detail that can be pruned.

Promises: a plain string converts by itself; text made from bytes is valid Unicode and says how many bytes it had to
replace. Does not promise any size: the one cap of the engine cuts, with what `keep` says is useful.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from interlock.runtime.events.tool import ArtifactRef, SideEffect

SHORT_BYTES = 300
"""A plain string up to this many UTF-8 bytes is its own summary (RT-10: "a few hundred bytes")."""

SUMMARY_CHARACTERS = 80
"""How much of a longer string its summary quotes (RT-10)."""

Keep = Literal["head", "ends"]
"""Which part of a content is useful when it must be cut: its beginning, or beginning and end."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text that is too large to hold: both ends, and how much lies between them."""

    head: str
    tail: str
    omitted: int
    """Bytes between head and tail."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The facts that one execution found."""

    summary: str
    """One or two lines."""
    content: str | Excerpt | None = None
    ok: bool = True
    code: str = "ok"
    title: str | None = None
    user_text: str | None = None
    """For the person, where it differs from the summary."""
    keep: Keep = "head"
    format: Literal["text", "json", "diff", "image", "artifact_ref"] = "text"
    artifacts: tuple[ArtifactRef, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    raw_ref: str | None = None
    """Id of the artifact with the raw result."""
    lossy: bool | None = None
    omitted: int = 0
    """Bytes that the tool itself left out of the content; the cap adds what it cuts."""
    output_bytes: int | None = None
    """Bytes of the raw result, where it is not the content itself."""
    retryable: bool = False
    next_step: str | None = None
    suggested_next_tool: dict[str, Any] | None = None
    resume: Callable[[str], dict[str, Any] | None] | None = field(default=None, compare=False)
    """Given the content that was kept of a cut one: the call that shows what comes next."""
    exit: Literal["ok", "error", "cancelled", "timeout"] = "ok"
    exit_code: int | None = None
    signal: str | None = None
    signals_sent: tuple[str, ...] | None = None

    @classmethod
    def of(cls, value: ToolOutput | str) -> ToolOutput:
        """The output itself, or a plain string converted (RT-10)."""
        if isinstance(value, ToolOutput):
            return value
        if len(value.encode("utf-8", "surrogatepass")) <= SHORT_BYTES:
            return cls(summary=value)
        lines = value.count("\n") + (not value.endswith("\n"))
        first = value[:SUMMARY_CHARACTERS].replace("\r", " ").replace("\n", " ")
        return cls(summary=f"{lines} lines | {first}…", content=value)


class Decoded(NamedTuple):
    """Text and what it cost to make it."""

    text: str
    replaced: int
    """Bytes that stand as U+FFFD."""


_ESCAPED = re.compile("[\udc80-\udcff\x00]")
# CSI and OSC sequences and two-character escapes: colours and cursor moves mean nothing to a model
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def decode(data: bytes) -> Decoded:
    """UTF-8 text; each byte that is not, and each NUL, is one U+FFFD and is counted."""
    text, replaced = _ESCAPED.subn("\ufffd", data.decode("utf-8", "surrogateescape"))
    return Decoded(text, replaced)


def without_terminal_codes(text: str) -> str:
    """The text without colours and cursor moves; the artifact keeps them."""
    return _TERMINAL.sub("", text) if "\x1b" in text else text


def plural(count: int, one: str, many: str | None = None) -> str:
    """For example `1 line`, `2,000 lines`."""
    return f"{count:,} {one if count == 1 else (many or one + 's')}"
