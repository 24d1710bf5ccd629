"""What `[[ … ]]` and arithmetic look at: files that are tested, values that are evaluated once more.

Promises: a file whose name only run time tells is given as None; values are given where the text set them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from interlock.runtime.policy.shell.expand import Bound, Scope, expand
from interlock.runtime.policy.shell.model import Redirect
from interlock.runtime.policy.syntax.syntax import Arith, Lit, Var, Word

_ONE_FILE = re.compile(r"-[abcdefghkprsuwxGLNOS]")
_TWO_FILES = frozenset(("-nt", "-ot", "-ef"))
_NAME = re.compile(r"[A-Za-z_]\w*")
SUBSTITUTION = re.compile(r"\$\(|`|\$\{")


def tested_files(words: Sequence[Word], scope: Scope) -> tuple[Redirect, ...]:
    """The files that a `[[` looks at, as if they were read."""
    texts = [word.text for word in words]
    at = [i + 1 for i, text in enumerate(texts[:-1]) if _ONE_FILE.fullmatch(text) and _begins(texts, i)]
    at += [j for i, text in enumerate(texts) if text in _TWO_FILES for j in (i - 1, i + 1) if 0 <= j < len(words)]
    return tuple(redirect for i in at for redirect in _read(words[i], scope))


def _begins(texts: Sequence[str], i: int) -> bool:
    """Whether the word begins a test: `[[ a == -f ]]` compares a text."""
    return i == 0 or texts[i - 1] in ("!", "&&", "||", "(") or texts[i - 1] not in ("=", "==", "!=", "=~", "<", ">")


def _read(word: Word, scope: Scope) -> list[Redirect]:
    parts = [part for part in word.parts if not (isinstance(part, Lit) and not part.value)]
    part = parts[0] if len(parts) == 1 else None
    bound = scope.values.get(part.name) if isinstance(part, Var) and not part.op else None
    if isinstance(bound, Bound) and bound.items:
        return [Redirect("<", item.value, None, False) for item in bound.items]
    fields = expand(word, scope)
    known = len(fields) == 1 and fields[0].known
    return [Redirect("<", fields[0].value if known else None, None, False)]


def quoted_code(words: Sequence[Word]) -> Iterator[str]:
    """Quoted text with substitutions in it, as in `[[ -v 'a[$(x)]' ]]`."""
    for word in words:
        value = "".join(p.value for p in word.parts if isinstance(p, Lit))
        if SUBSTITUTION.search(value) and any(isinstance(p, Lit) and p.quoted for p in word.parts):
            yield value


def evaluated(words: Sequence[Word], scope: Scope) -> Iterator[str]:
    """Values with substitutions in them that arithmetic would expand once more."""
    for word in words:
        for part in word.parts:
            names = (
                _NAME.findall(part.text) if isinstance(part, Arith) else [part.name] if isinstance(part, Var) else []
            )
            if isinstance(part, Lit) and part.quoted:
                names = _NAME.findall(part.value)
            for name in names:
                value = scope.values.get(name)
                if isinstance(value, str) and SUBSTITUTION.search(value):
                    yield value
