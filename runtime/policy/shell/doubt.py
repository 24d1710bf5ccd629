"""Why a simple command is not fully understood, as far as its own words say. Pure."""

from __future__ import annotations

from interlock.runtime.policy.shell.expand import Field, is_literal, shows_variable
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.syntax.syntax import Arith, Simple


def is_plain(node: Simple, fields: list[Field]) -> bool:
    """Whether the text alone gives every word."""
    return all(field.known for field in fields) and all(is_literal(p) for word in node.words for p in word.parts)


def why_not(node: Simple, fields: list[Field], state: State, *, unknown: bool) -> list[str]:
    """Why a command is not fully understood by its own words; `unknown`: some are not plain, and no bound holds."""
    notes: list[str] = []
    if node.words and not all(map(is_literal, node.words[0].parts)):
        notes.append("the program is known only at run time")
    if unknown:
        notes.append("an argument is known only at run time")
    if node.redirs:
        notes += _redirected(node)
    if fields and fields[0].glob:
        notes.append("the program is a pattern")
    if fields and ((name := fields[0].value) in state.functions or name in state.rebound or name in state.aliases):
        notes.append(f"{name} was given another meaning before")
    return notes


def _redirected(node: Simple) -> list[str]:
    notes: list[str] = []
    if any(isinstance(p, Arith) and not p.plain for r in node.redirs for p in r.word.parts):
        notes.append("arithmetic on variables can run code")
    if any(r.operator in ("<<", "<<<") and shows_variable(r.word) for r in node.redirs):
        notes.append("a here-document shows a value known only at run time")
    return notes
