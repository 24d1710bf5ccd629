"""What a standing permission could be offered for an ask: the narrowest first.

Promises: nothing for what is not fully understood, destroys, starts a shell or code of its own, reaches outside or to a
guarded path; nothing for loops, conditions, here-documents, substitutions. No label is longer than 80 characters or
holds a line end. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.grant import PATTERN_JOINT, Suggestion
from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.pattern import PatternError, read_pattern
from interlock.runtime.policy.prefix import prefix_of
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.reading import Reading
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.shell.feed import is_shell
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.subject import Subject

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


def suggest_for_shell(call: Call, reading: Reading, asking: Sequence[Subject]) -> tuple[Suggestion, ...]:
    """For a command: its exact text in its folder, then commands that begin alike."""
    if not _is_offerable(reading) or not asking:
        return ()
    offers: list[Suggestion] = []
    if not any(_begins_badly(subject) for subject in reading.subjects):
        label = "exactly this command, in this folder"
        offers.append(Suggestion(call.tool, "command", reading.command, call.cwd, label))
    patterns = list(dict.fromkeys(_patterns(asking)))
    value = PATTERN_JOINT.join(patterns)
    label = ", ".join(patterns)
    if patterns and len(label) <= _MOST_LABEL and value != reading.command:
        offers.append(Suggestion(call.tool, "pattern", value, call.cwd, label))
    elif patterns and value == reading.command:
        offers.append(Suggestion(call.tool, "pattern", value, call.cwd, _fit(f"{label}, in any folder")))
    return tuple(offers)


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


def _is_offerable(reading: Reading) -> bool:
    shell = reading.shell
    if shell is None or not shell.understood or reading.over:
        return False
    if any(_is_barred(subject) for subject in reading.subjects):
        return False
    return _is_plain(reading.command, shell.commands)


def _is_barred(subject: Subject) -> bool:
    simple = subject.simple
    if simple is None or not simple.program or any(redirect.operator in ("<<", "<<<") for redirect in simple.redirects):
        return True
    if any(word in simple.via for word in ("$(", "`", "<(", ">(", "function", "trap", "eval", "xargs", "find", "sudo")):
        return True
    if subject.risks & {"destructive", "privileged", "dynamic"}:
        return True
    return not subject.wrapper and not subject.read_only and bars_standing(simple)


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


_RUNNERS = names(
    "python python2 python3 perl ruby node deno bun php lua Rscript julia tclsh osascript pwsh powershell eval "
    "source . exec ssh sudo doas su env xargs find parallel watch nohup setsid timeout time nice strace gdb awk "
    "gawk sed docker podman kubectl npx bunx pnpx uvx pipx dd shred kill pkill killall reboot shutdown chmod "
    "chown curl wget nc crontab at alias export unset hash enable trap command builtin coproc git-shell"
)
_DESTRUCTIVE_SUBCOMMANDS = {
    "git": names("reset clean push rebase filter-branch filter-repo gc reflog update-ref checkout restore config"),
    "npm": names("publish unpublish exec x login token owner deprecate config"),
    "yarn": frozenset(["publish", "dlx", "exec"]),
    "pnpm": frozenset(["publish", "dlx", "exec"]),
    "cargo": names("publish yank login owner install"),
    "gh": names("secret auth ssh-key gpg-key alias extension"),
    "terraform": names("apply destroy import state taint"),
    "make": frozenset(),
}


def bars_standing(simple: SimpleCommand) -> bool:
    """Whether no standing permission should ever be offered for this command."""
    name = simple.program.rpartition("/")[2]
    if re.sub(r"[0-9.]+$", "", name) in _RUNNERS or name in _RUNNERS or is_shell(name):
        return True
    words = [word for word in simple.argv[1:] if not word.startswith("-")]
    if name == "gh" and words[1:2] in (["delete"], ["merge"], ["close"], ["archive"]):
        return True
    return bool(words) and words[0] in _DESTRUCTIVE_SUBCOMMANDS.get(name, frozenset())
