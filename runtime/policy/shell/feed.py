"""What a command finds on its standard input, as far as the text gives it.

Promises: `input` is exact; `likely` is a guess, good enough to deny by and never to allow by. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs import program_of
from interlock.runtime.policy.shell.expand import Scope, text_of
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.model import Redirect, SimpleCommand
from interlock.runtime.policy.shell.printed import likely_printed, output_of, printed, printed_by, some_output
from interlock.runtime.policy.syntax.syntax import Code, Node, Redir, Word

STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Files that are the standard input itself."""


def feed_by_redirects(frame: Frame, redirs: Sequence[Redir], scope: Scope) -> None:
    """Input from files, here-documents, here-strings, `< <(…)` and `<&3`."""
    for redir, redirect in zip(redirs, frame.redirects, strict=True):
        if redirect.fd not in (None, 0) or redirect.operator not in ("<", "<<", "<<<", "<>", "<&"):
            continue
        frame.fed, frame.feeder, frame.likely = True, (), None
        frame.input = redirect.target if redirect.operator in ("<<", "<<<") else None
        if redirect.operator == "<&":
            frame.input = _copied(redirect, frame.redirects)
        elif redirect.operator == "<":
            frame.likely = _by_pipe(redir, scope)


def is_shell(program: str) -> bool:
    """Whether a program takes what it is fed for commands."""
    entry = program_of(program.rpartition("/")[2])
    return entry is not None and entry.code == "shell"


def is_bare_shell(command: SimpleCommand) -> bool:
    """Whether it is a shell that takes its commands from its standard input."""
    return is_shell(command.program) and len(command.argv) == 1


def _copied(redirect: Redirect, redirects: Sequence[Redirect]) -> str | None:
    """`<&3`, where `3<<< text` stands beside it."""
    number = redirect.target or ""
    texts = [r.target for r in redirects if str(r.fd) == number and r.operator in ("<<", "<<<")]
    return texts[-1] if texts else None


def _by_pipe(redir: Redir, scope: Scope) -> str | None:
    part = redir.word.parts[0] if len(redir.word.parts) == 1 else None
    if not isinstance(part, Code) or not part.via.startswith("<"):
        return None
    return printed_by(part.body, lambda word: text_of(word, scope))


def likely_output(frame: Frame) -> str | None:
    """What a command probably prints."""
    if not all(f.value == "" or f.known or "$" not in f.value for f in frame.fields):
        return None
    text = frame.input if frame.input is not None else frame.likely
    values = [f.value for f in frame.args]
    told = printed(frame.name, values, text)
    return told if told is not None else likely_printed(frame.name, values, text)


def compound_output(node: Node, scope: Scope) -> str | None:
    """What a compound probably prints: all of it where that is told, else what stands in it."""

    def text(word: Word) -> str | None:
        return text_of(word, scope)

    whole = output_of(node, text, None)
    return whole if whole is not None else some_output(node, text)
