"""A command while it is being worked on: its fields, its input, what surrounds it.

Promises: `command` gives the frozen fact; `output` gives what the command would print when that is literally known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from interlock.runtime.policy.shell.expand import Field, Scope, guess
from interlock.runtime.policy.shell.model import DYNAMIC, Redirect, SimpleCommand
from interlock.runtime.policy.shell.printed import printed
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.syntax.syntax import Lit, Word


class Fed:
    """The standard input of a stage: its text, or None when only run time tells."""

    __slots__ = ("likely", "text", "words")

    def __init__(self, text: str | None, words: tuple[Field, ...] = (), likely: str | None = None) -> None:
        self.text = text
        self.words = words
        self.likely = likely


@dataclass(slots=True)
class Frame:
    """The fields of one command and where they came from."""

    fields: list[Field]
    text: str
    start: int
    end: int
    assignments: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    fed: bool = False
    """Its standard input comes from a pipe, a file or the text."""
    input: str | None = None
    """That input, when the text gives it."""
    likely: str | None = None
    """What that input probably is, when the text does not quite give it: only ever to deny by."""
    feeder: tuple[Field, ...] = ()
    """The words of the command whose output it is fed."""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, program: str, start: int, end: int, text: str = "", *, known: bool = True) -> Frame:
        """A frame of one word."""
        return cls([Field(program, known, False, start, end)], text or program, start, end)

    @classmethod
    def bare(cls, start: int, end: int, text: str, redirects: tuple[Redirect, ...]) -> Frame:
        """Redirects without a program."""
        return cls([], text, start, end, (), redirects)

    @property
    def program(self) -> str:
        """The first word when it has a value (or a guess), `<dynamic>` when not, empty when there is none."""
        if not self.fields:
            return ""
        first = self.fields[0]
        if first.glob:
            return likely_program(first.value) or DYNAMIC
        return first.value if first.known or _is_a_guess(first.value) else DYNAMIC

    @property
    def name(self) -> str:
        """The program without its folder."""
        return self.program.rpartition("/")[2]

    @property
    def args(self) -> list[Field]:
        """The words after the program."""
        return self.fields[1:]

    def with_words(self, values: Sequence[str]) -> Frame:
        """The same with words added that the text gives literally."""
        added = [Field(value, True, False, self.start, self.end) for value in values]
        return Frame([*self.fields, *added], " ".join([self.text, *values]), self.start, self.end)

    def inner(self, fields: Sequence[Field], text: str = "") -> Frame:
        """A command made of some of this one's words; its input is passed on."""
        shown = text or " ".join(f.value for f in fields)
        return Frame(list(fields), shown, self.start, self.end, fed=self.fed, input=self.input, likely=self.likely)

    def command(self, state: State, notes: tuple[str, ...]) -> SimpleCommand:
        """The frozen fact."""
        fields = self.fields
        words = [f.value for f in fields]
        program = self.program
        if fields and fields[0].glob and program != DYNAMIC:
            words[0] = program
        return SimpleCommand(
            program=program,
            argv=tuple(words),
            known=tuple([f.known and not f.glob for f in fields]),
            text=self.text,
            start=self.start,
            end=self.end,
            assignments=self.assignments,
            redirects=self.redirects,
            cwd=state.cwd,
            elsewhere=tuple(sorted(state.maybe)) if state.maybe else (),
            depth=state.depth,
            via=state.via,
            understood=not notes,
            notes=notes,
            globs=tuple([i for i, f in enumerate(fields) if f.glob and f.known]),
            loose=any(f.loose for f in fields),
            below=any(f.below for f in fields),
        )

    def output(self) -> str | None:
        """What it prints, for echo, printf and cat with text in sight."""
        if not all(f.known and not f.glob for f in self.fields) or any(r.writes for r in self.redirects):
            return None
        return printed(self.name, [f.value for f in self.args], self.input)


def _is_a_guess(value: str) -> bool:
    # a word without any value keeps its source text, which holds the expansion
    return "$" not in value and "`" not in value and "<(" not in value and ">(" not in value


_WANTED = ("rm", "git", "sh", "bash", "dash", "zsh", "env", "sudo", "busybox", "xargs", "find", "eval", "dd", "shred")
"""Programs that a pattern is taken for where it could be one of them: only ever to deny by."""


def with_likely_program(fields: list[Field], word: Word, scope: Scope) -> list[Field]:
    """The program named where what is not known may be empty: `r${unset}m` is `rm`."""
    first = fields[0]
    if first.known or first.glob or not any(isinstance(part, Lit) and part.value for part in word.parts):
        return fields
    name = "".join(guess(part, scope) or "" for part in word.parts)
    wanted = name.rpartition("/")[2] in _WANTED
    return [replace(first, value=name), *fields[1:]] if wanted and name != first.value else fields


def likely_program(pattern: str) -> str:
    """The program that `/bin/r?` or `/???/rm` may be, "" where that cannot be said."""
    folder, _, name = pattern.rpartition("/")
    if "*" in name or not (folder or name.strip("?[]")):
        return ""
    found = next((wanted for wanted in _WANTED if fnmatchcase(wanted, name)), "")
    return (f"{folder}/{found}" if folder and not set(folder) & set("*?[") else found) if found else ""
