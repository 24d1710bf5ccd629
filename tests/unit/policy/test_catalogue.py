"""The catalogue of programs, held against itself: what one entry says must agree with every other and with the code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from interlock.runtime.policy.programs.catalogue import program_of, programs, table_of
from interlock.runtime.policy.programs.check import CHECKS
from interlock.runtime.policy.programs.entry import EntryError, Program, option_names, read_entry
from interlock.runtime.policy.programs.handlers import HANDLERS
from interlock.runtime.policy.programs.role import FLAGS, ROLES, VALUES
from interlock.runtime.policy.programs.usage import read_usage

_FOLDER = files("interlock.runtime.policy.programs").joinpath("data")
_FILES = {
    file.name: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in _FOLDER.iterdir()
    if file.name.endswith(".toml")
}
_TABLES: dict[str, dict[str, Any]] = {name: table for found in _FILES.values() for name, table in found.items()}
_ENTRIES = programs()


def _roles(entry: Program) -> Iterator[str]:
    yield from entry.options.values()
    yield from (slot.role for slot in entry.operands)
    yield from (slot.role for _, form in entry.forms for slot in form)


def _with_options(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if key in FLAGS or key in VALUES:
            yield from ((option, key) for option in option_names(value))


def test_every_entry_loads_and_there_are_many() -> None:
    assert len(_ENTRIES) == len(_TABLES) > 700


def test_a_name_or_alias_stands_once_in_all_files() -> None:
    seen: dict[str, str] = {}
    for file, tables in _FILES.items():
        for name, table in tables.items():
            front = name.split()[:-1]
            for one in (name, *(" ".join((*front, alias)) for alias in table.get("aliases", "").split())):
                assert one not in seen, f"{one} stands in {file} and in {seen[one]}"
                seen[one] = file


def test_every_alias_is_found_however_it_is_written() -> None:
    """Names are looked for in the text before TOML reads it."""
    for name, table in _TABLES.items():
        for alias in table.get("aliases", "").split() if " " not in name else ():
            entry = program_of(alias)
            assert entry is not None, alias
            assert entry.name == name


def test_no_option_of_an_entry_has_two_roles() -> None:
    twice = []
    for name, table in _TABLES.items():
        roles: dict[str, str] = {}
        for option, role in _with_options(table):
            if roles.setdefault(option, role) != role:
                twice.append((name, option, roles[option], role))
    assert not twice


def test_every_option_that_a_key_speaks_of_is_listed_with_its_role() -> None:
    missing = []
    for entry in _ENTRIES:
        spoken = {*entry.given, *entry.optional, *entry.shows, *(option for form, _ in entry.forms for option in form)}
        missing += [(entry.name, option) for option in spoken if option[:1] == "-" and option not in entry.options]
    assert not missing


def test_a_sub_command_belongs_to_a_program_that_has_an_entry() -> None:
    roots = {name.split()[0] for name in _TABLES if " " in name}
    assert {"7z", "git"} <= roots
    assert [root for root in roots if root not in _TABLES] == []


def test_what_an_entry_is_like_has_an_entry_and_no_circle_is_made() -> None:
    for name, table in _TABLES.items():
        seen = {name}
        while (like := table.get("like")) is not None:
            assert like in _TABLES
            assert like not in seen, f"{name} is like itself"
            seen.add(like)
            table = _TABLES[like]


def test_handlers_are_named_by_an_entry_and_entries_name_handlers_that_there_are() -> None:
    checks = {entry.check for entry in _ENTRIES if not entry.check.startswith("git")} - {""}  # those are git's own
    touches = {entry.touches for entry in _ENTRIES} - {""}
    assert checks <= set(CHECKS)
    assert touches <= set(HANDLERS)
    assert set(CHECKS) - checks == set(), "nobody asks for it"
    assert set(HANDLERS) - touches == set(), "nobody asks for it"


def test_a_program_that_only_reads_has_a_form_that_only_reads() -> None:
    """Else `only-reads` says nothing, and is a mistake of whoever wrote it."""
    for entry in _ENTRIES:
        if not entry.only_reads or entry.check:
            continue
        forms = [entry.operands, *(form for _, form in entry.forms)]
        assert any(all(ROLES[slot.role].harmless for slot in form) for form in forms) or entry.operands, entry.name


def test_a_program_that_only_reads_spills_nothing_unless_an_option_makes_it_show() -> None:
    assert [entry.name for entry in _ENTRIES if entry.only_reads and entry.spills and not entry.shows] == []


def test_what_changes_files_by_its_nature_does_not_count_as_reading() -> None:
    names = ["rm", "rmdir", "unlink", "shred", "truncate", "mv", "cp", "ln", "install", "dd", "tee", "sponge", "touch"]
    names += ["mkdir", "chmod", "chown", "patch", "split", "csplit", "zip"]
    for name in names:
        entry = program_of(name)
        assert entry is not None
        assert not entry.only_reads, name


def test_a_value_that_may_stand_in_the_same_word_alone_is_not_looked_for_in_the_next() -> None:
    usage = read_usage("od", ["-w", "a"])
    assert usage is not None
    assert usage.of("read") == ["a"]
    usage = read_usage("od", ["-w16", "a"])
    assert usage is not None
    assert usage.of("read") == ["a"]
    assert usage.unlisted == ()


def test_operands_may_depend_on_an_option() -> None:
    for words, read in ((["-t", "d", "a", "b"], ["a", "b"]), (["a", "d"], ["a"])):
        usage = read_usage("cp", words)
        assert usage is not None
        assert usage.of("read") == read
        assert usage.of("write", "folder") == ["d"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"flagg": "-a"}, "nobody knows the key flagg"), ({"operands": "reed"}, "cannot be reed"), ({"flag": 1}, "takes a text"),
        ({"most": True}, "takes a number"), ({"below": 1}, "true or false"), ({"operands": "read* write*"}, "only one kind"),
        ({"forms": "read"}, "takes a table"), ({"forms": {"-a": "reed"}}, "cannot be reed"),
        ({"code": "magic"}, "code is one of"),
        ({"plus": "reed"}, "cannot be reed"),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_meant_is_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(EntryError, match=said):
        read_entry("x", table)


def test_entries_read_one_by_one_are_what_toml_says_of_the_whole_files() -> None:
    """ours: the files are taken apart by their headings, which a reader of TOML would not need to."""
    assert {name: table_of(name) for name in _TABLES} == _TABLES
    names = {" ".join((*name.split()[:-1], word)) if " " in name else word for name, table in _TABLES.items()
             for word in str(table.get("aliases", "")).split()}  # fmt: skip
    assert all(program_of(name) is not None for name in names if " " not in name)
    assert len(names) > 500
