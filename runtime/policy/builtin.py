"""The built-in rules: the policy where nothing else was said, and what is denied whatever a file says.

Promises: pure; every verdict names its rule. The deny list is short and about what cannot be undone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.layer import Policy
from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.verdict import Verdict


def default_policy() -> Policy:
    """Tools that only read pass inside the workspace; everything else asks; a short list is denied."""
    return Policy()


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
