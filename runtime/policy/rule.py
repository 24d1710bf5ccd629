"""The built-in rules: what is always denied, and what asks.

Promises: pure; every verdict names its rule. The deny list is short and about what cannot be undone.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.shell.model import SimpleCommand

_RULES_VERSION = "built-in 1"
DESTRUCTIVE = frozenset(
    ("rm", "rmdir", "dd", "shred", "mkfs", "fdisk", "parted", "truncate", "kill", "pkill", "killall")
)
CODE_RUNNERS = frozenset(
    (
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "fish",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "deno",
        "bun",
        "php",
        "lua",
        "eval",
        "source",
        ".",
        "ssh",
        "sudo",
        "doas",
        "env",
        "xargs",
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allow, ask or deny; why; by which layer; by which rule."""

    effect: Literal["allow", "ask", "deny"]
    reason: str
    source: str
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How far calls may go without a person. The built-in one is made by `default_policy`."""

    name: str = "built-in"
    allow_read_only_shell: bool = False
    """Whether a shell command that only reads inside the workspace passes."""
    shell_reason: str = "shell commands ask"

    @property
    def digest(self) -> str:
        """SHA-256 in hex of all that decides."""
        text = f"{_RULES_VERSION}|{self.name}|{self.allow_read_only_shell}|{self.shell_reason}"
        return hashlib.sha256(text.encode()).hexdigest()

    def judge_tool(self, call: Call) -> Verdict:
        """The verdict on a tool whose paths gave no reason to object."""
        if call.read_only:
            return Verdict("allow", "it only reads, inside the workspace", "built-in", "read-only-tools")
        if "write" in call.risks:
            return Verdict("ask", "changes of files ask", "built-in", "changes-ask")
        return Verdict("ask", "everything that is not read-only asks", "built-in", "else-ask")

    def judge_part(self, simple: SimpleCommand, read_only: bool, paths: Sequence[PathFact]) -> Verdict:
        """The verdict on one simple command that is not denied."""
        if read_only and simple.understood and all(p.inside and not p.guard for p in paths):
            if self.allow_read_only_shell:
                return Verdict("allow", "only reads inside the workspace", "built-in", "read-only-shell")
            return Verdict("ask", "only reads inside the workspace", "built-in", "shell-asks")
        if any(not p.inside for p in paths):
            return Verdict("ask", "reaches outside the workspace", "path boundary", "outside-workspace")
        return Verdict("ask", "not known to only read", "built-in", "shell-asks")


def deny_of_part(simple: SimpleCommand, paths: Sequence[PathFact], call: Call) -> Verdict | None:
    """The built-in deny list, on one simple command."""
    program = posixpath.basename(simple.program)
    if any(fact.own for fact in paths):
        return Verdict("deny", "Interlock's own files are out of an agent's reach", "path boundary", "own-files")
    if program == "mkfs" or program.startswith("mkfs."):
        return Verdict("deny", "it would format a volume", "built-in", "no-format")
    if program == "dd" and any(word.startswith("of=/dev/") for word in simple.argv[1:]):
        return Verdict("deny", "it would write over a device", "built-in", "no-raw-device")
    if program == "rm" and _is_recursive(simple.argv[1:]):
        for word in simple.argv[1:]:
            if not word.startswith("-") and _is_root_or_home(word, simple, call):
                return Verdict("deny", f"it would delete {word} with all that is in it", "built-in", "no-wipe")
    return None


def is_destructive(simple: SimpleCommand) -> bool:
    """Whether a standing permission should never be offered for it."""
    program = posixpath.basename(simple.program)
    if program in CODE_RUNNERS:
        return any(word in ("-c", "-e", "-lc", "--eval", "-") for word in simple.argv[1:]) or program in (
            "eval",
            "sudo",
            "doas",
            "ssh",
        )
    return program in DESTRUCTIVE or program.startswith("mkfs")


def _is_recursive(words: Sequence[str]) -> bool:
    return any(
        word in ("--recursive", "-R") or (word.startswith("-") and not word.startswith("--") and "r" in word.lower())
        for word in words
    )


def _is_root_or_home(word: str, simple: SimpleCommand, call: Call) -> bool:
    text = word.rstrip("*").rstrip("/") or "/"
    if text in ("/", "~", "$HOME", "${HOME}"):
        return True
    base = posixpath.join(call.cwd, simple.cwd or "")
    if text.startswith("~/"):
        text = call.home + text[1:]
    full = posixpath.normpath(posixpath.join(base, text))
    return full in ("/", posixpath.normpath(call.home)) or any(
        full == "/" + part for part in ("bin", "boot", "etc", "home", "lib", "root", "sbin", "usr", "var", "opt")
    )
