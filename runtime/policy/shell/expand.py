"""What a word becomes: braces, tilde, variables whose value the text itself gives, field splitting.

Promises: a value is called known only when nothing outside the text decides it. Where a variable was set in sight the
likely value is given as a guess (`known` False): good enough to deny by, never to allow by. No files are looked at, so
patterns stay as written and are marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from interlock.runtime.policy.record import record
from interlock.runtime.policy.shell.printed import printed_by
from interlock.runtime.policy.shell.value import element, split_by, transformed
from interlock.runtime.policy.syntax.syntax import Arith, CapReachedError, Code, Items, Lit, Part, Var, Word

MAX_WORDS = 512
"""Words that one brace expansion, or a value without quotes, may make; more is a cap."""
MAX_BRACES = 24
MAX_VALUE = 100_000
"""Characters of a value that is followed."""

_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\Z")
_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_SPECIAL = re.compile(r"[{~*?\[]")
_NUMBERS = frozenset("?#$!")
_DEFAULTS = frozenset({":-", "-", ":=", "="})


@record
class Field:
    """One argument after expansion."""

    value: str
    known: bool
    glob: bool
    start: int
    end: int
    loose: bool = False
    """A name that a pattern gave, without quotes: it is split at blanks and may be a pattern again."""
    below: bool = False
    """A folder that stands for every file that was found below it."""


@record
class Bound:
    """A variable that may have several values: these words, or, where there are none, text that is shown anyway."""

    items: tuple[Field, ...]


Value = str | Bound | None
"""What the text says of a variable; None: nothing."""


@record
class Scope:
    """The values that the text has given so far."""

    values: Mapping[str, Value]
    home: str | None


def is_literal(part: Part) -> bool:
    """Whether the part's value is fixed by the text (or is a mere number)."""
    if isinstance(part, Var):
        return part.name in _NUMBERS and not part.op
    return isinstance(part, Lit) or (isinstance(part, Arith) and part.plain)


def shows_variable(word: Word) -> bool:
    """Whether a variable stands in the word."""
    return any(isinstance(part, Var) and not is_literal(part) for part in word.parts)


def expand(word: Word, scope: Scope) -> list[Field]:
    """The arguments that `word` becomes. Raises CapReachedError where these are too many."""
    if len(word.parts) == 1 and isinstance(only := word.parts[0], Lit) and (only.quoted or not _special(only.value)):
        return [Field(only.value, True, False, word.start, word.end)]
    found: list[Field] = []
    for parts in expand_braces(word.parts):
        found.extend(_fields(parts, word, scope))
    return found


def literal_fields(words: list[Word]) -> list[Field] | None:
    """The arguments, where each word is one literal text that nothing is made of; else None."""
    found: list[Field] = []
    for word in words:
        if len(word.parts) != 1 or not isinstance(only := word.parts[0], Lit):
            return None
        if not only.quoted and _special(only.value):
            return None
        found.append(Field(only.value, True, False, word.start, word.end))
    return found


def value_of(word: Word, scope: Scope) -> str | None:
    """The word as one string without splitting (assignments, redirect targets); None when not even a guess exists."""
    return _whole([guess(part, scope) for part in _tilde(word.parts, scope)])


def _special(text: str) -> bool:
    return _SPECIAL.search(text) is not None


def _fields(parts: list[Part], word: Word, scope: Scope) -> Iterator[Field]:
    parts = _tilde(parts, scope)
    known = all(is_literal(p) for p in parts) and not _opens_home(parts)
    glob = _is_pattern(parts)
    values = _split(parts, scope)
    if values is None:
        yield Field(word.text, False, glob, word.start, word.end)
        return
    for value in values:
        yield Field(value, known, glob, word.start, word.end)


def _is_pattern(parts: list[Part]) -> bool:
    return bool(_GLOB.search("".join(p.value for p in parts if isinstance(p, Lit) and not p.quoted)))


def _opens_home(parts: list[Part]) -> bool:
    # a tilde that could not be replaced: another user's home, or ours when it is not known
    return bool(parts) and isinstance(parts[0], Lit) and not parts[0].quoted and parts[0].value.startswith("~")


def _tilde(parts: list[Part], scope: Scope) -> list[Part]:
    head = parts[0] if parts else None
    if not isinstance(head, Lit) or head.quoted or not head.value.startswith("~"):
        return parts
    rest = parts[1].value if len(parts) > 1 and isinstance(parts[1], Lit) and not parts[1].quoted else ""
    home = scope.values.get("HOME", scope.home)
    if head.value == "~" and isinstance(home, str) and (len(parts) == 1 or rest.startswith("/")):
        return [Lit(home, True), *parts[1:]]
    return parts


def _split(parts: list[Part], scope: Scope) -> list[str] | None:
    """The fields, or None when a part has no value that could be guessed."""
    done: list[str] = []
    current: str | None = None
    for part in parts:
        value = guess(part, scope)
        if value is None:
            return None
        if isinstance(part, Var | Code) and (not part.quoted or (isinstance(part, Var) and _is_list(part))):
            words = split_by(value, scope.values.get("IFS"))
            if len(words) > MAX_WORDS:
                raise CapReachedError(f"a value makes more than {MAX_WORDS} words")
            if value[:1].isspace() and current is not None:
                done.append(current)
                current = None
            for i, text in enumerate(words):
                current = text if i or current is None else current + text
                if i < len(words) - 1 or value[-1:].isspace():
                    done.append(current)
                    current = None
        else:
            current = (current or "") + value
    if current is not None:
        done.append(current)
    return done


def _is_list(part: Var) -> bool:
    """`"$@"` and `"${x[@]}"` are several words also in quotes."""
    index = "".join(p.value for p in part.arg if isinstance(p, Lit)) if part.op == "[" else ""
    return part.name == "@" or index.startswith("[@]")


def guess(part: Part, scope: Scope) -> str | None:
    """The likely value of a part; None when the text gives none."""
    match part:
        case Lit():
            return part.value
        case Var():
            return _guess_variable(part, scope)
        case Arith():
            return "0" if part.plain else None
        case Code():
            return None if part.via.startswith(("<", ">")) else printed_by(part.body, lambda word: text_of(word, scope))
        case Items():
            words = [value_of(word, scope) for word in part.words]
            return None if any(word is None for word in words) else " ".join(word or "" for word in words)


def text_of(word: Word, scope: Scope) -> str | None:
    """The word as one likely text, where it holds no pattern."""
    if any(isinstance(p, Lit) and not p.quoted and _special(p.value) for p in word.parts):
        return None
    return value_of(word, scope)


def _guess_variable(part: Var, scope: Scope) -> str | None:
    if part.name in _NUMBERS and not part.op:
        return "0"
    value = _found(part.name, scope)
    if part.op in _DEFAULTS:
        return value or _join(part.arg, scope)
    if part.op in (":+", "+"):
        return _join(part.arg, scope) if value or part.name not in scope.values else None
    if part.op in ("", "@P", "@E", "@Q") or value is None:
        return value if part.op != "!" else None
    if part.op == "!":
        return _found(value, scope)
    arg = _join(part.arg, scope) or ""
    if part.op == "[":
        index, _, rest = arg[1:].partition("]")
        value = _found(part.name + element(index), scope) or (value if index.strip() in ("0", "@", "*") else None)
        return value if value is None or not rest else transformed(value, rest[0], rest)
    return transformed(value, part.op, arg)


def _found(name: str, scope: Scope) -> str | None:
    found = scope.values.get(name)
    value = _only(found) if isinstance(found, Bound) else found
    if value is None and name not in scope.values:
        value = scope.home if name == "HOME" else _LIKELY.get(name)
    return value


_LIKELY = {"IFS": " \t\n", "@": "", "*": "", "SHELL": "sh", "BASH": "bash", "0": "bash"}
"""What a variable holds that the text does not set."""


def _only(bound: Bound) -> str | None:
    """The one value that is left."""
    return bound.items[0].value if len(bound.items) == 1 and not bound.items[0].glob else None


def _join(parts: list[Part], scope: Scope) -> str | None:
    return _whole([guess(p, scope) for p in parts])


def _whole(pieces: list[str | None]) -> str | None:
    """The pieces as one; None when one is not known, or when a value that doubles itself has grown too long."""
    if any(p is None for p in pieces) or sum(len(p or "") for p in pieces) > MAX_VALUE:
        return None
    return "".join(p or "" for p in pieces)


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    """`{a,b}` and `{1..3}` written out, in bash's order; the parts themselves when there are none."""
    opens = sum(p.value.count("{") for p in parts if isinstance(p, Lit) and not p.quoted)
    if not opens:
        return [parts]
    if opens > MAX_BRACES:
        raise CapReachedError(f"more than {MAX_BRACES} braces in a word")
    atoms: list[Part] = []
    for part in parts:
        if isinstance(part, Lit) and not part.quoted:
            atoms.extend(Lit(c, False) for c in part.value)
        else:
            atoms.append(part)
    return [_merge(one) for one in _braces(atoms)]


def _merge(atoms: list[Part]) -> list[Part]:
    found: list[Part] = []
    for atom in atoms:
        last = found[-1] if found else None
        if isinstance(atom, Lit) and isinstance(last, Lit) and not atom.quoted and not last.quoted:
            found[-1] = Lit(last.value + atom.value, False)
        else:
            found.append(atom)
    return found


def _is(atom: Part, c: str) -> bool:
    return isinstance(atom, Lit) and not atom.quoted and atom.value == c


def _braces(atoms: list[Part]) -> list[list[Part]]:
    for i, atom in enumerate(atoms):
        if _is(atom, "{") and (choice := _alternatives(atoms, i)):
            end, options = choice
            tails = _braces(atoms[end + 1 :])
            heads = [one for option in options for one in _braces(option)]
            if len(heads) * len(tails) > MAX_WORDS:
                raise CapReachedError(f"a brace expansion makes more than {MAX_WORDS} words")
            return [atoms[:i] + head + tail for head in heads for tail in tails]
    return [atoms]


def _alternatives(atoms: list[Part], start: int) -> tuple[int, list[list[Part]]] | None:
    """The closing place and the choices of the brace that opens at `start`; None when it is plain text."""
    level, commas = 0, [start]
    for i in range(start, len(atoms)):
        level += _is(atoms[i], "{") - _is(atoms[i], "}")
        if level == 1 and _is(atoms[i], ","):
            commas.append(i)
        if level == 0:
            if len(commas) > 1:
                return i, [atoms[a + 1 : b] for a, b in zip(commas, [*commas[1:], i], strict=True)]
            options = _range(atoms[start + 1 : i])
            return (i, options) if options else None
    return None


def _range(atoms: list[Part]) -> list[list[Part]]:
    text = "".join(a.value if isinstance(a, Lit) and not a.quoted else "\0" for a in atoms)
    match = _RANGE.match(text)
    if not match:
        return []
    first, last, step = match.groups()
    if first.isalpha() != last.isalpha():
        return []
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first[:9]), int(last[:9]))
    stride = max(1, abs(int((step or "1")[:9])))
    if abs(high - low) // stride > MAX_WORDS:
        raise CapReachedError(f"a brace expansion makes more than {MAX_WORDS} words")
    numbers = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    return [[Lit(chr(n) if first.isalpha() else str(n), False)] for n in numbers]
