"""The facts that a shell command states: what it would run, with what, where.

Promises: plain frozen values, no behaviour, no knowledge of the parser. A word whose value is known only at run time is
given as its source text and marked so in `known`; nothing here ever pretends to know more than the text says.
"""

from __future__ import annotations

from interlock.runtime.policy.programs.touch import Touch
from interlock.runtime.policy.record import record

DYNAMIC = "<dynamic>"
"""Stands for a program whose name is known only at run time."""

WRITING_OPERATORS = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
"""Redirect operators that can create or change their target; `>&` only when its target is not a file descriptor."""


@record
class Redirect:
    """One redirect of a command, as written."""

    operator: str
    """`>`, `>>`, `<`, `&>`, `>|`, `<>`, `<<`, `<<<`, `>&`, `<&`."""
    target: str | None
    """The file (or body of a here-document or here-string); None when it is known only at run time."""
    fd: int | None
    """The descriptor in front of the operator, None when there is none."""
    writes: bool
    """Whether it may create or change its target."""


@record
class SimpleCommand:
    """One program that would run, with everything the text says about it."""

    program: str
    """First word after quote removal; `<dynamic>` if known only at run time; empty for assignments alone."""
    argv: tuple[str, ...]
    """Program and arguments without quotes; a word known only at run time is its source text."""
    known: tuple[bool, ...]
    """For each word of `argv`: is its value literally known."""
    text: str
    """The command as written (its span), for display."""
    start: int
    """First character of the span in the whole command; of the outermost source for decoded, nested text."""
    end: int
    """One past the last character of the span."""
    assignments: tuple[tuple[str, str], ...] = ()
    """Variables set in front of the program (or alone), value without quotes or as source text."""
    redirects: tuple[Redirect, ...] = ()
    """Redirects of the command itself and of the compound commands around it."""
    cwd: str | None = ""
    """Directory it runs in, relative to the start (empty = the start), absolute after an absolute `cd`, None = unknown."""
    elsewhere: tuple[str, ...] = ()
    """Where it runs instead, if an earlier `cd` fails."""
    depth: int = 0
    """0 at the top; nested text (substitution, `sh -c`, xargs, find -exec, sudo) is deeper."""
    via: str = ""
    """What brought it: empty, or `xargs`, `sh -c`, `sudo`, `$(…)`, `function`."""
    understood: bool = True
    """Program and everything that decides what it does is literally known and of listed node types."""
    notes: tuple[str, ...] = ()
    """Why it is not understood, in plain words."""
    globs: tuple[int, ...] = ()
    """Words of `argv` that are unquoted patterns: names that exist at run time; `known` is False for them."""
    loose: bool = False
    """A name that one of them stands for is split at blanks: `for f in *; do cat $f; done`."""
    below: bool = False
    """Folders among its words stand for what was found below them: `find . | xargs cat`."""


@record
class ShellFacts:
    """Everything a command text says it would run."""

    commands: tuple[SimpleCommand, ...]
    """In source order, nested ones after the command that holds them."""
    understood: bool
    """False when any part is not fully understood or a cap was reached; denies still apply to what was seen."""
    notes: tuple[str, ...] = ()
    """Why it is not understood, in plain words."""
    operators: tuple[str, ...] = ()
    """`&&`, `||`, `|`, `;`, `&` seen at the top level, in order."""


@record
class ReadOnlyVerdict:
    """Whether a command only reads, and why not if not."""

    ok: bool
    """True only when program and every option are listed as reading."""
    why: str = ""
    """The first reason against, in plain words; empty when `ok`."""


@record
class Effects:
    """What a command touches, operands as written (relative to the command's own `cwd`)."""

    touches: tuple[Touch, ...] = ()
    """Paths with their use; the text `<any>` when nothing says which."""
    suspects: tuple[str, ...] = ()
    """Words, and parts of words, that may be paths although nothing says so."""
    hosts: tuple[str, ...] = ()
    """Hosts it names; `*unknown*` where it reaches one that the text does not tell."""
    network: bool = False
    """Whether it may use the network."""
    flags: tuple[str, ...] = ()
    """Marks: `env_prefix`, `environment`, `secret`, `destructive`, `privileged`, `dynamic`, `interactive`, `code`."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The paths it reads."""
        return tuple(dict.fromkeys(touch.text for touch in self.touches if touch.use == "read"))

    @property
    def writes(self) -> tuple[str, ...]:
        """The paths it may create, change or delete."""
        return tuple(dict.fromkeys(touch.text for touch in self.touches if touch.use != "read"))
