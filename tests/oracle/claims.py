"""What the policy states about a command, brought to the form that is held against what was seen.

The one place that knows how the facts look.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.path import is_below
from interlock.runtime.policy.facts.reading import read_call
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs import read_usage
from interlock.runtime.policy.programs.address import UNKNOWN_HOST
from interlock.runtime.policy.programs.git_touch import tree_use
from interlock.runtime.policy.programs.read_only import asks_version
from interlock.runtime.policy.shell.model import DYNAMIC, SimpleCommand
from interlock.runtime.tools.world import PosixWorld


@dataclass(frozen=True, slots=True)
class Claims:
    """What a command is said to do."""

    reads: tuple[tuple[str, bool], ...]
    """Real paths, and whether what lies below is meant too."""
    writes: tuple[tuple[str, bool], ...]
    programs: frozenset[str]
    """Names of the programs it runs."""
    hosts: frozenset[str]
    network: bool = False
    patterns: tuple[str, ...] = ()
    """Patterns that the shell makes names of."""
    any_read: bool = False
    any_write: bool = False
    any_program: bool = False
    any_host: bool = False
    shows_names: bool = False
    """Each git command in it shows no content, or writes the index anew, for which it compares every file with it."""

    def has_read(self, path: str) -> bool:
        """Whether reading `path` is said."""
        return self.any_read or self.any_write or _is_among(path, self.reads) or _is_among(path, self.writes)

    def has_list(self, folder: str) -> bool:
        """Whether reading the names in `folder` is said: of it, or of a folder above that a walk begins at.

        Names alone are no content, of which the rules speak; so a walk for names need not be told from one for content.
        """
        places = [(place, True) for place, _ in (*self.reads, *self.writes)]
        # beside a file that is written names are looked at for a free one, and for numbers of copies
        places += [(posixpath.dirname(place), False) for place, _ in self.writes]
        return self.any_read or self.any_write or _is_among(folder, tuple(places))

    def has_pattern_below(self, folder: str) -> bool:
        """Whether a pattern is said that the shell looks for in `folder`."""
        places = [place.split("/") for place in self.patterns]
        parts = folder.split("/")
        return any(len(parts) < len(place) and all(map(fnmatchcase, parts, place)) for place in places)

    def has_write(self, path: str) -> bool:
        """Whether changing, making or deleting `path` is said."""
        return self.any_write or _is_among(path, self.writes)

    def has_program(self, path: str) -> bool:
        """Whether running `path` is said."""
        return self.any_program or posixpath.basename(path) in self.programs

    def has_host(self, names: Iterable[str]) -> bool:
        """Whether a connection to a machine of one of these names is said."""
        return self.any_host or not self.hosts.isdisjoint(names)


def claims_of(command: str, root: Path) -> Claims:
    """What the policy says of `command`, given in the fixture's workspace."""
    call = Call("bash", {"command": command}, f"{root}/ws", (f"{root}/ws",), f"{root}/home")
    reading = read_call(call, PosixWorld())
    assert reading.shell is not None
    subjects = reading.subjects
    code = any(map(_runs_code, subjects))
    lost = code or not reading.shell.understood or bool(reading.over)
    facts = [fact for subject in subjects for fact in subject.paths]
    suspects = [(fact.resolved, True) for subject in subjects for fact in subject.suspects]
    below = {id(fact) for subject in subjects for fact in subject.wide_paths}
    return Claims(
        (*((f.resolved, id(f) in below) for f in facts if f.use == "read" and f.resolved), *_links(subjects)),
        (*((f.resolved, id(f) in below) for f in facts if f.use != "read" and f.resolved), *suspects),
        frozenset(name for s in subjects for name in (posixpath.basename(s.program), *_carriers(s))),
        frozenset(host for s in subjects for host in s.hosts),
        any(s.network for s in subjects),
        (
            *(p for s in subjects if s.simple for p in _patterns(s.simple, f"{root}/ws")),
            *_looped(command, f"{root}/ws"),
        ),
        lost or any(f.kind == "unknown" and f.use == "read" for f in facts),
        lost or any(f.kind == "unknown" and f.use != "read" for f in facts),
        lost,
        lost or any(UNKNOWN_HOST in s.hosts or (s.network and not s.hosts) for s in subjects),
        all(_shows_names(s) for s in subjects if posixpath.basename(s.program) == "git"),
    )


_LINES = frozenset(("shell", "joined", "commands", "inline"))
"""Roles of words that a shell is given to run; what they run is listed beside it."""


def _carriers(subject: Subject) -> tuple[str, ...]:
    usage = read_usage(posixpath.basename(subject.program), subject.args) if subject.simple else None
    return ("sh", "dash") if usage is not None and any(word.role in _LINES for word in usage.words) else ()


def _links(subjects: Iterable[Subject]) -> Iterator[tuple[str, bool]]:
    """The names of links that are read, as they are written: a second name may be made of the link itself."""
    for subject in subjects:
        for fact in subject.paths if subject.simple is not None else ():
            if fact.use == "read" and fact.resolved and subject.simple is not None:
                path = posixpath.normpath(posixpath.join(subject.call.cwd, subject.simple.cwd or "", fact.written))
                if os.path.islink(path):
                    yield path, False


def _looped(command: str, start: str) -> Iterator[str]:
    """Patterns of a loop that uses none of the names."""
    for words in re.findall(r"\bfor \w+ in ([^;\n]*)", command):
        for word in words.replace('"', "").replace("$PWD", start).split():
            if _is_pattern(word):
                yield posixpath.normpath(posixpath.join(start, word))


def _shows_names(subject: Subject) -> bool:
    usage = read_usage("git", subject.args)
    if usage is None or not usage.verb:
        return False
    return tree_use(usage) != "read" or "post-index-change" in usage.program.hooks


def _patterns(simple: SimpleCommand, start: str) -> Iterator[str]:
    texts = [simple.argv[at] for at in simple.globs]
    texts += [redirect.target for redirect in simple.redirects if redirect.target]
    for text in texts:
        text = text.replace("~", f"{posixpath.dirname(start)}/home", 1) if text.startswith("~") else text
        for folder in (simple.cwd or "", *simple.elsewhere):
            path = posixpath.normpath(posixpath.join(start, folder, text))
            head, _, tail = path.rpartition("/")
            # a folder in front of the pattern may be a link
            yield path if _is_pattern(head) else f"{os.path.realpath(head)}/{tail}"


_CODE_IN_FILES = frozenset(("script", "include", "config", "joined", "commands"))
"""Roles of words that name code which nobody reads."""


def _runs_code(subject: Subject) -> bool:
    """Whether the catalogue says that it runs code of its own, with which it may do anything."""
    simple = subject.simple
    if simple is None or simple.program == DYNAMIC or "code" in subject.risks or "/" in subject.program:
        return True
    name = posixpath.basename(simple.program)
    usage = read_usage(name, simple.argv[1:])
    if usage is None or asks_version(name, simple.argv[1:]):
        return False
    return bool(usage.program.code or usage.root.code) or any(word.role in _CODE_IN_FILES for word in usage.words)


def _is_among(path: str, places: tuple[tuple[str, bool], ...]) -> bool:
    return any(
        path == place or (below and is_below(path, place)) or (_is_pattern(place) and _fits(path, place, below))
        for place, below in places
    )


def _is_pattern(place: str) -> bool:
    return not {"*", "?", "["}.isdisjoint(place)


def _fits(path: str, pattern: str, below: bool) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return (below or len(parts) == len(wanted)) and len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))
