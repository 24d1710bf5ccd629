"""What every test of the screen stands on: one environment, one clock zone, and screens compared as text.

`golden(app, "name-80x24")` compares the screen with `golden/name-80x24.txt`: the text, then the style of each stretch by
theme variable. `pytest tests/tui --update-golden` writes them. A golden that is not there fails, and so does one that no
test names (`test_golden.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Textual reads these when it is imported.
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ["COLORTERM"] = "truecolor"
os.environ.pop("NO_COLOR", None)

import pytest
from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App
from textual.strip import Strip

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden screens anew")


@pytest.fixture(autouse=True)
def one_world(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same terminal, locale, zone and empty home for every test."""
    home = tmp_path_factory.mktemp("home")
    for name in ("NO_COLOR", "TMUX", "SSH_TTY", "STY", "INTERLOCK_ASCII"):
        monkeypatch.delenv(name, raising=False)
    settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    run = home / "run"
    run.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))


@pytest.fixture
def themed() -> type[App[Any]]:
    """An app class with our themes, for tests of single widgets: subclass it and give `compose`."""
    return ThemedApp


class ThemedApp(App[Any]):
    """The least app in which our widgets have their colours."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, theme: str = "interlock-dark") -> None:
        super().__init__()
        from interlock.tui.themes import shipped

        for one in shipped():
            self.register_theme(one)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        from interlock.tui.themes import variable_defaults

        return variable_defaults()


def strips_of(app: App[Any]) -> list[Strip]:
    """The lines of the screen as they would be sent. The one place that touches Textual's compositor."""
    return list(app.screen._compositor.render_strips())


@pytest.fixture
def screen_text() -> Callable[[App[Any]], str]:
    """The screen as plain text, trailing blanks cut."""
    return lambda app: "\n".join(strip.text.rstrip() for strip in strips_of(app))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[App[Any], str], None]:
    """Compare the screen with a stored one."""

    def compare(app: App[Any], name: str) -> None:
        now = drawn(app)
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--update-golden", default=False):
            path.write_text(now, encoding="utf-8")
            return
        assert path.exists(), f"no golden {name}: run `pytest tests/tui --update-golden` and look at the file"
        assert now == path.read_text(encoding="utf-8"), f"the screen differs from golden/{name}.txt:\n{now}"

    return compare


def drawn(app: App[Any]) -> str:
    """Text and styles of the screen, styles by theme variable."""
    strips = strips_of(app)
    names = _names(app)
    text = [strip.text.rstrip() for strip in strips]
    styles = [f"{y:>3} {line}" for y, strip in enumerate(strips) if (line := _styles(strip, names))]
    return "\n".join([*text, "=" * 20 + " styles", *styles, ""])


def _styles(strip: Strip, names: dict[str, str]) -> str:
    runs: list[tuple[int, int, str]] = []
    at = 0
    for segment in strip:
        end = at + segment.cell_length
        word = _word(segment.style or Style.null(), names)
        if runs and runs[-1][2] == word and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], end, word)
        else:
            runs.append((at, end, word))
        at = end
    return "  ".join(f"{start}-{end} {word}" for start, end, word in runs if word)


def _word(style: Style, names: dict[str, str]) -> str:
    parts = [flag for flag in ("bold", "dim", "italic", "underline", "reverse", "strike") if getattr(style, flag)]
    front, ground = _name(style.color, names), _name(style.bgcolor, names)
    parts += [front] if front not in ("", "foreground") else []
    parts += [f"on:{ground}"] if ground not in ("", "background") else []
    return "+".join(parts)


def _name(colour: RichColor | None, names: dict[str, str]) -> str:
    if colour is None:
        return ""
    exact = names.get(colour.get_truecolor().hex)
    return exact or next((name for known, name in names.items() if _close(known, colour.get_truecolor().hex)), "other")


def _close(one: str, other: str) -> bool:
    """Textual carries its own base colours through another colour space, which rounds."""
    return all(abs(int(one[at : at + 2], 16) - int(other[at : at + 2], 16)) <= 2 for at in (1, 3, 5))


def _names(app: App[Any]) -> dict[str, str]:
    """Colour to variable: ours first by name, so that two of one colour always read the same."""
    from textual.color import Color

    from interlock.tui.themes import VARIABLES

    theme = app.current_theme
    base = (
        "foreground",
        "background",
        "surface",
        "panel",
        "accent",
        "primary",
        "secondary",
        "error",
        "success",
        "warning",
    )
    first, rest = base[:2], base[2:]
    pairs = [(key, getattr(theme, key)) for key in first] + [(key, theme.variables.get(key)) for key in VARIABLES]
    pairs += [(key, getattr(theme, key)) for key in rest]
    names: dict[str, str] = {}
    for key, value in pairs:
        if value:
            names.setdefault(Color.parse(value).rich_color.get_truecolor().hex, key)
    return names
