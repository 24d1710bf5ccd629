"""What rules are matched against: one simple command of a shell call, or one call of another tool, with all its facts.

Promises: facts only, no verdict; made once for a decision and read by every rule. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.below import secrets_below
from interlock.runtime.policy.facts.folder_fact import MOST_NAMES, folder_objections
from interlock.runtime.policy.facts.git_fact import git_facts, git_hosts, is_git, placed
from interlock.runtime.policy.facts.path import PathFact, path_fact
from interlock.runtime.policy.facts.plain_fact import PlainFact, plain_fact
from interlock.runtime.policy.facts.tool import ToolKind, is_known, paths_of, tool_kind
from interlock.runtime.policy.once import Once
from interlock.runtime.policy.programs import program_of, read_usage
from interlock.runtime.policy.programs.address import UNKNOWN_HOST, addresses_in, hosts_in
from interlock.runtime.policy.programs.touch import Touch
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import Effects, SimpleCommand

_MAY_RUN = frozenset(("loose", "command", "commands", "joined"))
"""Operands that may be a program, or that are not known."""
MOST_WORDS = 400
"""Words and paths of one command that are looked at; a command with more is never allowed."""


@dataclass
class Subject:
    """One thing to be judged."""

    call: Call
    world: World
    tool: str
    """The tool's canonical name."""
    simple: SimpleCommand | None = None
    paths: tuple[PathFact, ...] = ()
    objections: tuple[str, ...] = ()
    """What speaks against passing without a person, apart from the paths."""
    risks: frozenset[str] = frozenset()
    hosts: tuple[str, ...] = ()
    read_only: bool = False
    why_not: str = ""
    """Why it is not known to only read."""
    understood: bool = True
    wrapper: bool = False
    """Does nothing itself; what it runs is judged by itself."""
    network: bool = False
    plain: PlainFact | None = None
    """What the command says by itself."""

    def elsewhere(self, simple: SimpleCommand) -> Subject:
        """The same facts for the same command at another place of the text."""
        return replace(self, simple=simple)

    @Once
    def names(self) -> tuple[str, ...]:
        """The names that a rule may call the tool by."""
        return tuple(dict.fromkeys(name for name in (self.tool, self.call.tool, self.call.named) if name))

    @Once
    def program(self) -> str:
        """The program without a system folder, "" for other tools."""
        return program_name(self.simple.program) if self.simple else ""

    @property
    def args(self) -> tuple[str, ...]:
        """The words behind the program."""
        return self.simple.argv[1:] if self.simple else ()

    @Once
    def may_wrap(self) -> bool:
        """Whether it is a program that nobody knows, which may run what its words name."""
        if self.simple is None or self.read_only or not self.args or len(self.args) > MOST_WORDS:
            return False
        entry = program_of(self.program.rpartition("/")[2])
        return entry is None or (not entry.named_by and any(slot.role in _MAY_RUN for slot in entry.operands))

    def behind(self, program: str) -> Iterator[tuple[str, ...]]:
        """What follows the name of a program among the words of one that nobody knows: it may be what that one runs."""
        for at, word in enumerate(self.args) if self.may_wrap else ():
            if posixpath.basename(word) == program:
                yield self.args[at + 1 :]

    @Once
    def program_path(self) -> str | None:
        """The real path of a program that is named by a path; None for one that is looked up."""
        if self.simple is None or "/" not in self.simple.program:
            return None
        fact = path_fact(self.simple.program, "read", self.call, self.world, cwd=self.simple.cwd, shell=True)
        return fact.resolved or None

    @Once
    def place(self) -> PathFact | None:
        """The folder that a command works in; None for other tools, and where only run time tells it."""
        if self.simple is None or self.simple.cwd is None:
            return None
        return path_fact(".", "read", self.call, self.world, cwd=self.simple.cwd)

    @property
    def works_inside(self) -> bool:
        """Whether the folder that it works in, where that is known, is inside the workspace."""
        return self.place is None or self.place.inside

    @Once
    def roots(self) -> tuple[str, ...]:
        """The real paths of the workspace's roots."""
        return tuple([self.world.resolve(root).path for root in self.call.workspace])

    @Once
    def wide_paths(self) -> tuple[PathFact, ...]:
        """The paths that stand for all that is below them: folders it changes, or reads with what is in them.

        A file that is still to be made is no folder.
        """
        if self.simple is None:
            kinds = {"grep": ("folder", "missing", "link", "other"), "read_file": ("folder",)}.get(self.tool, ())
            return tuple([fact for fact in self.paths if fact.resolved and fact.kind in kinds])
        found = [fact for fact in self.paths if fact.resolved and fact.kind != "file"]
        return tuple(
            [fact for fact in found if fact.below or (fact.use != "read" and fact.kind in ("folder", "pattern"))]
        )

    @Once
    def suspects(self) -> tuple[PathFact, ...]:
        """Words, and parts of words, that may be paths although nothing says so."""
        if self.simple is None or self.plain is None:
            return ()
        cwd = self.simple.cwd
        texts = self.plain.effects.suspects
        facts = [path_fact(text, "write", self.call, self.world, cwd=cwd, shell=True) for text in texts]
        return tuple([replace(fact, certain=False) for fact in facts if fact.resolved])

    @Once
    def maybe_hosts(self) -> tuple[str, ...]:
        """Words, and parts of words, that may be hosts although nothing says so."""
        if self.simple is None or self.plain is None:
            return ()
        found = [host for text in self.plain.effects.suspects for host in addresses_in(text)]
        return tuple(dict.fromkeys([host for host in found if host and host not in (UNKNOWN_HOST, *self.hosts)]))

    @property
    def _looks_at_hidden(self) -> bool:
        """Whether it goes into hidden names of the folders that it walks; some programs do only when they are told."""
        usage = read_usage(self.program.rpartition("/")[2], self.args) if self.simple is not None else None
        return usage is None or not usage.program.visible or usage.has("hidden")

    @Once
    def boundary(self) -> tuple[PathFact, ...]:
        """Paths outside or guarded, also those that only may be paths.

        A program without a table may write to any of its words, so each word counts that would lead out.
        """
        found = [fact for fact in self.paths if not fact.inside or fact.guard]
        if not self.works_inside and not self.read_only and self.place is not None:
            found.append(self.place)
        if self.wide_paths:
            found += secrets_below(self.wide_paths, self._looks_at_hidden, self.call, self.world)
        if self.simple is not None and not self.read_only:
            found += [fact for fact in self.suspects if not fact.inside or fact.guard]
        return tuple(dict.fromkeys([fact for fact in found if fact.kind != "unknown"])) if found else ()


def command_subject(call: Call, simple: SimpleCommand, world: World) -> Subject:
    """The facts of one simple command."""
    plain = plain_fact(simple)
    found = plain.effects
    found_paths = (_shell_paths(place, plain, call, world) for place in _at_each_place(simple, call, world))
    paths = tuple(islice(chain.from_iterable(found_paths), MOST_WORDS + 1))
    git, objections = git_facts(simple, plain.reads_only, call, world)
    if plain.reads_only:
        objections = (*objections, *folder_objections(simple, call, world))
    if len(paths) > MOST_WORDS or (len(simple.argv) > MOST_WORDS and not plain.reads_only):
        objections = (*objections, f"it has more than {MOST_WORDS} words or paths")
    facts = tuple(dict.fromkeys((*paths, *git))) if git or len(paths) > 1 else paths
    risks = frozenset((*_risk_words(found, facts, plain.reads_only, simple.understood), *found.flags))
    return Subject(
        call,
        world,
        "bash",
        simple,
        facts,
        objections,
        risks,
        git_hosts(simple, found.hosts, call, world),
        plain.reads_only,
        plain.why_not,
        simple.understood,
        plain.wraps,
        found.network,
        plain,
    )


def _at_each_place(simple: SimpleCommand, call: Call, world: World) -> Iterator[SimpleCommand]:
    """The command in every folder that it may run in: a `cd` that leads nowhere leaves it where it was."""
    yield simple
    if simple.elsewhere and world.resolve(posixpath.join(call.cwd, simple.cwd or "")).kind != "folder":
        yield from (replace(simple, cwd=place) for place in simple.elsewhere)


def _shell_paths(simple: SimpleCommand, plain: PlainFact, call: Call, world: World) -> Iterator[PathFact]:
    patterns = {simple.argv[i] for i in simple.globs} if simple.globs else ()
    touches = plain.effects.touches
    for touch in placed(simple, touches, call, world) if is_git(simple) else touches:
        if isinstance(touch, PathFact):
            yield touch
            continue
        if touch.text in patterns:
            yield from _expanded(touch, simple, call, world)
            continue
        fact = _as(path_fact(touch.text, touch.use, call, world, cwd=simple.cwd, shell=True), touch)
        # of a pattern's files the ones that stand beside them have names made from theirs
        yield replace(fact, kind="pattern") if any(text in touch.text for text in patterns) else fact
        yield from _link_itself(fact, simple, call, world)


def _link_itself(fact: PathFact, simple: SimpleCommand, call: Call, world: World) -> Iterator[PathFact]:
    """A link that is named, because it may be taken away or replaced itself, and not what it leads to."""
    folder, name = posixpath.split(fact.written.rstrip("/"))
    if fact.use == "read" or not fact.resolved or name in ("", ".", "..", "~"):
        return
    place = path_fact(folder or ".", fact.use, call, world, cwd=simple.cwd, shell=True)
    if place.resolved and (own := posixpath.join(place.resolved, name)) != fact.resolved:
        yield replace(fact, resolved=own, inside=place.inside, kind="file", guard="", own=place.own, below=False)


def _as(fact: PathFact, touch: Touch) -> PathFact:
    if not touch.certain or touch.below:
        return replace(fact, certain=touch.certain, below=touch.below, tracked=touch.tracked)
    return fact


def _expanded(touch: Touch, simple: SimpleCommand, call: Call, world: World) -> Iterator[PathFact]:
    """A pattern's own place, and every file it stands for."""
    text, use = touch.text, touch.use
    whole = path_fact(text, use, call, world, cwd=simple.cwd, shell=True)
    yield replace(_as(whole, touch), kind=whole.kind if whole.kind == "unknown" else "pattern")
    if whole.kind == "unknown" or not whole.inside:
        return
    # a pattern for hidden names also stands for `..` in some shells
    hidden = any(part.startswith(".") and part.strip(".") and set(part) & set("*?[") for part in text.split("/"))
    names = None if hidden else world.expand(posixpath.join(call.cwd, simple.cwd or "", text), MOST_NAMES)
    if names is None or (simple.loose and any(_falls_apart(name.removeprefix(call.cwd)) for name in names)):
        yield PathFact(text, "", False, use, "unknown")
        return
    for name in names:
        yield _as(path_fact(name, use, call, world), touch)


def _falls_apart(name: str) -> bool:
    """Whether a shell makes several words of a name, or looks for further files by it."""
    return any(c.isspace() or c in "*?[" for c in name)


def _risk_words(found: Effects, paths: tuple[PathFact, ...], reads: bool, understood: bool) -> set[str]:
    words = {"execute"} if not reads else {"read"}
    if found.writes:
        words.add("write")
    if any(touch.use == "delete" for touch in found.touches):
        words.add("delete")
    if found.reads:
        words.add("read")
    if found.network:
        words.add("network")
    if not understood:
        words.add("not-understood")
    return words | path_risks(paths)


def path_risks(paths: tuple[PathFact, ...]) -> set[str]:
    """`outside` and `guarded`, where a path is so."""
    words: set[str] = set()
    for fact in paths:
        if not fact.inside:
            words.add("outside")
        if fact.guard:
            words.add("guarded")
    return words


def tool_subject(call: Call, world: World) -> Subject:
    """The facts of a call of a tool that is no shell."""
    kind = tool_kind(call.tool)
    known = kind.name != call.tool or kind.risks == call.risks
    writes = "write" in (call.risks or kind.risks)
    paths = tuple(
        dict.fromkeys(path_fact(text, use, call, world) for text, use in paths_of(kind.name, call.input, writes=writes))
    )
    risks = set(call.risks or kind.risks) | path_risks(paths)
    is_told = bool(call.risks) or is_known(call.tool)
    hosts = hosts_in(call.input.values()) if "network" in risks else ()
    reads = call.read_only or (kind.read_only and known and not call.risks)
    why = "" if reads else _why_not(kind, risks)
    return Subject(
        call, world, kind.name, None, paths, (), frozenset(risks), hosts, reads, why, is_told, False, "network" in risks
    )


def _why_not(kind: ToolKind, risks: set[str]) -> str:
    return (
        "changes of files ask"
        if "write" in risks and kind.name in ("write_file", "edit_file")
        else ("everything that is not read-only asks")
    )
