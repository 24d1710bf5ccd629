"""Themes are data, checked. (screen.md section 2)"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from interlock.tui.safe_text import cells
from interlock.tui.signs import SIGNS, Sign, wants_ascii
from interlock.tui.themes import SHIPPED, VARIABLES, ThemeError, parse, shipped, user_themes, variable_defaults

DARK = files("interlock.themes").joinpath("dark.toml").read_text(encoding="utf-8")


def test_shipped_themes_are_whole_and_readable() -> None:
    assert [theme.name for theme in shipped()] == [f"interlock-{name}" for name in SHIPPED]
    for theme in shipped():
        assert set(theme.variables) == set(VARIABLES)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ask = "#f2b84b"', "", "variables.ask: is missing"),
        ('ask = "#f2b84b"', 'ask = "#f2b8"\nask = 1', "is not TOML"),
        ('ask = "#f2b84b"', 'ask = "blurple"', "variables.ask: 'blurple' is not a colour"),
        ('ask = "#f2b84b"', "ask = 7", "variables.ask: 7 is not a colour"),
        ('ask = "#f2b84b"', 'ask = "#222222"', "variables.ask: contrast"),
        ('ask = "#f2b84b"', 'ask = "#f2b84b"\nspam = "red"', "variables.spam: is not used"),
        ("dark = true", 'dark = "yes"', "dark: must be true or false"),
        ('name = "interlock-dark"', 'name = "a b"', "name: must be letters"),
        ("[base]", "[bas]", "bas: is not known"),
    ],
)
def test_a_bad_theme_says_file_key_and_remedy(old: str, new: str, said: str) -> None:
    with pytest.raises(ThemeError, match=r"^mine\.toml: ") as caught:
        parse(DARK.replace(old, new, 1), "mine.toml")
    assert said in str(caught.value)


def test_one_bad_theme_does_not_lose_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = 3")
    (tmp_path / "broken.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "mine.toml").write_text(DARK.replace("interlock-dark", "mine"))
    (tmp_path / "taken.toml").write_text(DARK)
    loaded = user_themes(tmp_path)
    assert [theme.name for theme in loaded.themes] == ["mine"]
    assert [Path(problem.source).name for problem in loaded.problems] == ["bad.toml", "broken.toml", "taken.toml"]
    assert user_themes(tmp_path / "none").themes == ()


def test_every_variable_of_a_stylesheet_is_one_of_ours_or_of_textual() -> None:
    assert set(variable_defaults()) == set(VARIABLES)


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_a_sign_is_one_cell_and_has_a_colour(sign: Sign) -> None:
    assert cells(sign.shown()) == cells(sign.shown(ascii_only=True)) == 1
    assert sign.shown(ascii_only=True).isascii()
    assert sign.variable in VARIABLES


def test_a_wide_sign_is_replaced() -> None:
    assert Sign("✅", "+", "ok", "").shown() == "+"


@pytest.mark.parametrize(
    ("environ", "ascii_only"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_ALL": "C.utf8"}, False),
        ({"INTERLOCK_ASCII": "1", "LANG": "en_US.UTF-8"}, True),
        ({"TERM": "linux"}, True),
        ({}, False),
    ],
)
def test_ascii_when_the_terminal_needs_it(environ: dict[str, str], ascii_only: bool) -> None:
    assert wants_ascii(environ) is ascii_only
