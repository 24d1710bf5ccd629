"""Step 6: raw output becomes facts that may be shown (RT-14).

Promises: secrets of our own environment are masked, in summary and content; text is valid Unicode; nothing is cut here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from interlock.runtime.engine.setting import Setting
from interlock.runtime.tools.output import Excerpt, ToolOutput


def normalize(setting: Setting, output: ToolOutput) -> ToolOutput:
    """The output with everything taken out that no reader may see."""

    def clean(text: str) -> str:
        return setting.masked(text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text)

    return replace(
        output,
        summary=clean(output.summary),
        user_text=clean(output.user_text) if output.user_text is not None else None,
        content=_content(output.content, clean),
    )


def _content(content: str | Excerpt | None, clean: Callable[[str], str]) -> str | Excerpt | None:
    if isinstance(content, Excerpt):
        return replace(content, head=clean(content.head), tail=clean(content.tail))
    return clean(content) if content is not None else None
