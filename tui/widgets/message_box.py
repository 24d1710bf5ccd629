"""A line or two about something that went wrong or is to know: what happened, what was kept, what to do.

Promises: it takes its own lines and covers nothing; it never takes the focus; foreign parts are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual.content import Content
from textual.widgets import Static

from interlock.tui.safe_text import to_content
from interlock.tui.signs import SIGNS

Tone = Literal["error", "warning", "note"]


class MessageBox(Static):
    """Hidden until `say`; hidden again by `hush`."""

    DEFAULT_CSS = """
    MessageBox { display: none; height: auto; max-height: 6; padding: 0 1; background: $surface; border-left: outer $quiet; }
    MessageBox.-said { display: block; }
    MessageBox.-error { border-left: outer $failed; }
    MessageBox.-warning { border-left: outer $ask; }
    """

    def say(self, happened: str, *, kept: str = "", todo: str | Sequence[str] = (), tone: Tone = "error") -> None:
        """Show a message. Each part is a sentence or two; paths and names in it may be foreign."""
        sign, colour = {
            "error": (SIGNS["failed"].glyph, "$failed"),
            "warning": ("!", "$ask"),
            "note": ("i", "$running"),
        }[tone]
        parts: list[Content] = [Content.assemble((f"{sign} ", f"bold {colour}"), to_content(happened, "bold"))]
        parts += [to_content(kept)] if kept else []
        parts += [to_content(line) for line in ([todo] if isinstance(todo, str) else todo) if line]
        self.set_class(tone == "error", "-error")
        self.set_class(tone == "warning", "-warning")
        self.add_class("-said")
        self.update(Content("\n").join(parts))

    def hush(self) -> None:
        """Take the message away."""
        self.remove_class("-said")
        self.update("")
