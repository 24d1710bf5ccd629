"""All rules of all layers as one policy, and the order in which their words count.

Promises: deny wins over ask, ask over allow, in every order of rules and layers; the layer only decides who is named.
Pure. The digest covers all that decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rule import Rule
from interlock.runtime.policy.shell.classify import is_wrapper
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.subject import Subject
from interlock.runtime.policy.verdict import LAYERS, Layer, Verdict

Mode = Literal["read-only", "ask", "accept-edits", "locked"]
MODES: tuple[Mode, ...] = ("accept-edits", "ask", "read-only", "locked")
"""From the mildest to the strictest."""
_RULES_VERSION = "built-in 1"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a policy file that is not as it should be."""

    file: str
    line: int
    what: str
    """The rule or key."""
    why: str
    """The reason, and what to do."""
    effect: str = ""
    """What holds now because of it."""

    def said(self) -> str:
        """One line for a person."""
        return f"{self.file}:{self.line}: {self.what}: {self.why}" + (f" ({self.effect})" if self.effect else "")


@dataclass(frozen=True, slots=True)
class LayerFile:
    """What one policy file says."""

    layer: Layer
    file: str
    rules: tuple[Rule, ...] = ()
    faults: tuple[Fault, ...] = ()
    mode: Mode | None = None
    digest: str = ""
    """SHA-256 of its text, by which a person trusts a project's file."""
    trusted: bool = True
    """False: a project's file whose allows and mode do not count yet."""

    def counting(self) -> tuple[Rule, ...]:
        """The rules that count: of an untrusted project's file only denies and asks."""
        return self.rules if self.trusted else tuple(rule for rule in self.rules if rule.effect != "allow")

    def mode_counting(self) -> Mode | None:
        """The mode that counts: a project may only make things stricter."""
        if self.mode and self.layer == "project" and MODES.index(self.mode) < MODES.index("ask"):
            return None
        return self.mode


@dataclass(frozen=True, slots=True)
class Policy:
    """How far calls may go without a person. The built-in one is made by `default_policy`."""

    name: str = "built-in"
    allow_read_only_shell: bool = False
    """Whether a shell command that only reads inside the workspace passes without a rule that says so."""
    shell_reason: str = "shell commands ask"
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"
    faults: tuple[Fault, ...] = ()
    """What was wrong in the files. None of it makes anything milder."""
    files: tuple[LayerFile, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 in hex of all that decides."""
        text = f"{_RULES_VERSION}|{self.name}|{self.allow_read_only_shell}|{self.shell_reason}"
        if self.rules or self.mode != "ask":
            text += f"|{self.mode}|" + "|".join(sorted(_stable(rule) for rule in self.rules))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def in_mode(self, mode: Mode) -> Policy:
        """The same rules in another mode."""
        return replace(self, mode=mode)

    def ruled(self, subject: Subject, now: datetime | None) -> Verdict | None:
        """What the rules say against the subject: a deny or an ask, the strictest one. None: nothing."""
        standing = [rule for rule in self.rules if not rule.is_over(now)]
        for effect in ("deny", "ask"):
            found = [rule for rule in standing if rule.effect == effect and rule.touches(subject)]
            if found:
                rule = min(found, key=_rank)
                return Verdict(effect, rule.said(), rule.layer, rule.id, firm=True)
        near = [rule for rule in standing if rule.effect != "allow" and rule.nearly_touches(subject)]
        if near:
            rule = min(near, key=_rank)
            return Verdict("ask", f"it may reach what a rule is about: {rule.said()}", rule.layer, rule.id, firm=True)
        return None

    def allowed(self, subject: Subject, now: datetime | None) -> tuple[Verdict | None, str]:
        """The allow of a rule that covers the subject in whole, or None and why the nearest one does not."""
        why = ""
        for rule in sorted((r for r in self.rules if r.effect == "allow" and not r.is_over(now)), key=_rank):
            objection = rule.allows(subject)
            if objection is None:
                return Verdict("allow", rule.said(), rule.layer, rule.id), ""
            why = why or objection
        return None, why

    def judge_tool(self, call: Call, subject: Subject, now: datetime | None, boundary: Verdict | None) -> Verdict:
        """The verdict on a tool call. `boundary`: what its paths alone demand."""
        if found := self.ruled(subject, now):
            return found
        guarded = boundary is not None and boundary.rule != "outside-workspace"
        allow, _ = self.allowed(subject, now)
        if allow and not guarded:
            return allow
        if boundary:
            return boundary
        if call.read_only:
            return Verdict("allow", "it only reads, inside the workspace", "built-in", "read-only-tools")
        if "write" in subject.risks:
            if self.mode == "accept-edits" and subject.paths:
                return Verdict("allow", "edits inside the workspace are accepted", "mode", "accept-edits")
            return Verdict("ask", "changes of files ask", "built-in", "changes-ask")
        return Verdict("ask", "everything that is not read-only asks", "built-in", "else-ask")

    def judge_part(self, simple: SimpleCommand, subject: Subject, gate: str, now: datetime | None) -> Verdict:
        """The verdict on one simple command that the built-in list does not deny. `gate`: why it may not only read."""
        if found := self.ruled(subject, now):
            return found
        if guarded := next((fact for fact in subject.paths if fact.guard), None):
            return Verdict("ask", f"{guarded.resolved}: {guarded.guard}", "path boundary", "guarded-path")
        allow, why = self.allowed(subject, now) if simple.understood else (None, "")
        if allow:
            return allow
        if self.rules and is_wrapper(simple) and not simple.redirects and not simple.assignments:
            return Verdict("allow", "what it does is done by the commands in it", "built-in", "wrapper")
        if outside := next((fact for fact in subject.paths if not fact.inside and fact.kind != "unknown"), None):
            reason = f"{outside.resolved} is outside the workspace" if self.rules else "reaches outside the workspace"
            return Verdict("ask", reason, "path boundary", "outside-workspace")
        if any(fact.kind == "unknown" for fact in subject.paths):
            return Verdict("ask", why or "which files it touches is known only at run time", "built-in", "shell-asks")
        return self._of_part(simple, subject.read_only, gate, why)

    def _of_part(self, simple: SimpleCommand, read_only: bool, gate: str, why: str) -> Verdict:
        if read_only and simple.understood:
            if self.allow_read_only_shell:
                return Verdict("allow", "only reads inside the workspace", "built-in", "read-only-shell")
            reason = why or ("no rule allows it" if self.rules else "only reads inside the workspace")
            return Verdict("ask", reason, "built-in", "shell-asks")
        return Verdict("ask", why or gate or "not known to only read", "built-in", "shell-asks")


def layered(files: Sequence[LayerFile], *, mode: Mode | None = None) -> Policy:
    """One policy of all files. `mode`: chosen for this session; no file's stricter one is loosened by it."""
    named = [m for m in (file.mode_counting() for file in files) if m]
    if mode:
        named.append(mode)
    strictest = _strictest(named)
    rules = tuple(rule for file in files for rule in file.counting())
    faults = tuple(fault for file in files for fault in file.faults)
    name = "+".join(["built-in", *(file.layer for file in files)])
    return Policy(name=name, rules=rules, mode=strictest, faults=faults, files=tuple(files))


def _strictest(named: Sequence[Mode]) -> Mode:
    for mode in reversed(MODES):
        if mode in named:
            return mode
    return "ask"


def _rank(rule: Rule) -> tuple[int, str, int]:
    return LAYERS.index(rule.layer), rule.file, rule.line


def _stable(rule: Rule) -> str:
    shown = (getattr(rule, name) for name in rule.__slots__)
    return "|".join(repr(sorted(value)) if isinstance(value, frozenset) else repr(value) for value in shown)
