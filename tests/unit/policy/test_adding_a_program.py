"""docs/adding-a-program.md holds: it names every key and role and none that is not there, and its examples do what it says."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from interlock.runtime.policy.programs import catalogue, read_only, touched, usage
from interlock.runtime.policy.programs.entry import CODE_KINDS, EntryError, Program, read_entry
from interlock.runtime.policy.programs.role import FLAGS, OPERANDS, ROLES, VALUES

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-program.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```toml\n# (\S+)\n(.*?)```", PAGE, re.S))
COMMANDS = re.findall(r"^\| `(.+?)` \| ((?:only reads|does more).*?) \|$", PAGE, re.M)
_CACHES = (
    catalogue._texts, catalogue._names, catalogue._entry, catalogue.table_of, catalogue.program_of,
    catalogue.subcommand_of, catalogue.has_subcommands, usage._kept,
)  # fmt: skip


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def named_in(title: str) -> list[str]:
    rows = re.findall(r"^\| (`.+?`) \|", section(title), re.M)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_page_names_every_role_once_and_none_that_is_not_there() -> None:
    assert sorted(named_in("Roles")) == sorted(ROLES)


def test_the_page_says_of_every_role_whether_it_is_harmless() -> None:
    rows = re.findall(r"^\| (`.+?`) \| (yes|no) \|", section("Roles"), re.M)
    said = {name: word == "yes" for row, word in rows for name in re.findall(r"`([^`]+)`", row)}
    assert said == {name: role.harmless for name, role in ROLES.items()}


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    tables = re.split(r"\n\n(?=[A-Z])", section("Roles"))
    said = [
        {n for row in re.findall(r"^\| (`.+?`) \|", t, re.M) for n in re.findall(r"`([^`]+)`", row)} for t in tables
    ]
    assert [names for names in said if names] == [set(FLAGS), set(VALUES), set(OPERANDS) - set(VALUES)]


def test_the_page_names_every_key_once_and_none_that_is_not_there() -> None:
    keys = {field.name.replace("_", "-") for field in fields(Program)} - {"name", "options"} | {"like"}
    assert sorted(named_in("Keys")) == sorted(keys)
    row = next(line for line in section("Keys").splitlines() if line.startswith("| `code`"))
    assert set(re.findall(r"`([^`]+)`", row)) - {"code"} == set(CODE_KINDS)


def test_the_page_names_every_file_of_the_catalogue() -> None:
    kinds = PAGE.split("file of its kind")[1].split("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", kinds)) == [file.name.removesuffix(".toml") for file in catalogue.data_files()]


@pytest.mark.parametrize("key", sorted(set(named_in("Keys")) - {"like"}))
def test_a_key_of_the_page_is_one_that_an_entry_may_have(key: str) -> None:
    """`read_entry` refuses a key that it does not know; one that it knows is at most of the wrong kind."""
    faults = {_fault_of({key: value}) for value in ("", "text", True, 1, {})}
    assert not any("nobody knows" in fault for fault in faults)
    assert "" in faults


def _fault_of(table: dict[str, object]) -> str:
    try:
        read_entry("x", table)
    except EntryError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def with_examples() -> Iterator[None]:
    """The catalogue with the entries of the page."""
    texts = dict(catalogue._texts())
    for text in EXAMPLES.values():
        for piece in re.split(r"(?m)^(?=\[)", text)[1:]:
            name = next(iter(tomllib.loads(piece)))
            assert name not in texts
            texts[name] = piece
    patch = pytest.MonkeyPatch()
    patch.setattr(catalogue, "_texts", lambda: texts)
    _forget()
    yield
    patch.undo()
    _forget()


def _forget() -> None:
    for cached in _CACHES:
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def test_the_examples_are_a_reader_and_a_writer() -> None:
    assert set(EXAMPLES) == {"reader", "writer"}
    made = {name: read_entry(name, table) for text in EXAMPLES.values() for name, table in tomllib.loads(text).items()}
    assert made["tally"].only_reads
    assert not made["tally"].may_run_code
    assert made["shipit push"].may_run_code
    assert not made["shipit push"].only_reads
    assert len(COMMANDS) >= 11


@pytest.mark.usefixtures("with_examples")
@pytest.mark.parametrize(("command", "want"), COMMANDS)
def test_what_the_page_says_of_a_command_comes_out(command: str, want: str) -> None:
    name, *args = shlex.split(command)
    why = read_only.against_reading(name, args)
    seen = touched.touched_by(name, args, reads_only=not why)
    found = ["does more" if why else "only reads"]
    found += [f"{touch.use} {touch.text}{'/**' if touch.below else ''}" for touch in seen.touches if touch.certain]
    found += [f"suspect {text}" for text in seen.suspects]
    found += [f"host {host}" for host in seen.hosts]
    assert sorted(found) == sorted(want.split("; ")), why
