"""The only way for foreign text to reach a widget: escape it, fit it, hand it over as a strip or as content.

Foreign text is everything that an agent, a tool, a file or a log wrote. It is never markup and never a terminal code.
Nothing here imports Textual at import time, so that view models may use it.
"""

from interlock.tui.safe_text.escape import Mark, MarkKind, SafeText, escape
from interlock.tui.safe_text.fit import cells, notification, one_line, shorten_middle, wrap
from interlock.tui.safe_text.lookalike import Lookalike, confusables, punycode
from interlock.tui.safe_text.strip import to_content, to_strip
from interlock.tui.safe_text.terminal import Pen, StyleRun, TerminalText, strip_terminal

__all__ = [
    "Lookalike",
    "Mark",
    "MarkKind",
    "Pen",
    "SafeText",
    "StyleRun",
    "TerminalText",
    "cells",
    "confusables",
    "escape",
    "notification",
    "one_line",
    "punycode",
    "shorten_middle",
    "strip_terminal",
    "to_content",
    "to_strip",
    "wrap",
]
