"""What a program does is told in one place: outside `policy/programs` no table names programs.

A finding is a literal of words (set, tuple, list, keys of a dict, alternatives of a `case`, or one text of words) of which
at least three, and more than half, are names or aliases in the catalogue. What may stand nevertheless stands in
`ALLOWED`, by its place and with its reason; a reason for what is no longer there is a fault too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.runtime.policy.programs.catalogue import programs

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("runtime/policy", "runtime/engine", "runtime/tools", "runtime/gates", "runtime/state", "tui")
CATALOGUE = ROOT / "runtime/policy/programs"
MODULES = sorted(p for room in ROOMS for p in (ROOT / room).rglob("*.py") if not p.is_relative_to(CATALOGUE))
FIELDS = frozenset(("command", "type", "timeout"))
"""Programs whose names are fields of every agent's settings too."""
NAMES = frozenset(n for entry in programs() if " " not in entry.name for n in (entry.name, *entry.aliases)) - FIELDS

ALLOWED: dict[str, str] = {
    "runtime/gates/codex/command.py _SHELLS": "the forms in which Codex itself wraps a command, as its record shows them",
    "runtime/gates/codex/open_shell.py _opens": "what leaves a shell open, besides the shells that the catalogue knows",
    "runtime/gates/opencode/question.py _TOOLS": "names of tools of opencode, not of programs",
    "runtime/policy/verdict/floor.py _FORMATS": "the floor is said in full where it is decided, and no data can lower it",
    "runtime/policy/facts/folder_fact.py _PRINTING": "to whom a file named like an option does nothing; `prints` can say it",
    "runtime/policy/facts/own_command.py _RUNNERS": "the floor again: what might start `interlock answer`, wider than wrappers",
    "runtime/policy/shell/bounded.py _WITHOUT_PATTERNS": "what the output of a program cannot hold, which no entry says",
    "runtime/policy/shell/bounded.py found_fields": "programs for which the words that find hands over are text",
    "runtime/policy/shell/bounded.py prints_alone": "the same three, with all their words known",
    "runtime/policy/shell/bounded.py _PLAIN": "names of handlers, which are called like their programs",
    "runtime/policy/shell/builtin.py _forget_if_moved": "commands of the shell that the walker interprets itself",
    "runtime/policy/shell/builtin.py BUILTINS": "commands of the shell -> the function that interprets each",
    "runtime/policy/shell/carrier.py _ESCAPES": "roles of languages -> how one of their lines starts a shell",
    "runtime/policy/shell/classify.py _SHELL_CODE": "shells whose language our reader reads; fish and others are not",
    "runtime/policy/shell/client.py _commanded": "pagers that take commands from the variable LESS",
    "runtime/policy/shell/client.py _VIMS": "the keys of CLIENTS for one handler; to be said with the aliases of vim",
    "runtime/policy/shell/client.py CLIENTS": "program -> the function that finds what its lines run",
    "runtime/policy/shell/filters.py _PASSING": "filters that leave text as it is: what they print, which no entry says",
    "runtime/policy/shell/filters.py likely": "decoders that are computed here",
    "runtime/policy/shell/frame.py _WANTED": "what a pattern in the place of a program is taken for, only ever to deny by",
    "runtime/policy/shell/opener.py _gh": "words of `gh alias set`, in a text that is run",
    "runtime/policy/shell/opener.py OPENERS": "program -> the function that finds what its words open",
    "runtime/policy/shell/terminal.py _screen": "commands of screen, not programs",
    "runtime/policy/shell/terminal.py TERMINALS": "program -> the function that finds what is typed there",
    "runtime/policy/shell/unwrap.py _feed_shell": "words in front of a shell on another machine",
    "runtime/policy/shell/unwrap.py _HANDLERS": "program -> the function that finds the programs it would run",
    "runtime/policy/shell/walk.py _LEAVING": "commands of the shell that the walker interprets itself",
    "runtime/policy/shell/walk.py _MOVES": "commands of the shell that the walker interprets itself",
    "runtime/policy/rules/spelling.py _SAME": "spellings of one option, for denies that are read widely; to move to the entries",
    "runtime/policy/rules/spelling.py _SINGLE_DASH": "the same; `one-dash` says it for most",
    "runtime/state/evidence.py _GOALS": "state knows no policy; `goal` of the entries says the same",
    "runtime/tools/footing/order_table.py _MORE": "what a call stands on, beyond what the catalogue calls code",
    "runtime/tools/footing/order_table.py _STARTERS": "the same: what puts the project's programs in front of PATH",
    "runtime/tools/footing/order_table.py _OWN_RULES": "the same: what reads a whole project by its own rules",
    "runtime/tools/footing/order_table.py PLAIN_ENDS": "the same: what a program puts behind a name",
    "runtime/tools/footing/order_table.py IMPLICIT": "the same: files that give orders unasked; to move to `heeds`",
    "runtime/tools/footing/order_table.py AT_HOME": "the same in the user's home",
}
"""Module and name of the statement -> why it may stand there."""


def tables(source: str) -> Iterator[tuple[str, list[str]]]:
    """Every literal of words in a module, with the name of the statement it stands in."""
    for statement in ast.parse(source).body:
        place = _name_of(statement)
        for node in ast.walk(statement):
            for words in _words_of(node):
                yield place, words


def _name_of(statement: ast.stmt) -> str:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")


def _words_of(node: ast.AST) -> Iterator[list[str]]:
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        yield _texts(node.elts)
    elif isinstance(node, ast.Dict):
        yield _texts([key for key in node.keys if key is not None])
    elif isinstance(node, ast.MatchOr):
        yield _texts([case.value for case in node.patterns if isinstance(case, ast.MatchValue)])
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.findall(r"[\w.+-]*[A-Za-z][\w.+-]*", node.value)


def _texts(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def is_table(words: list[str]) -> bool:
    """Whether these words are a table of programs."""
    found = [word for word in words if word in NAMES]
    return len(set(found)) >= 3 and 2 * len(found) > len(words)


def findings(path: Path) -> list[tuple[str, str]]:
    """Place and words of every table of programs in a module."""
    where = path.relative_to(ROOT).as_posix()
    found = tables(path.read_text(encoding="utf-8"))
    return [(f"{where} {place}", " ".join(words)) for place, words in found if is_table(words)]


def test_no_module_outside_the_catalogue_names_programs_in_a_table() -> None:
    found = dict(finding for path in MODULES for finding in findings(path))
    assert {place: words for place, words in found.items() if place not in ALLOWED} == {}


def test_every_exception_is_still_there() -> None:
    found = {place for path in MODULES for place, _ in findings(path)}
    assert sorted(set(ALLOWED) - found) == []


@pytest.mark.parametrize(
    "table",
    [
        '_X = frozenset(("cp", "mv", "rm", "of"))',
        '_X = names("cp mv rm")',
        '_X = "cp mv " "rm".split()',
        '_X = re.compile(r"cp|mv|rm")',
        '_X = {"cp": 1, "mv": 2, "rm": 3}',
        'def f(n):\n    return n in ["gawk", "gtar", "nodejs"]',
        'def f(n):\n    match n:\n        case "cp" | "mv" | "rm":\n            return 1',
    ],
)
def test_a_table_of_programs_is_found_in_any_form(table: str) -> None:
    assert any(is_table(words) for _, words in tables(table))


@pytest.mark.parametrize(
    "table",
    [
        '_X = ("cp", "mv")',
        '_X = ("cp", "mv", "rm", "sky", "cloud", "house")',
        '_X = {"type": 1, "command": 2, "timeout": 3}',
        'def f():\n    """Copy it, and say how many files there were at the end."""',
    ],
)
def test_words_that_are_no_table_of_programs_are_not(table: str) -> None:
    assert not any(is_table(words) for _, words in tables(table))
