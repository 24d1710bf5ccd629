"""What no rule, grant or mode can allow: the short list of what cannot be undone, and our own files.

Promises: pure; every verdict names its entry. It stands in code and not in a file, so that no file can take it away.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.runtime.policy.facts.guard import is_own_rule_file
from interlock.runtime.policy.facts.path import NUL, PathFact, is_below
from interlock.runtime.policy.facts.plain_fact import plain_fact
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.rules.rule import Verdict
from interlock.runtime.policy.shell.model import SimpleCommand

_SYSTEM = names("bin boot dev etc home lib lib64 opt proc root sbin srv sys usr var Users System Library")
_DEVICES = (
    "/dev/sd",
    "/dev/nvme",
    "/dev/hd",
    "/dev/vd",
    "/dev/xvd",
    "/dev/mmcblk",
    "/dev/disk",
    "/dev/mapper/",
    "/dev/rdisk",
    "/dev/md",
)
_FORMATS = frozenset(["mkswap", "wipefs", "blkdiscard"])


def floor_verdict(subject: Subject) -> Verdict | None:
    """A deny that nothing stands above, or None."""
    for fact in subject.paths:
        if fact.error == NUL:
            return _deny("the path holds a NUL character, so it names no file", "path boundary", "nul-in-path")
        if fact.own:
            return _deny("Interlock's own files are out of an agent's reach", "path boundary", "own-files")
        if fact.use != "read" and (is_own_rule_file(fact.resolved) or is_own_rule_file(fact.written)):
            return _deny("a project's rules for Interlock are changed by a person alone", "path boundary", "own-rules")
    if subject.simple is None:
        return None
    if any(fact.own for fact in subject.boundary) or _names_own_place(subject, subject.simple):
        return _deny("Interlock's own files are out of an agent's reach", "path boundary", "own-files")
    plain = subject.plain or plain_fact(subject.simple)
    if why := plain.own:
        return _deny(f"{why}; only a person may, from a terminal of theirs", "built-in", "own-commands")
    return _of_command(subject, subject.simple, plain.last_name)


def _names_own_place(subject: Subject, simple: SimpleCommand) -> bool:
    """Whether a folder of ours stands in a word, as in code or in an address: `python -c`, `socat UNIX-CONNECT:`."""
    places = [place for place in subject.call.protected if len(place) > 8]
    if not places:
        return False
    bodies = [redirect.target or "" for redirect in simple.redirects if redirect.operator in ("<<", "<<<")]
    return any(place in word for word in (*simple.argv[1:], *bodies) for place in places)


def _of_command(subject: Subject, simple: SimpleCommand, program: str) -> Verdict | None:
    if program in _FORMATS or program == "mkfs" or program.startswith("mkfs."):
        return _deny("it would format a volume", "built-in", "no-format")
    device = next((fact.resolved for fact in subject.paths if fact.use != "read" and _is_device(fact)), None)
    if program == "dd":
        device = device or next(
            (w[3:] for w in simple.argv[1:] if w.startswith("of=") and w[3:].startswith(_DEVICES)), None
        )
    if device:
        return _deny(f"it would write over the device {device}", "built-in", "no-raw-device")
    if program == "rm" and _is_recursive(simple.argv[1:]):
        for word in _operands(simple.argv[1:]):
            if _is_root_or_home(word, simple, subject):
                return _deny(f"it would delete {word} with all that is in it", "built-in", "no-wipe")
    if program == "find" and "-delete" in simple.argv and not {"-name", "-path", "-iname", "-regex"} & set(simple.argv):
        for word in _operands(simple.argv[1:]):
            if _is_root_or_home(word, simple, subject):
                return _deny(f"it would delete {word} with all that is in it", "built-in", "no-wipe")
    if program == "rm" and "--no-preserve-root" in simple.argv:
        return _deny("it would delete the root of the file system", "built-in", "no-wipe")
    return None


def _deny(reason: str, source: str, rule: str) -> Verdict:
    return Verdict("deny", reason, source, rule)


def _is_device(fact: PathFact) -> bool:
    return fact.resolved.startswith(_DEVICES)


def _is_recursive(words: Sequence[str]) -> bool:
    for word in words:
        if word == "--":
            return False
        if word.startswith("--"):
            if len(word) > 2 and "--recursive".startswith(word):
                return True
        elif word.startswith("-") and set(word) & set("rR"):
            return True
    return False


def _operands(words: Sequence[str]) -> list[str]:
    """The words that are no options; behind `--` all are operands."""
    end = words.index("--") if "--" in words else len(words)
    return [word for word in words[:end] if not word.startswith("-")] + list(words[end + 1 :])


def _is_root_or_home(word: str, simple: SimpleCommand, subject: Subject) -> bool:
    home = posixpath.normpath(subject.call.home or "/")
    bare = word.rstrip("*").rstrip("/") or "/" if word.endswith(("/", "*")) else word
    for name in ("$HOME", "${HOME}", "~"):
        if bare == name or bare.startswith(name + "/"):
            bare = home + bare[len(name) :]
    if simple.cwd is None and not bare.startswith("/"):
        return False
    # a pattern alone, as `*` or `.*`, is all that is in the folder
    text = "." if word in ("*", ".*", "./*", "{*,.*}") else bare
    full = posixpath.normpath(posixpath.join(subject.call.cwd, simple.cwd or "", text))
    places = {full, subject.world.resolve(full).path}
    return any(place == "/" or is_below(home, place) or place.strip("/") in _SYSTEM for place in places)
