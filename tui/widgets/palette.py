"""Style names of models as styles of the present theme.

Promises: `bold ask` is the theme's variable `ask` in bold; an unknown name is a fault of ours and raises KeyError in
tests and on screen alike; no colour is written in Python.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.strip import Strip

from interlock.tui.model.inked import Inked
from interlock.tui.safe_text import to_strip

_WEIGHTS = ("bold", "dim", "reverse")


def style_of(app: App[object], name: str) -> Style:
    """The style of a name in the app's present theme."""
    if not name:
        return Style.null()
    known = getattr(app, "_interlock_styles", None)
    if known is None or known[0] != app.theme:
        known = (app.theme, app.get_css_variables(), {})
        app._interlock_styles = known  # type: ignore[attr-defined]
    _, variables, styles = known
    style = styles.get(name)
    if style is None:
        style = styles[name] = _style(name, variables)
    return style


def _style(name: str, variables: Mapping[str, str]) -> Style:
    words = name.split(" ")
    colours = [word for word in words if word not in _WEIGHTS]
    ground = Color.parse(variables[colours[0]]).rich_color if colours else None
    return Style(
        color=ground, bold="bold" in words or None, dim="dim" in words or None, reverse="reverse" in words or None
    )


def strip_of(app: App[object], line: Inked, width: int | None = None) -> Strip:
    """One line as a strip, in the theme's colours."""
    spans = [(span.start, span.end, style_of(app, span.style)) for span in line.spans]
    return to_strip(line.text, mark_style=style_of(app, "reverse mark"), spans=spans, width=width)
