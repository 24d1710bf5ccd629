"""Keys, footer, help and docs come from one place. (screen.md section 3)"""

from __future__ import annotations

import subprocess
import sys

import pytest

from interlock.tui.commands import (
    ANSWERS,
    REGISTRY,
    AllowOnce,
    Command,
    KeymapError,
    bind,
    clashes,
    help_rows,
    key_label,
    keymap,
    keys_of,
    keys_page,
)


@pytest.mark.parametrize("command", REGISTRY.values(), ids=REGISTRY)
def test_every_command_has_key_tooltip_and_docs_row(command: type[Command]) -> None:
    assert command.keys
    assert command.title
    assert command.help.endswith(".")
    assert command.binding().tooltip == command.help
    assert f"`{command.name}` |" in keys_page()


def test_no_two_commands_share_a_key_in_one_place() -> None:
    assert clashes() == []


def test_no_answer_is_on_enter_or_space() -> None:
    assert {key for command in ANSWERS for key in command.keys} & {"enter", "space"} == set()


def test_the_answers_are_those_of_the_card() -> None:
    assert "".join(command.keys[0] for command in ANSWERS) == "atsTrdmib"


def test_a_binding_carries_its_name_so_that_keys_can_change() -> None:
    (binding,) = bind(AllowOnce)
    assert (binding.id, binding.action, binding.key, binding.description) == ("allow_once", "allow_once", "a", "once")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"allow": "a"}, "no such command"),
        ({"allow_once": "a b"}, "is not a key"),
        ({"allow_once": ""}, "is not a key"),
        ({"allow_once": "enter"}, "never answers"),
        ({"allow_once": "y,space"}, "never answers"),
        ({"allow_once": "d"}, "allow_once and deny"),
        ({"allow_once": "q"}, "quit and allow_once"),
    ],
)
def test_a_key_map_that_cannot_work_says_why(changes: dict[str, str], said: str) -> None:
    with pytest.raises(KeymapError, match=said):
        keymap(changes)


def test_a_persons_keys_are_the_ones_that_help_shows() -> None:
    mine = keymap({"allow_once": "ctrl+y, f5"})
    assert keys_of(AllowOnce, mine) == ("ctrl+y", "f5")
    row = next(row for row in help_rows(["card"], mine) if row.name == "allow_once")
    assert row.keys == "Ctrl+Y  F5"


def test_help_of_a_place_leaves_out_the_others() -> None:
    names = {row.name for row in help_rows(["list"])}
    assert {"cursor_down", "show_help"} <= names
    assert "allow_once" not in names


@pytest.mark.parametrize(
    ("key", "label"), [("ctrl+p", "Ctrl+P"), ("slash", "/"), ("G", "G"), ("g", "g"), ("escape", "Esc"), ("f2", "F2")]
)
def test_keys_read_as_people_write_them(key: str, label: str) -> None:
    assert key_label(key) == label


def test_the_page_of_keys_is_printed_by_the_module() -> None:
    done = subprocess.run([sys.executable, "-m", "interlock.tui.commands"], capture_output=True, text=True, timeout=60)
    assert done.stdout == keys_page()
