"""What a program does is told in one place: outside `policy/programs` no table names programs. (architecture.md, one fact, one place)

A finding is a literal (set, tuple, list, dict, or the words of a text given to `names`, `split`, `frozenset`, `set`)
of which at least three words, and more than half, are names or aliases in the catalogue.
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
NAMES = frozenset(name for entry in programs() if " " not in entry.name for name in (entry.name, *entry.aliases))

ALLOWED: dict[tuple[str, str], str] = {}
"""(module, the words) -> why it may stand there."""


def tables(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Every literal of words in a module: where, and its words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            yield node.lineno, _words(node.elts)
        elif isinstance(node, ast.Dict):
            yield node.lineno, _words([key for key in node.keys if key is not None])
        elif isinstance(node, ast.Call):
            texts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            yield node.lineno, [word for text in _words(texts) for word in re.split(r"[\s|,]+", text) if word]


def _words(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def named(words: list[str]) -> bool:
    """Whether these words are a table of programs."""
    found = [word for word in words if word in NAMES]
    return len(set(found)) >= 3 and 2 * len(found) > len(words)


def findings(path: Path) -> list[tuple[int, str]]:
    return [
        (line, " ".join(sorted(set(words))))
        for line, words in tables(ast.parse(path.read_text(encoding="utf-8")))
        if named(words)
    ]
