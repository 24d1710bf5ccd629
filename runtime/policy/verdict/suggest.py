"""What a standing permission could be offered for an ask: the narrowest first; or why nothing could.

Promises: nothing for what is not fully understood, destroys, starts a shell or code of its own, reaches outside or to a
guarded path; nothing for loops, conditions, here-documents, substitutions. The tests, the lint and the build of a
project are offered exactly as they are written. No label is longer than 80 characters or holds a line end. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.facts.reading import Reading
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs import read_usage
from interlock.runtime.policy.rules.grant import PATTERN_JOINT, Suggestion
from interlock.runtime.policy.rules.pattern import PatternError, read_pattern
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.shell.feed import is_shell
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.verdict.prefix import prefix_of, reaches_code
from interlock.runtime.policy.verdict.stand import verifies, why_only_once

_MOST_LABEL = 80
_LOADERS = frozenset(
    ("PATH", "ENV", "IFS", "PS4", "SHELL", "PAGER", "EDITOR", "VISUAL", "BROWSER", "PROMPT_COMMAND", "CDPATH", "HOME")
)
_LOADER_PREFIXES = ("LD_", "DYLD_", "GIT_", "PYTHON", "NODE_", "RUBY", "PERL", "BASH_", "NPM_", "npm_", "JAVA_", "GO")
"""Variables that say which code runs."""
_PLAIN_GAP = re.compile(r"[\s;&|]*")


def suggest_for_tool(call: Call, facts: Sequence[PathFact]) -> tuple[Suggestion, ...]:
    """For a change of one file: this file, then its folder."""
    writes = [fact for fact in facts if fact.use == "write"]
    if len(writes) != 1 or writes[0].guard or writes[0].error:
        return ()
    fact = writes[0]
    offers = [Suggestion(call.tool, "path", fact.resolved, call.cwd, _fit(f"{call.tool} of {fact.written}"))]
    if fact.inside:
        folder = posixpath.dirname(fact.resolved)
        label = _fit(f"{call.tool} of files in {_short(folder, call)}")
        offers.append(Suggestion(call.tool, "folder", folder, call.cwd, label))
    return tuple(offers)


def why_no_folder(facts: Sequence[PathFact]) -> str:
    """Why nothing longer is offered for a tool that is no shell."""
    writes = [fact for fact in facts if fact.use == "write"]
    if len(writes) == 1:
        return f"{writes[0].written}: {why}" if (why := writes[0].guard or writes[0].error) else ""
    return "only a change of one file can be allowed for longer"


def suggest_for_shell(call: Call, reading: Reading, asking: Sequence[Subject]) -> tuple[Suggestion, ...]:
    """For a command: its exact text in its folder, then commands that begin alike."""
    if not asking or why_none(reading):
        return ()
    offers: list[Suggestion] = []
    if not any(_begins_badly(subject) for subject in reading.subjects):
        offers.append(Suggestion(call.tool, "command", reading.command, call.cwd, _exactly(asking)))
    if any(subject.read_only and _needs_reading(subject) for subject in asking):
        return (*offers, *_by_reading(call, asking))
    patterns = list(dict.fromkeys(_patterns(asking)))
    value = PATTERN_JOINT.join(patterns)
    label = ", ".join(patterns)
    if patterns and len(label) <= _MOST_LABEL and value != reading.command:
        offers.append(Suggestion(call.tool, "pattern", value, call.cwd, label))
    elif patterns and value == reading.command:
        offers.append(Suggestion(call.tool, "pattern", value, call.cwd, _fit(f"{label}, in any folder")))
    return tuple(offers)


def _exactly(asking: Sequence[Subject]) -> str:
    """The label of the exact command, with a warning where it runs code that may be other code the next time."""
    runs = any(subject.simple is not None and not subject.read_only and verifies(subject.simple) for subject in asking)
    return "exactly this, in this folder; runs the project's code as it then is" if runs else _EXACTLY


_EXACTLY = "exactly this command, in this folder"


def _needs_reading(subject: Subject) -> bool:
    """Whether a pattern for its text would cover what runs code or does anything else."""
    assert subject.simple is not None
    usage = read_usage(subject.program, subject.args)
    return usage is None or reaches_code(usage) or not usage.program.standing


def _by_reading(call: Call, asking: Sequence[Subject]) -> Iterator[Suggestion]:
    """These programs, as long as they are understood to only read."""
    if not all(s.read_only and not s.boundary and not s.objections and not _sets(s) for s in asking):
        return
    named = list(dict.fromkeys([subject.program for subject in asking if not subject.wrapper]))
    label = f"{', '.join(named)}: whatever only reads and runs nothing, inside the workspace"
    if named and len(label) <= _MOST_LABEL and not any("/" in name for name in named):
        yield Suggestion(call.tool, "reading", PATTERN_JOINT.join(named), call.cwd, label)


def _sets(subject: Subject) -> bool:
    return subject.simple is not None and _is_beyond_a_pattern(subject.simple)


def _patterns(asking: Sequence[Subject]) -> Iterator[str]:
    """One pattern a part that asks; none at all when one of them cannot be written as one."""
    found: list[str] = []
    for subject in asking:
        assert subject.simple is not None
        barred = subject.boundary or subject.objections or _is_beyond_a_pattern(subject.simple)
        text = "" if barred else prefix_of(subject.simple)
        if subject.wrapper:
            continue
        if not text or len(text) > _MOST_LABEL or not _reads_back(text):
            return
        found.append(text)
    yield from found


def _begins_badly(subject: Subject) -> bool:
    """Whether the exact text would begin with a variable or a shell, which no standing permission may."""
    simple = subject.simple
    return simple is not None and (bool(simple.assignments) or is_shell(simple.program))


def _is_beyond_a_pattern(simple: SimpleCommand) -> bool:
    """Whether a pattern for the program would not cover it: it writes by a redirect, or a variable loads code."""
    if any(redirect.writes and redirect.target != "/dev/null" for redirect in simple.redirects):
        return True
    return any(name in _LOADERS or name.startswith(_LOADER_PREFIXES) for name, _ in simple.assignments)


def _reads_back(text: str) -> bool:
    try:
        read_pattern(text)
    except PatternError:
        return False
    return "\n" not in text


def why_none(reading: Reading) -> str:
    """Why nothing longer than once could be offered for a command, "" where something could."""
    shell = reading.shell
    if shell is None or not shell.understood or reading.over:
        return "what it does is not fully understood"
    why = next((why for subject in reading.subjects if (why := _why_barred(subject))), "")
    if why:
        return why
    return "" if _is_plain(reading.command, shell.commands) else "it is more than plain commands, one after the other"


def _why_barred(subject: Subject) -> str:
    simple = subject.simple
    if simple is None or not simple.program:
        return "a part of it is no command"
    if any(redirect.operator in ("<<", "<<<") for redirect in simple.redirects):
        return "a text that stands in it is part of what it does"
    if any(word in simple.via for word in ("$(", "`", "<(", ">(", "function", "trap", "eval", "xargs", "find", "sudo")):
        return f"{simple.program} is run by {simple.via}, with words that may be others the next time"
    if grave := sorted(subject.risks & {"destructive", "privileged", "dynamic"}):
        return f"{simple.program} is {grave[0]}"
    return why_only_once(subject)


def _is_plain(text: str, commands: Sequence[SimpleCommand]) -> bool:
    """Whether the text is commands and operators alone: no loop, no condition, no comment, no function."""
    at = 0
    for simple in sorted((c for c in commands if c.depth == 0), key=lambda c: c.start):
        if not _PLAIN_GAP.fullmatch(text[at : simple.start]):
            return False
        at = max(at, simple.end)
    if not _PLAIN_GAP.fullmatch(text[at:]):
        return False
    return all(_code_is_plain(simple) for simple in commands if is_shell(simple.program))


def _code_is_plain(simple: SimpleCommand) -> bool:
    for word in simple.argv[1:]:
        if not word.startswith("-") and " " in word:
            inner = parse_command(word)
            return inner.understood and _is_plain(word, inner.commands)
    return True


def _short(folder: str, call: Call) -> str:
    shown = posixpath.relpath(folder, call.cwd)
    return "this folder" if shown == "." else folder if shown.startswith("..") else shown


def _fit(label: str) -> str:
    label = "".join(c if c.isprintable() else "?" for c in label)
    return label if len(label) <= _MOST_LABEL else label[: _MOST_LABEL - 1] + "…"
