"""Reads lists of commands: pipelines, compounds, functions, redirects, here-documents.

Promises: accepts what bash accepts, in bash's order of reading; raises ShellSyntaxError for what bash would refuse and
CapReachedError at a limit. After an error `Reader.open` holds what was complete, because bash runs a line before it
reads the next one.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.syntax.here import HereReader
from interlock.runtime.policy.syntax.reader import META
from interlock.runtime.policy.syntax.syntax import (
    Arith,
    Assign,
    Compound,
    Items,
    Lit,
    Node,
    Part,
    Pipeline,
    Redir,
    Sequence,
    Simple,
    Word,
)

_KEYWORD = re.compile(r"(?:[a-z]{1,10}|\[\[|[{}!])(?=[\s;&|()<>]|\Z)")
_CASE_END = re.compile(r";;&|;;|;&")
_REDIRECT_START = frozenset("<>&{0123456789|-")
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|&>>|&>|<|>)(?!\()")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^=]*\])?(\+?=)")
_DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly", "alias"})
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_NUMBER = re.compile(r'-?\d+|"?\$[?#]"?')
_NUMERIC_TEST = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


class Grammar(HereReader):
    """A reader that knows commands."""

    def whole(self) -> Sequence:
        """The whole text. Raises ShellSyntaxError, CapReachedError."""
        found = self._list(frozenset())
        self._here_documents()
        return found

    def body(self, closer: str) -> Sequence:
        """A list up to and including `closer` (`)` or `}`)."""
        outer, self._pending = self._pending, []
        found = self._nested_list(frozenset({closer}))
        self._expect(closer)
        if self._pending:
            self.doubts.append("a here-document begins inside a substitution and ends outside")
        self._pending = outer + self._pending
        return found

    def _nested_list(self, ends: frozenset[str]) -> Sequence:
        self.depth += 1
        self.budget.check_depth(self.depth)
        found = self._list(ends)
        self.depth -= 1
        return found

    def _list(self, ends: frozenset[str]) -> Sequence:
        found = Sequence()
        self.open.append(found)
        while True:
            self._skip_newlines()
            c = self.ch()
            if not c or (c == ")" and ")" in ends) or self._at_end(ends):
                break
            node = self._pipeline()
            found.items.append((node, ""))
            found.items[-1] = (node, self._separator())
        # everything opened since is now held by `found`
        while self.open.pop() is not found:
            pass
        return found

    def _at_end(self, ends: frozenset[str]) -> bool:
        if self.ch() == ";" and ";;" in ends:
            return True
        word = self._keyword()
        if word in ends:
            return True
        if word in _CLOSERS:
            raise self.fail(f"`{word}` was not expected")
        return False

    def _keyword(self) -> str:
        """The reserved word at this place, or empty."""
        length = 0
        while self._joins and (c := self.ch(length)) and c not in META and c != "\n" and length < 10:
            length += 1
        match = _KEYWORD.match(self.src, self.pos)
        return match.group() if match else ""

    def _expect(self, what: str) -> None:
        self.skip_blanks()
        if not self.src.startswith(what, self.pos):
            raise self.fail(f"`{what}` was expected")
        self.pos += len(what)

    def _expect_after_newlines(self, what: str) -> None:
        self._skip_newlines()
        if self._keyword() != what:
            raise self.fail(f"`{what}` was expected")
        self.pos += len(what)

    def _skip_newlines(self) -> None:
        while True:
            self.skip_blanks()
            if self.ch() != "\n":
                return
            self._newline()

    def _newline(self) -> None:
        self.pos += 1
        if self._pending:
            self._here_documents()

    def _separator(self) -> str:
        self.skip_blanks()
        two = self.ch() + self.ch(1)
        if two in ("&&", "||"):
            self.pos += 2
            self._skip_newlines()
            if not self.ch():
                raise self.fail(f"a command was expected after `{two}`")
            return two
        if (two[:1] == ";" and two not in (";;", ";&")) or two[:1] == "&":
            self.pos += 1
            return two[0]
        if two[:1] == "\n":
            self._newline()
            return "\n"
        if two[:1] in ("", ")", ";") or self._keyword() in _CLOSERS:
            return ""
        raise self.fail(f"`{two[:1]}` was not expected")

    def _pipeline(self) -> Node:
        stages = [self._prefixed()]
        while True:
            self.skip_blanks()
            if self.ch() != "|" or self.ch(1) == "|":
                break
            self.pos += 2 if self.ch(1) == "&" else 1
            self._skip_newlines()
            stages.append(self._prefixed())
        return stages[0] if len(stages) == 1 else Pipeline(stages)

    def _prefixed(self) -> Node:
        """A command behind any number of `!` and `time [-p] [--]`."""
        while (word := self._keyword()) in ("!", "time"):
            self.pos += len(word)
            self.skip_blanks()
            while word == "time" and (option := re.compile(r"-p(?=\s|\Z)|--(?=\s|\Z)").match(self.src, self.pos)):
                self.pos += len(option.group())
                self.skip_blanks()
            if self.ch() in ("", "\n", ";"):
                return Simple(self.origin(self.pos), self.origin(self.pos))
        if self.ch() == "!" and self.ch(1) == "(":
            self.doubts.append("`!(` is a pattern or a subshell, by a shell option")
            self.pos += 1
        return self._command(word)

    def _command(self, word: str) -> Node:
        self.budget.spend()
        start = self.pos
        reader = self._READERS.get(word)
        if self.ch() == "(":
            node = self._round_command()
        elif reader is not None:
            self.pos += len(word)
            node = reader(self)
        else:
            return self._simple()
        return self._finish(node, start)

    def _finish(self, node: Node, start: int) -> Node:
        if isinstance(node, Compound):
            if node.kind not in ("function", "coproc"):
                self._redirects(node.redirs)
            node.start, node.end = self.span(start, self.pos)
        return node

    def _redirects(self, into: list[Redir]) -> None:
        while True:
            self.skip_blanks()
            if not self._redirect(into):
                return

    def _round_command(self) -> Compound:
        if self.ch(1) == "(" and self.closes_twice(self.pos + 2):
            self.pos += 2
            return self._arith_command()
        self.pos += 1
        return Compound("subshell", 0, bodies=[self.body(")")])

    def _arith_command(self) -> Compound:
        text, nested = self.arith_until("))")
        plain = not nested and not re.search(r"[A-Za-z_\[]", text)
        return Compound("arith", 0, words=[_word_of(nested, text)], plain=plain)

    def _brace_group(self) -> Compound:
        found = self._nested_list(frozenset({"}"}))
        self._expect("}")
        return Compound("group", 0, bodies=[found])

    def _if(self) -> Compound:
        node = Compound("if", 0)
        then_ends = frozenset({"elif", "else", "fi"})
        word = "if"
        while word in ("if", "elif"):
            node.bodies.append(self._nested_list(frozenset({"then"})))
            self._expect("then")
            node.bodies.append(self._nested_list(then_ends))
            word = self._keyword()
            self.pos += len(word)
        if word == "else":
            node.bodies.append(self._nested_list(frozenset({"fi"})))
            self._expect("fi")
        elif word != "fi":
            raise self.fail("`fi` was expected")
        return node

    def _loop(self) -> Compound:
        condition = self._nested_list(frozenset({"do"}))
        self._expect("do")
        action = self._nested_list(frozenset({"done"}))
        self._expect("done")
        return Compound("loop", 0, bodies=[condition, action])

    def _for(self) -> Compound:
        node = Compound("for", 0)
        self.skip_blanks()
        if self.ch() == "(" and self.ch(1) == "(":
            self.pos += 2
            text, nested = self.arith_until("))")
            node.words.append(_word_of(nested, text))
            node.plain = False
        else:
            node.name = self.word().text
            self._for_words(node)
        self._for_body(node)
        return node

    def _for_words(self, node: Compound) -> None:
        self._skip_newlines()
        if self._keyword() != "in":
            return
        self.pos += 2
        while True:
            self.skip_blanks()
            if self.ch() in ("", ";", "\n"):
                return
            node.words.append(self.word())

    def _for_body(self, node: Compound) -> None:
        self.skip_blanks()
        if self.ch() == ";":
            self.pos += 1
        self._skip_newlines()
        word = self._keyword()
        closer = {"do": "done", "{": "}"}.get(word)
        if closer is None:
            raise self.fail("`do` was expected")
        self.pos += len(word)
        node.bodies.append(self._nested_list(frozenset({closer})))
        self._expect(closer)

    def _case(self) -> Compound:
        node = Compound("case", 0)
        self.skip_blanks()
        node.words.append(self.word())
        self._expect_after_newlines("in")
        while True:
            self._skip_newlines()
            if self._keyword() == "esac":
                self.pos += 4
                return node
            self._case_arm(node)

    def _case_arm(self, node: Compound) -> None:
        if self.ch() == "(":
            self.pos += 1
        while True:
            self.skip_blanks()
            node.words.append(self.word())
            self.skip_blanks()
            c = self.ch()
            self.pos += 1
            if c == ")":
                break
            if c != "|":
                self.pos -= 1
                raise self.fail("`)` was expected")
        node.bodies.append(self._nested_list(frozenset({";;", "esac"})))
        self.skip_blanks()
        self.ch(1)
        end = _CASE_END.match(self.src, self.pos)
        if end:
            self.pos = end.end()
        elif self._keyword() != "esac":
            raise self.fail("`;;` was expected")

    def _function(self) -> Compound:
        self.skip_blanks()
        name = self.word().text
        self.skip_blanks()
        if self.ch() == "(":
            self.pos += 1
            self._expect(")")
        return self._function_body(name)

    def _function_body(self, name: str) -> Compound:
        self._skip_newlines()
        self.depth += 1
        self.budget.check_depth(self.depth)
        body = self._command(self._keyword())
        self.depth -= 1
        if isinstance(body, Simple):
            self.doubts.append("a function whose body is a simple command")
        return Compound("function", 0, bodies=[body], name=name)

    def _coproc(self) -> Compound:
        self.skip_blanks()
        node = Compound("coproc", 0)
        if self._keyword() not in self._READERS and self.ch() != "(":
            mark = self.pos, len(self.src)
            name = self.word()
            self.skip_blanks()
            if self._keyword() in self._READERS or self.ch() == "(":
                node.name = name.text
            elif len(self.src) == mark[1]:
                self.pos = mark[0]
            else:
                self.doubts.append("a joined line after coproc")
                self.pos = mark[0]
        self.depth += 1
        self.budget.check_depth(self.depth)
        node.bodies.append(self._command(self._keyword()))
        self.depth -= 1
        return node

    def _test(self) -> Compound:
        node = Compound("test", 0)
        while True:
            self._skip_newlines()
            c = self.ch()
            if not c:
                raise self.fail("`]]` was expected")
            if c == "]" and self.ch(1) == "]" and (not self.ch(2) or self.ch(2) in META or self.ch(2) == "\n"):
                self.pos += 2
                break
            if c in META and not (c in "<>" and self.ch(1) == "("):
                self.pos += 1
            else:
                node.words.append(self.word())
        node.plain = _is_plain_test(node.words)
        return node

    def _simple(self) -> Node:
        start = self.pos
        node = Simple(self.origin(start))
        self.open.append(node)
        while True:
            self.skip_blanks()
            if self._redirect(node.redirs):
                continue
            c = self.ch()
            if not c or (c in META and not (c in "<>" and self.ch(1) == "(")):
                if c == "(":
                    return self._maybe_function(node, start)
                break
            self._simple_word(node)
        if not (node.words or node.assigns or node.redirs):
            raise self.fail(f"`{self.ch() or 'end of text'}` was not expected")
        self._close(node, start)
        return node

    def _close(self, node: Simple, start: int) -> None:
        end = self.pos
        while end > start and self.src[end - 1] in " \t":
            end -= 1
        node.start, node.end = self.span(start, end)
        node.text = self.src[start:end]
        if self.open[-1] is node:
            self.open.pop()
        else:
            self.open.remove(node)

    def _maybe_function(self, node: Simple, start: int) -> Node:
        self.pos += 1
        self.skip_blanks()
        if len(node.words) != 1 or node.assigns or node.redirs or self.ch() != ")":
            raise self.fail("`(` was not expected")
        self.pos += 1
        self.open.remove(node)
        body = self._function_body(node.words[0].text)
        return self._finish(body, start)

    def _simple_word(self, node: Simple) -> None:
        word = self.word()
        first = node.words[0].text if node.words else ""
        if not node.words and (assign := _assignment(word)):
            node.assigns.append(assign)
            return
        if word.parts and isinstance(word.parts[-1], Items) and first not in _DECLARING:
            raise self.fail("`(` was not expected")
        node.words.append(word)

    def _redirect(self, into: list[Redir]) -> bool:
        c = self.ch()
        if c not in _REDIRECT_START or not c:
            return False
        for ahead in range(1, 12) if self._joins else ():
            if self.ch(ahead) not in _REDIRECT_START:
                break
        match = _REDIRECT.match(self.src, self.pos)
        if not match:
            return False
        self.budget.spend()
        before, operator = match.groups()
        self.pos = match.end()
        self.skip_blanks()
        if operator in ("<<", "<<-"):
            self._here_start(into, operator, before)
            return True
        fd = int(before[:9]) if before and before.isdigit() else None
        into.append(Redir(operator, fd, self.word(), named_fd=bool(before and fd is None)))
        return True

    _READERS = {  # noqa: RUF012  (a table of methods, never changed)
        "{": _brace_group,
        "if": _if,
        "while": _loop,
        "until": _loop,
        "for": _for,
        "select": _for,
        "case": _case,
        "function": _function,
        "coproc": _coproc,
        "[[": _test,
    }


def _word_of(nested: list[Part], text: str) -> Word:
    return Word(nested or [Lit(text, True)], text, 0, 0)


def _assignment(word: Word) -> Assign | None:
    """The word as an assignment, when its unquoted beginning says so."""
    match = _ASSIGN.match(word.text)
    if not match or not isinstance(word.parts[0], Lit) or word.parts[0].quoted:
        return None
    name, subscript, operator = match.groups()
    if subscript is None:
        parts = _without_head(word.parts, match.end())
        simple = operator == "=" and not any(isinstance(p, Items) for p in parts)
        return Assign(
            name, Word(parts, word.text[match.end() :], word.start + match.end(), word.end), simple, operator == "+="
        )
    return Assign(name, word, False)


def _without_head(parts: list[Part], length: int) -> list[Part]:
    rest = list(parts)
    while rest and length > 0 and isinstance(head := rest[0], Lit):
        cut = min(length, len(head.value))
        length -= cut
        if cut == len(head.value):
            rest.pop(0)
        else:
            rest[0] = Lit(head.value[cut:], head.quoted)
    return rest


def _is_plain_test(words: list[Word]) -> bool:
    """Whether no operand of `[[` is evaluated as arithmetic or as a subscript."""
    texts = [w.text for w in words]
    if any(t in ("-v", "-R") for t in texts) or any(
        isinstance(p, Arith) and not p.plain for w in words for p in w.parts
    ):
        return False
    for i, text in enumerate(texts):
        if text in _NUMERIC_TEST and not all(_NUMBER.fullmatch(t) for t in (*texts[i - 1 : i], *texts[i + 1 : i + 2])):
            return False
    return True
