"""Themes: TOML files, ours under `themes/` and the user's own, checked and made into Textual themes.

Promises: a theme has every variable that the screen uses, and no other; every colour can be read; text on its ground
has a contrast that can be read; an error names file, key and remedy; one bad file of the user does not lose the others.
`NO_COLOR` is Textual's own matter (the app filters colours); nothing on the screen says anything by colour alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

SHIPPED = ("dark", "light", "high-contrast")
DEFAULT = "interlock-dark"
"""Name of the theme at the first start."""

VARIABLES: Mapping[str, str] = {
    "ask": "waits for a person",
    "running": "running",
    "idle": "its turn is the person's",
    "ok": "done, passed",
    "failed": "failed",
    "denied": "denied",
    "gone": "writer gone, unknown",
    "wait": "time waited for a person",
    "queued": "time in the queue",
    "quiet": "secondary text: ages, line numbers, dim keys",
    "rule": "lines between panes",
    "cursor": "ground of the selected row",
    "mark": "escaped, cut or guessed text",
    "hit": "ground of a search hit",
    "hit-now": "ground of the present search hit",
    "hit-text": "text of the present search hit",
    "diff-add": "ground of an added line",
    "diff-add-word": "ground of the added words in it",
    "diff-remove": "ground of a removed line",
    "diff-remove-word": "ground of the removed words in it",
    "diff-head": "ground of file and hunk heads",
    **{
        f"ansi-{colour}": f"{colour} in tool output" for colour in ("red", "green", "yellow", "blue", "magenta", "cyan")
    },
    **{f"syntax-{part}": f"{part} in code" for part in ("keyword", "name", "string", "number", "comment", "operator")},
}
"""Every variable that a theme must set, and what it is for."""

_BASE = frozenset(
    {"primary", "secondary", "accent", "foreground", "background", "surface", "panel", "warning", "error", "success"}
)
_GROUNDS = frozenset(
    {
        "rule",
        "cursor",
        "hit",
        "hit-now",
        "hit-text",
        "diff-add",
        "diff-add-word",
        "diff-remove",
        "diff-remove-word",
        "diff-head",
    }
)
LEAST_CONTRAST = 3.5
"""Least contrast of a text colour with the background. WCAG 2.1 asks 3 for large and 4.5 for body text."""


class ThemeError(ValueError):
    """A theme file that cannot be used: says which file and key, why, and what would be right."""

    def __init__(self, source: str, key: str, reason: str) -> None:
        super().__init__(f"{source}: {key}: {reason}" if key else f"{source}: {reason}")
        self.source, self.key, self.reason = source, key, reason


@dataclass(frozen=True, slots=True)
class Loaded:
    """The themes of a folder, and what was wrong with the others."""

    themes: tuple[Theme, ...]
    problems: tuple[ThemeError, ...]


@cache
def shipped() -> tuple[Theme, ...]:
    """The themes that come with Interlock, the default first."""
    folder = files("interlock.themes")
    return tuple(parse(folder.joinpath(f"{n}.toml").read_text(encoding="utf-8"), f"themes/{n}.toml") for n in SHIPPED)


def user_themes(folder: Path) -> Loaded:
    """The user's own themes; a bad one is a problem to show, never a reason to lose the others."""
    themes: list[Theme] = []
    problems: list[ThemeError] = []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        try:
            theme = parse(path.read_text(encoding="utf-8"), str(path))
            if theme.name in {known.name for known in (*shipped(), *themes)}:
                raise ThemeError(str(path), "name", f"{theme.name!r} is taken; choose another name")
            themes.append(theme)
        except ThemeError as error:
            problems.append(error)
        except (OSError, UnicodeDecodeError) as error:
            problems.append(ThemeError(str(path), "", f"cannot be read ({error}); save it as UTF-8 text"))
    return Loaded(tuple(themes), tuple(problems))


def variable_defaults() -> dict[str, str]:
    """For `App.get_theme_variable_defaults`: our variables when a theme without them is chosen."""
    return dict(shipped()[0].variables)


def parse(text: str, source: str) -> Theme:
    """One theme file. Raises ThemeError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(source, "", f"is not TOML: {error}") from None
    name = data.get("name")
    if not isinstance(name, str) or not name.replace("-", "").isalnum() or not name.isascii():
        raise ThemeError(source, "name", "must be letters, digits and dashes, such as 'my-theme'")
    if not isinstance(data.get("dark"), bool):
        raise ThemeError(source, "dark", "must be true or false")
    if unknown := sorted(set(data) - {"name", "title", "dark", "base", "variables"}):
        raise ThemeError(source, unknown[0], "is not known; a theme has name, title, dark, [base] and [variables]")
    base = _table(data, "base", _BASE, source)
    variables = _table(data, "variables", frozenset(VARIABLES), source)
    _readable(base, variables, source)
    primary = base.pop("primary")
    theme = Theme(name=name, primary=primary, dark=data["dark"], variables=variables)
    for key, value in base.items():
        setattr(theme, key, value)
    return theme


def _table(data: Mapping[str, object], table: str, wanted: frozenset[str], source: str) -> dict[str, str]:
    found = data.get(table)
    if not isinstance(found, dict):
        raise ThemeError(source, f"[{table}]", "is missing; copy it from themes/dark.toml and change the colours")
    if unknown := sorted(set(found) - wanted):
        raise ThemeError(source, f"{table}.{unknown[0]}", f"is not used; known are {', '.join(sorted(wanted))}")
    if missing := sorted(wanted - set(found)):
        raise ThemeError(source, f"{table}.{missing[0]}", f"is missing ({VARIABLES.get(missing[0], 'a base colour')})")
    for key, value in found.items():
        try:
            Color.parse(value)
        except (ColorParseError, TypeError, AttributeError):
            raise ThemeError(
                source, f"{table}.{key}", f"{value!r} is not a colour; write '#rrggbb' or a name"
            ) from None
    return dict(found)


def _readable(base: Mapping[str, str], variables: Mapping[str, str], source: str) -> None:
    ground = Color.parse(base["background"])
    texts = {"base.foreground": base["foreground"], "base.error": base["error"]}
    texts |= {f"variables.{key}": value for key, value in variables.items() if key not in _GROUNDS}
    for key, value in texts.items():
        ratio = contrast(Color.parse(value), ground)
        if ratio < LEAST_CONTRAST:
            raise ThemeError(source, key, f"contrast {ratio:.1f} with the background is below {LEAST_CONTRAST}")


def contrast(one: Color, other: Color) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = (part / 255 for part in (colour.r, colour.g, colour.b))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
