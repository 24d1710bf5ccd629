"""Words whose value only run time tells, where the text tells all that the value can be or do.

Promises: words are given only for a program of the tables of what reads, and only where no value that the bound allows
could be an option, a file that is not named, or have a second meaning; None in every other case, which leaves the word
unknown. The bounds: a loop over words in sight, the output of a command that is itself listed, a pipe `<(…)`, the files
that find finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from interlock.runtime.policy.programs import program_of, read_usage
from interlock.runtime.policy.programs.catalogue import has_subcommands
from interlock.runtime.policy.programs.find import find_paths
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.variable import holds_no_secret
from interlock.runtime.policy.shell.expand import Bound, Field, Scope, expand, is_literal
from interlock.runtime.policy.syntax.syntax import Code, Lit, Part, Simple, Var, Word

_MOST_ITEMS = 50
_CUTS = frozenset({"", "%", "#", "/", "^", ","})
"""Expansions that show a part of a value and nothing else."""
_ONLY_NAMES = re.compile(r"-[rinwEFHs]*[lLcq][rinwEFHs]*")
_FILE_TEST = re.compile(r"-[fdesrwxLhS]")
_NOT_PLAIN_FIND = names(
    "-o -or , -L -follow -printf -print -ls -fls -fprint -fprintf -fprint0 -files0-from -execdir -ok -okdir"
)


_WITHOUT_PATTERNS = names("pwd whoami nproc seq date uname hostname id")
_GIT_WITHOUT_PATTERNS = names("rev-parse branch describe merge-base ls-files")


class _Group(NamedTuple):
    """What one word may become."""

    fields: list[Field]
    literal: bool


def bound_of(words: Sequence[Word], scope: Scope) -> Bound | None:
    """What a loop over `words` gives its variable; None when it may be anything."""
    if words and all(is_literal(part) for word in words for part in word.parts):
        fields = [field for word in words for field in expand(word, scope)]
        outside = any(f.glob and (f.value.startswith(("/", "~")) or ".." in f.value) for f in fields)
        known = len(fields) <= _MOST_ITEMS and all(field.known for field in fields)
        return Bound(tuple(fields)) if known and not outside else None
    shown = all(_is_shown(part, scope) and _stays(part, scope) for word in words for part in word.parts)
    return Bound(()) if words and shown else None


def bounded_fields(words: Sequence[Word], scope: Scope) -> list[Field] | None:
    """The words of a command, with a word for each value of those that are bounded; None when one is not."""
    first = expand(words[0], scope) if words and all(map(is_literal, words[0].parts)) else []
    if len(first) != 1 or first[0].glob or not first[0].known:
        return None
    name = _plain_name(first[0])
    if _prints(name) == "words":
        return _printed(name, words, scope, first)
    if name in ("[", "test"):
        return _tested(words, scope, first)
    if not _takes_files(name):
        return None
    return _as_files([_Group(first, True), *(_spread(word, scope) for word in words[1:])])


def found_fields(words: Sequence[Field], find: Sequence[Field], *, loose: bool = False) -> list[Field] | None:
    """What a find gives a program for `{}`: the places where it begins stand for all that is below them.

    `loose`: names are split at blanks on the way.
    """
    values = [field.value for field in find]
    places = find_paths(values)
    name = _plain_name(words[0])
    if not all(field.known for field in find) or any(place.startswith("-") for place in places):
        return None
    if not (_prints(name) or _finds_files_alone(values) or _names_alone(name, words)):
        return None
    start, end = words[0].start, words[0].end
    spread = _Group([Field(place, True, _is_pattern(place), start, end, loose, True) for place in places], False)
    groups = [_Group([f], True) if f.known else spread if f.value == "{}" else _Group([], False) for f in words]
    if name in ("echo", "basename", "dirname"):
        return [*words[:1], *(Field(f.value, f.known, f.glob, f.start, f.end) for f in words[1:])]
    return _as_files(groups) if _takes_files(name) else None


def _is_pattern(place: str) -> bool:
    return any(c in place for c in "*?[")


def prints_alone(words: Sequence[Field]) -> bool:
    """Whether a program, whatever words it is given at its end, prints them and does nothing else."""
    return _plain_name(words[0]) in ("echo", "basename", "dirname") and all(w.known and not w.glob for w in words)


def prints_names(values: Sequence[str], *, lines: bool = False) -> bool:
    """Whether a find prints names of files and nothing else: `find … -print0`; `lines`: a line each."""
    ends = "-print0" not in values if lines else values[-1:] == ["-print0"]
    return ends and not set(values) & {*_NOT_PLAIN_FIND, "-exec", "-delete"}


def _plain_name(field: Field) -> str:
    return field.value.removeprefix("/usr/bin/").removeprefix("/bin/")


def _finds_files_alone(values: Sequence[str]) -> bool:
    """No link can be among them, so what is read lies where it was found."""
    cut = values[: values.index("-exec")] if "-exec" in values else values
    if set(cut) & _NOT_PLAIN_FIND or "-type" not in cut:
        return False
    at = cut.index("-type")
    return cut[at + 1 : at + 2] == ["f"] and cut[at - 1] not in ("!", "-not")


def _names_alone(name: str, words: Sequence[Field]) -> bool:
    return name in ("grep", "egrep", "fgrep") and any(_ONLY_NAMES.fullmatch(f.value) for f in words[1:])


def _as_files(groups: Sequence[_Group]) -> list[Field] | None:
    """Every word of every group, when the program's table takes those that are not literal as files it reads."""
    fields: list[Field] = []
    doubtful: set[int] = set()
    for group in groups:
        if not group.fields:
            return None
        if not group.literal:
            doubtful |= set(range(len(fields), len(fields) + len(group.fields)))
        fields.extend(group.fields)
    usage = read_usage(_plain_name(fields[0]), [f.value for f in fields[1:]])
    if usage is None or usage.program.most is not None:
        return None
    if any(fields[i].value[:1] in ("-", "+", "") for i in doubtful):
        return None
    files = {word.at for word in usage.words if word.role == "read" and not word.option}
    return fields if {i - 1 for i in doubtful} <= files else None


_PLAIN = ("", "grep", "file", "jq")
"""Handlers of what a program touches that take its operands as their roles say."""


def _takes_files(name: str) -> bool:
    """Whether the words of the program are files that it only reads, unless they are options or text."""
    entry = program_of(name)
    return entry is not None and entry.only_reads and entry.touches in _PLAIN and not has_subcommands(entry)


def _prints(name: str) -> str:
    entry = program_of(name)
    return entry.prints if entry is not None else ""


def _spread(word: Word, scope: Scope) -> _Group:
    """A word for each value that `word` may have; no words when that is not told."""
    if all(map(is_literal, word.parts)):
        fields = expand(word, scope)
        return _Group(fields if all(f.known for f in fields) else [], True)
    if len(word.parts) == 1 and isinstance(code := word.parts[0], Code) and code.via.startswith("<"):
        return _Group([Field(word.text, False, False, word.start, word.end)], False)
    bounds = [_bound(part, scope) for part in word.parts if not isinstance(part, Lit)]
    if len(bounds) != 1 or (bound := bounds[0]) is None:
        return _Group([], False)
    at = next(i for i, part in enumerate(word.parts) if not isinstance(part, Lit))
    part = word.parts[at]
    if not isinstance(part, Var) or part.op or not (part.quoted or all(map(_is_one_word, bound.items))):
        return _Group([], False)
    if any(isinstance(p, Lit) and not p.quoted and set(p.value) & set("{~*?[") for p in word.parts):
        return _Group([], False)
    before = "".join(p.value for p in word.parts[:at] if isinstance(p, Lit))
    after = "".join(p.value for p in word.parts[at + 1 :] if isinstance(p, Lit))
    made = [
        Field(before + item.value + after, True, item.glob, word.start, word.end, item.glob and not part.quoted)
        for item in bound.items
    ]
    return _Group(made, False)


def _is_one_word(item: Field) -> bool:
    """Also without quotes around the variable."""
    return not any(c.isspace() or c == "\\" or (c in "*?[" and not item.glob) for c in item.value)


def _bound(part: Part, scope: Scope) -> Bound | None:
    value = scope.values.get(part.name) if isinstance(part, Var) else None
    return value if isinstance(value, Bound) else None


def _is_shown(part: Part, scope: Scope) -> bool:
    """Whether a part is text, of the command or printed by one that is listed with it."""
    if is_literal(part):
        return True
    if isinstance(part, Code):
        return part.via in ("$(…)", "`…`")
    return (
        isinstance(part, Var)
        and part.op in _CUTS
        and _bound(part, scope) is not None
        and all(map(is_literal, part.arg))
    )


def _is_plain(part: Part, scope: Scope) -> bool:
    """`$PATH`, as the session has it: a variable that holds no secret and that this text has not set."""
    return isinstance(part, Var) and not part.op and part.name not in scope.values and holds_no_secret(part.name)


def _printed(name: str, words: Sequence[Word], scope: Scope, first: list[Field]) -> list[Field] | None:
    """Words that are printed: each may be any text that is shown anyway. A pattern looked for is a file that is read."""
    if name == "printf" and not (len(words) > 1 and all(map(is_literal, words[1].parts))):
        return None
    fields = list(first)
    for word in words[1:]:
        if all(map(is_literal, word.parts)):
            fields += expand(word, scope)
            continue
        if not all(_is_shown(part, scope) or _is_plain(part, scope) for part in word.parts):
            return None
        if not all(_stays(part, scope) or _is_plain(part, scope) for part in word.parts) and name not in (
            "true",
            "false",
            ":",
        ):
            return None
        fields.append(Field(word.text, False, False, word.start, word.end))
    return fields


def _from_here(field: Field) -> Field:
    return replace(field, value=f"./{field.value}") if field.glob and field.value[:1] in "*?[" else field


def _stays(part: Part, scope: Scope) -> bool:
    """Whether a shell makes no new names of files of a part: without quotes it looks for files by what was printed."""
    if isinstance(part, Var):
        bound = _bound(part, scope)
        return part.quoted or is_literal(part) or (bound is not None and bool(bound.items))
    if not isinstance(part, Code) or part.quoted:
        return True
    node = part.body.items[0][0] if len(part.body.items) == 1 else None
    words = [w.text for w in node.words] if isinstance(node, Simple) else []
    if not words or not isinstance(node, Simple) or node.assigns:
        return False
    if words[0] == "git":
        return words[1:2] != [] and words[1] in _GIT_WITHOUT_PATTERNS and "format" not in node.text
    if words[0] in ("find", "ls"):
        return not set(words) & {"-printf", "-exec"}
    return words[0] in _WITHOUT_PATTERNS and not set(node.text) & set("*?[")


def _tested(words: Sequence[Word], scope: Scope, first: list[Field]) -> list[Field] | None:
    """`[ -f "$f" ]` over a loop's words, `[ -n "$x" ]`, `[ "$x" = text ]`."""
    inner = list(words[1:-1] if first[0].value == "[" else words[1:])
    if not inner or not all(part.quoted for w in inner for part in w.parts if isinstance(part, Var | Code)):
        return None
    texts = [w.text for w in inner]
    plain = [_spread(w, scope) for w in words[1:]]
    if len(inner) == 2 and _FILE_TEST.fullmatch(texts[0]) and all(group.fields for group in plain):
        # a loop's word is one word here, so no name of a file can be taken for an option
        return [*first, *(_from_here(field) for group in plain for field in group.fields)]
    shaped = (len(inner) == 2 and texts[0] in ("-n", "-z")) or (len(inner) == 3 and texts[1] in ("=", "==", "!="))
    if not shaped or not all(_is_shown(part, scope) for w in inner for part in w.parts):
        return None
    known = [expand(w, scope) if all(map(is_literal, w.parts)) else [] for w in words[1:]]
    return [
        *first,
        *(f for w, k in zip(words[1:], known, strict=True) for f in k or [Field(w.text, False, False, w.start, w.end)]),
    ]
