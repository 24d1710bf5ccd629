"""Assignments: what a later word may find in a variable or an array.

Promises: a value that the text does not give is kept as unknown, never left as it was. Pure but for the state it fills.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interlock.runtime.policy.programs.variable import may_be_set
from interlock.runtime.policy.shell.expand import MAX_VALUE, Bound, Field, value_of
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.value import element, split_by
from interlock.runtime.policy.syntax.syntax import Assign, Items, Word

_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[([^\]$`]*)\]\+?=")
_MOST_ELEMENTS = 200
_PLAIN_TEXT = re.compile(r"[\w./,:+ -]*")


def assign(pairs: Iterable[Assign], state: State) -> None:
    """Take over `name=value`, `name+=value`, `name=(…)` and `name[i]=value`."""
    for one in pairs:
        items = next((part for part in one.value.parts if isinstance(part, Items)), None)
        if one.simple:
            state.values[one.name] = value_of(one.value, state.scope())
            state.values.pop(one.name + "[@]", None)
        elif items is not None:
            _array(one.name, items, state, more=one.adds)
        elif subscript := _SUBSCRIPT.match(one.value.text):
            _element(one.name, subscript, one.value, state)
        else:
            _appended(one, state)


def _array(name: str, items: Items, state: State, *, more: bool) -> None:
    words = [value_of(word, state.scope()) for word in items.words[:_MOST_ELEMENTS]]
    known = None if any(word is None for word in words) else [word or "" for word in words]
    set_array(name, known, state, more=more)


def set_array(name: str, words: list[str] | None, state: State, *, more: bool = False) -> None:
    """The elements of an array; None: known only at run time."""
    before = state.values.get(name + "[@]") if more else ""
    size = sum(map(len, words or ())) + (len(before) if isinstance(before, str) else 0)
    if words is None or not isinstance(before, str) or size > MAX_VALUE:
        state.values[name] = state.values[name + "[@]"] = None
        return
    first = len(before.split())
    for i, word in enumerate(words, first):
        state.values[name + element(str(i))] = word
    whole = " ".join([before, *words]).strip()
    state.values[name + "[@]"] = whole
    if not more or first == 0:
        state.values[name] = words[0] if words else ""


def _element(name: str, subscript: re.Match[str], word: Word, state: State) -> None:
    text = value_of(word, state.scope())
    value = None if text is None else text.partition("=")[2]
    state.values[name + element(subscript[1])] = value
    if subscript[1].strip() == "0":
        state.values[name] = value
    every = state.values.get(name + "[@]", "")
    fits = isinstance(every, str) and value is not None and len(every) + len(value) <= MAX_VALUE
    state.values[name + "[@]"] = f"{every} {value}".strip() if fits else None


def _appended(one: Assign, state: State) -> None:
    before, added = state.values.get(one.name), value_of(one.value, state.scope())
    grows = isinstance(before, str) and added is not None and len(before) + len(added) <= MAX_VALUE
    state.values[one.name] = f"{before}{added}" if grows else None


def read_into(names: list[str], text: str, state: State, *, raw: bool, separators: object) -> None:
    """`read a b <<< text`: each name has a word, the last one the rest."""
    line = text.partition("\n")[0]
    words = split_by(line, separators)
    custom = isinstance(separators, str) and bool(separators.strip())
    exact = raw and not custom and bool(_PLAIN_TEXT.fullmatch(line))
    for i, name in enumerate(names):
        value = " ".join(words[i:]) if i == len(names) - 1 else "".join(words[i : i + 1])
        bounded = exact and may_be_set(name)
        state.values[name] = Bound((Field(value, True, False, 0, 0),)) if bounded and value else value
