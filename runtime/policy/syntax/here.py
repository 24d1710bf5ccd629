"""Here-documents: announced on a line, read after its end.

Promises: bodies are taken in the order of their operators, joins and tabs as bash treats them; an unquoted body is read
for expansions, backticks too.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.runtime.policy.syntax.reader import Reader
from interlock.runtime.policy.syntax.syntax import CapReachedError, Lit, Redir, ShellSyntaxError, Word


@dataclass(slots=True)
class Pending:
    """A here-document whose body has not been reached."""

    redir: Redir
    delimiter: str
    strip: bool


class HereReader(Reader):
    """A reader that knows here-documents."""

    def _start(self) -> None:
        self._pending: list[Pending] = []

    def _here_start(self, into: list[Redir], operator: str, before: str | None) -> None:
        word = self.word()
        quoted = any(part.quoted for part in word.parts) or "\\" in word.text
        delimiter = "".join(part.value if isinstance(part, Lit) else "" for part in word.parts)
        if not all(isinstance(part, Lit) for part in word.parts):
            delimiter = word.text
        redir = Redir("<<", int(before[:9]) if before and before.isdigit() else None, word, literal=quoted)
        into.append(redir)
        self._pending.append(Pending(redir, delimiter, operator == "<<-"))

    def _here_documents(self) -> None:
        pending, self._pending = self._pending, []
        for one in pending:
            self._here_document(one)

    def _here_document(self, one: Pending) -> None:
        begin = self.pos
        lines: list[str] = []
        ended = False
        while self.pos < len(self.src) and not ended:
            line = self._here_line(raw=one.redir.literal)
            text = line.lstrip("\t") if one.strip else line
            ended = text.rstrip("\n") == one.delimiter
            if not ended:
                lines.append(text)
        if not ended:
            self.doubts.append("a here-document is not ended")
        body = "".join(lines)
        one.redir.word = self._here_word(body, begin, literal=one.redir.literal, moved=one.strip)

    def _here_line(self, *, raw: bool) -> str:
        """One line with its end; joins are made unless the delimiter was quoted."""
        self.budget.spend()
        start = self.pos
        while True:
            end = self.src.find("\n", self.pos)
            if end < 0:
                self.pos = len(self.src)
                break
            self.pos = end + 1
            slashes = end - len(self.src[start:end].rstrip("\\")) - start
            if raw or slashes % 2 == 0:
                break
            self.pos = end - 1
            self.ch()
        return self.src[start : self.pos]

    def _here_word(self, body: str, begin: int, *, literal: bool, moved: bool) -> Word:
        span = self.span(begin, begin + len(body))
        if literal:
            return Word([Lit(body, True)], body, *span)
        inner = self.nested(body, self.origin(begin), decoded=moved, span=span)
        try:
            parts = inner.here_body()
        except (ShellSyntaxError, CapReachedError):
            self.open.extend(inner.open)
            raise
        self.doubts.extend(inner.doubts)
        return Word(parts or [Lit("", True)], body, *span)
