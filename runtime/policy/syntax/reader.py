"""Reads words: quotes, expansions, substitutions, with the line joins that bash makes everywhere.

Promises: characters are consumed exactly as bash does before it expands anything; a backslash before a line end is
removed wherever bash removes it, also between `$` and `(`. Raises ShellSyntaxError for an unfinished quote or bracket
and CapReachedError at a limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from interlock.runtime.policy.syntax.ansi_c import decode_ansi_c
from interlock.runtime.policy.syntax.budget import Budget
from interlock.runtime.policy.syntax.syntax import (
    Arith,
    CapReachedError,
    Code,
    Items,
    Lit,
    Part,
    Sequence,
    ShellSyntaxError,
    Simple,
    Var,
    Word,
)

META = frozenset(" \t\n;&|()<>")
MAX_JOINS = 2_000

_BLANKS = re.compile(r"[ \t]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./,:=+@%^-]+")
_QUICK = re.compile(r"[A-Za-z0-9_./,:=+@%^-]+(?=[ \t\n;|]|\Z)")
"""A plain word whose end is certain; a join or a bracket behind it needs the long way."""
_QUOTED = re.compile(r'[^"$`\\]+')
_HERE = re.compile(r"[^$`\\]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = frozenset("@*#?$!-0123456789")
_ARRAY_HEAD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=\Z")
_PLAIN_ARITH = re.compile(r"[\d\s+\-*/%()<>=!&|^~?:,.]*\Z")
_COMMENT_START = frozenset(" \t\n;&|()<>")


class Reader:
    """A text with a position. `grammar.Grammar` adds commands on top."""

    def __init__(
        self, src: str, budget: Budget, *, base: int = 0, fixed: tuple[int, int] | None = None, depth: int = 0
    ) -> None:
        self.src = src
        self.pos = 0
        self.budget = budget
        self.depth = depth
        self.open: list[Sequence | Simple] = []
        self.doubts: list[str] = []
        self._base = base
        self._fixed = fixed
        self._cuts: list[int] = []
        self._joins = "\\\n" in src
        """Whether a line join may still stand in the text; without one the quick ways are right."""
        self._start()

    def _start(self) -> None:
        """What a subclass keeps besides."""

    def origin(self, pos: int) -> int:
        """The place of `pos` in the outermost source."""
        return self._base + pos + (2 * bisect_right(self._cuts, pos) if self._cuts else 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the outermost source that `start`..`end` came from."""
        if self._fixed:
            return self._fixed
        if not self._cuts:
            return self._base + start, self._base + end
        return self.origin(start), self.origin(end - 1) + 1 if end > start else self.origin(start)

    def ch(self, ahead: int = 0) -> str:
        """The character `ahead` of here, with line joins removed; empty at the end."""
        at = self.pos + ahead
        while self._joins and self.src.startswith("\\\n", at):
            self._join(at)
        return self.src[at : at + 1]

    def _join(self, at: int) -> None:
        if len(self._cuts) >= MAX_JOINS:
            raise CapReachedError(f"more than {MAX_JOINS} joined lines")
        self.src = self.src[:at] + self.src[at + 2 :]
        self._cuts.append(at)

    def fail(self, what: str) -> ShellSyntaxError:
        """An error with its place."""
        return ShellSyntaxError(f"{what} at character {self.origin(self.pos)}")

    def nested(self, text: str, base: int, *, decoded: bool, span: tuple[int, int]) -> Reader:
        """A reader of the same kind for text inside this one."""
        fixed = self._fixed or (span if decoded else None)
        return type(self)(text, self.budget, base=base, fixed=fixed, depth=self.depth + 1)

    def body(self, closer: str) -> Sequence:
        """A list of commands up to and including `closer`; `grammar.Grammar` knows how."""
        raise NotImplementedError

    def whole(self) -> Sequence:
        """The whole text as a list of commands; `grammar.Grammar` knows how."""
        raise NotImplementedError

    def skip_blanks(self) -> None:
        """Pass over spaces, tabs, joins and a comment."""
        if not self._joins:
            self.pos = _BLANKS.match(self.src, self.pos).end()  # type: ignore[union-attr]
        while (c := self.ch()) in (" ", "\t") and c:
            self.pos += 1
        if c == "#" and (self.pos == 0 or self.src[self.pos - 1] in _COMMENT_START):
            end = self.src.find("\n", self.pos)
            self.pos = len(self.src) if end < 0 else end

    def word(self, *, stop: str = "") -> Word:
        """One word. `stop` names further characters that end it."""
        start = self.pos
        if not stop and (quick := _QUICK.match(self.src, start)):
            self.budget.spend()
            self.pos = quick.end()
            text = quick.group()
            return Word([Lit(text, False)], text, *self.span(start, self.pos))
        parts: list[Part] = []
        while True:
            match = _PLAIN.match(self.src, self.pos)
            if match:
                self._literal(parts, match.group(), False)
                self.pos = match.end()
            c = self.ch()
            if not c or c in stop:
                break
            if c in META and not self._inner_bracket(c, parts, start):
                break
            self._piece(c, parts, quoted=False)
        if start == self.pos:
            raise self.fail("a word was expected")
        return Word(parts, self.src[start : self.pos], *self.span(start, self.pos))

    def _inner_bracket(self, c: str, parts: list[Part], start: int) -> bool:
        """Whether a bracket character at this place belongs to the word."""
        if c in "<>":
            return self.ch(1) == "("
        if c != "(" or self.pos == start:
            return False
        text = self.src[start : self.pos]
        return text[-1] in "?*+@!" or bool(_ARRAY_HEAD.match(text))

    def _literal(self, parts: list[Part], value: str, quoted: bool) -> None:
        self.budget.spend()
        parts.append(Lit(value, quoted))

    def _piece(self, c: str, parts: list[Part], *, quoted: bool) -> None:
        """Consume one quote, expansion or character."""
        if c == "\\":
            self._literal(parts, self.src[self.pos + 1 : self.pos + 2] or "\\", True)
            self.pos = min(self.pos + 2, len(self.src))
        elif c == "'":
            self._single(parts)
        elif c == '"':
            self._double(parts)
        elif c == "$":
            self._dollar(parts, quoted=quoted)
        elif c == "`":
            self._backtick(parts, quoted=quoted)
        elif c in "<>":
            self.pos += 2
            self._code(parts, f"{c}(…)", quoted=False)
        elif c == "(":
            self._round(parts)
        else:
            self._literal(parts, c, False)
            self.pos += 1

    def _single(self, parts: list[Part]) -> None:
        end = self.src.find("'", self.pos + 1)
        if end < 0:
            raise self.fail("a single quote is not closed")
        self._literal(parts, self.src[self.pos + 1 : end], True)
        self.pos = end + 1

    def _double(self, parts: list[Part]) -> None:
        self.pos += 1
        self._literal(parts, "", True)
        while (c := self.ch()) != '"':
            if not c:
                raise self.fail("a double quote is not closed")
            self._quoted_piece(c, parts, _QUOTED, '$`"\\')
        self.pos += 1

    def _quoted_piece(self, c: str, parts: list[Part], plain: re.Pattern[str], escapes: str) -> None:
        match = plain.match(self.src, self.pos)
        if match:
            self._literal(parts, match.group(), True)
            self.pos = match.end()
        elif c == "$":
            self._dollar(parts, quoted=True)
        elif c == "`":
            self._backtick(parts, quoted=True)
        elif c == "\\" and self.src[self.pos + 1 : self.pos + 2] in escapes:
            self._literal(parts, self.src[self.pos + 1 : self.pos + 2] or "\\", True)
            self.pos = min(self.pos + 2, len(self.src))
        else:
            self._literal(parts, c, True)
            self.pos += 1

    def here_body(self) -> list[Part]:
        """The whole text as the body of an unquoted here-document."""
        parts: list[Part] = []
        while c := self.ch():
            self._quoted_piece(c, parts, _HERE, "$`\\")
        return parts

    def _round(self, parts: list[Part]) -> None:
        """An array value or an extended pattern: `x=(…)`, `@(a|b)`."""
        before = parts[-1].value if parts and isinstance(parts[-1], Lit) else ""
        self.pos += 1
        if before.endswith("="):
            parts.append(Items(self._array_words()))
            return
        if before:
            parts[-1] = Lit(before[:-1], False)
        self._literal(parts, "*", False)
        inside: list[Part] = []
        self._group_of_patterns(inside)
        # any text may stand there; what runs inside is kept
        parts += [part for part in inside if not isinstance(part, Lit)]

    def _group_of_patterns(self, parts: list[Part]) -> None:
        while (c := self.ch()) != ")":
            if not c:
                raise self.fail("a pattern is not closed")
            if c == "(":
                self.pos += 1
                self._group_of_patterns(parts)
            elif c in META and not (c in "<>" and self.ch(1) == "("):
                self.pos += 1
            else:
                self._piece(c, parts, quoted=False)
        self.pos += 1

    def _array_words(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.skip_blanks()
            c = self.ch()
            if c == ")":
                self.pos += 1
                return words
            if c == "\n":
                self.pos += 1
            elif not c:
                raise self.fail("an array is not closed")
            else:
                words.append(self.word())

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        c = self.ch(1)
        if c == "(":
            self._dollar_round(parts, quoted=quoted)
        elif c == "{":
            self._braces(parts, quoted=quoted)
        elif c == "'" and not quoted:
            self._ansi(parts)
        elif c == '"' and not quoted:
            self.pos += 1
            self._double(parts)
        elif c == "[":
            self.pos += 2
            self._arith(parts, "]", quoted=quoted)
        else:
            self._name(parts, c, quoted=quoted)

    def _name(self, parts: list[Part], c: str, *, quoted: bool) -> None:
        self.budget.spend()
        start = self.pos + 1
        if c and ((c.isalpha() and c.isascii()) or c == "_"):
            length = 1
            while (n := self.ch(1 + length)) and n.isascii() and (n.isalnum() or n == "_"):
                length += 1
            self.pos = start + length
        elif c and c in _SPECIAL:
            self.pos = start + 1
        else:
            self.pos += 1
            parts.append(Lit("$", quoted))
            return
        parts.append(Var(self.src[start : self.pos], "", [], quoted))

    def _ansi(self, parts: list[Part]) -> None:
        at = self.pos + 2
        while self.src[at : at + 1] != "'":
            if at >= len(self.src):
                raise self.fail("a $' quote is not closed")
            at += 2 if self.src[at] == "\\" else 1
        self._literal(parts, decode_ansi_c(self.src[self.pos + 2 : at]), True)
        self.pos = at + 1

    def _backtick(self, parts: list[Part], *, quoted: bool) -> None:
        start = self.pos
        at = start + 1
        while self.src[at : at + 1] != "`":
            if at >= len(self.src):
                raise self.fail("a backtick is not closed")
            at += 2 if self.src[at] == "\\" else 1
        raw = self.src[start + 1 : at]
        escapes = r'\\([\\$`"])' if quoted else r"\\([\\$`])"
        text = re.sub(escapes, r"\1", raw)
        self.budget.check_depth(self.depth + 1)
        self.budget.spend(6)  # a reader of its own costs more than a part
        inner = self.nested(text, self.origin(start + 1), decoded=text != raw, span=self.span(start, at + 1))
        self.pos = at + 1
        parts.append(Code(self._adopt(inner), "`…`", quoted))

    def _adopt(self, inner: Reader) -> Sequence:
        """Read a nested text whole; what it had when it failed is kept for the salvage."""
        try:
            return inner.whole()
        except (ShellSyntaxError, CapReachedError):
            self.open.extend(inner.open)
            raise
        finally:
            self.doubts.extend(inner.doubts)

    def _code(self, parts: list[Part], via: str, *, quoted: bool) -> None:
        self.budget.spend()
        parts.append(Code(self.body(")"), via, quoted))

    def _dollar_round(self, parts: list[Part], *, quoted: bool) -> None:
        if self.ch(2) == "(" and self.closes_twice(self.pos + 3):
            self.pos += 3
            self._arith(parts, "))", quoted=quoted)
            return
        self.pos += 2
        self._code(parts, "$(…)", quoted=quoted)

    def closes_twice(self, at: int) -> bool:
        """Whether the brackets opened before `at` close as `))`: arithmetic, not a subshell in a substitution."""
        level = 0
        src = self.src
        while at < len(src):
            c = src[at]
            if c == "\\":
                at += 1
            elif c in "'\"":
                at = src.find(c, at + 1)
                if at < 0:
                    return False
            elif c == "(":
                level += 1
            elif c == ")":
                if level == 0:
                    return src.startswith("))", at)
                level -= 1
            at += 1
            if at & 63 == 0:
                self.budget.spend()
        return False

    def _arith(self, parts: list[Part], closer: str, *, quoted: bool) -> None:
        text, nested = self.arith_until(closer)
        parts.append(Arith(nested, bool(_PLAIN_ARITH.match(text)) and not nested, text, quoted))

    def arith_until(self, closer: str) -> tuple[str, list[Part]]:
        """Arithmetic text up to and including `closer`, and the expansions in it."""
        start, level = self.pos, 0
        found: list[Part] = []
        opener, shutter = ("[", "]") if closer == "]" else ("(", ")")
        while c := self.ch():
            if level == 0 and self.src.startswith(closer, self.pos):
                text = self.src[start : self.pos]
                self.pos += len(closer)
                return text, [p for p in found if not isinstance(p, Lit)]
            level += (c == opener) - (c == shutter)
            if c in "()<>" or c not in "\\'\"$`":
                self.budget.spend()
                self.pos += 1
            else:
                self._piece(c, found, quoted=False)
        raise self.fail("arithmetic is not closed")

    def _braces(self, parts: list[Part], *, quoted: bool) -> None:
        """`${…}`, also the forms that run commands (`${ cmd; }`, `${| cmd; }`)."""
        self.budget.spend()
        if self.ch(2) in (" ", "\t", "\n", "|"):
            self.pos += 3 if self.ch(2) == "|" else 2
            parts.append(Code(self.body("}"), "${ …; }", quoted))
            return
        self.budget.check_depth(self.depth + 1)
        self.depth += 1
        self.pos += 2
        prefix = ""
        if self.ch() in ("!", "#") and self.ch(1) not in ("}", ""):
            prefix = self.ch()
            self.pos += 1
        name = self._brace_name()
        op, arg = self._brace_rest(quoted=quoted)
        self.depth -= 1
        parts.append(Var(name, prefix or op, arg, quoted))

    def _brace_name(self) -> str:
        self.ch()
        match = _NAME.match(self.src, self.pos) or re.compile(r"\d+|.", re.S).match(self.src, self.pos)
        if not match:
            raise self.fail("a ${ is not closed")
        if match.group() == "}":
            return ""
        self.pos = match.end()
        return match.group()

    def _brace_rest(self, *, quoted: bool) -> tuple[str, list[Part]]:
        start = self.pos
        arg: list[Part] = []
        head = self.ch() + self.ch(1)
        op = head[:2] if head[:1] in (":", "@") else head[:1]
        op = "" if op.startswith("}") else op
        self.pos += len(op) if op[-1:] in ("-", "=", "+", "?") else 0
        literal_single = quoted and op[-1:] in ("-", "=", "+", "?")
        while (c := self.ch()) != "}":
            if not c:
                self.pos = start
                raise self.fail("a ${ is not closed")
            if (c == "'" and literal_single) or c in META:
                self._literal(arg, c, quoted)
                self.pos += 1
            elif match := _PLAIN.match(self.src, self.pos):
                self._literal(arg, match.group(), quoted)
                self.pos = match.end()
            else:
                self._piece(c, arg, quoted=quoted)
        self.pos += 1
        return op, arg
