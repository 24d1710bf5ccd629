"""What a program touches with the words it is given: paths with their use, hosts, the network.

Promises: every word that could name a path or a host is either told with its use, or told as one that may be such
(`certain` False, or among the suspects); nothing is passed over because an option is not known. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from interlock.runtime.policy.programs.address import hosts_in
from interlock.runtime.policy.programs.awk import read_awk
from interlock.runtime.policy.programs.git_touch import NEW, REPOSITORY, UNLESS, WHOLE
from interlock.runtime.policy.programs.handlers import HANDLERS
from interlock.runtime.policy.programs.option import Reading, read_options
from interlock.runtime.policy.programs.reach import reached_by
from interlock.runtime.policy.programs.read_only import asks_version
from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.programs.sed import read_sed
from interlock.runtime.policy.programs.touch import ANYWHERE, NO_FILES, Touch, looks_like_path, pieces_of, plain_touches
from interlock.runtime.policy.programs.usage import Usage, read_usage
from interlock.runtime.policy.record import record

_MOST_SUSPECTS = 60
_LONGEST = 4_096
"""Characters of a path that a file system takes."""
_MOST_PIECES = 10_000
"""Parts of words that are taken; more than _MOST_SUSPECTS of them count as unknown in any case."""
_MOST_TOUCHES = 1_000
"""Paths of one command that are told one by one; a command with more touches what is not known."""


@record
class Touched:
    """All that one command touches."""

    touches: tuple[Touch, ...] = ()
    suspects: tuple[str, ...] = ()
    """Words, and parts of words, that may be paths although nothing says so."""
    hosts: tuple[str, ...] = ()
    network: bool = False


def touched_by(name: str, args: Sequence[str], *, reads_only: bool, wraps: bool = False) -> Touched:
    """What `name` with `args` touches. `reads_only`: it is known to only read; `wraps`: it does nothing itself."""
    if asks_version(name, args):
        return Touched()
    usage = read_usage(name, args)
    if usage is None:
        return _of_unknown(args)
    found = list(islice(_touches(usage, reads_only=reads_only, wraps=wraps), _MOST_TOUCHES + 1))
    if len(found) > _MOST_TOUCHES:
        found[-1] = Touch("read" if reads_only else "write", ANYWHERE)
    base = usage.of("cd")
    if base:
        moves = {
            "-C",
            "cd",
            REPOSITORY,
            NEW,
            WHOLE,
            UNLESS,
            *(word.option for word in usage.words if word.role == "cd"),
        }
        found = [touch if touch.cause in moves else _moved(touch, base) for touch in found]
    suspects = () if reads_only or wraps else tuple(dict.fromkeys(_suspects(usage)))
    network, hosts = reached_by(usage, args)
    return _bounded(Touched(tuple(dict.fromkeys(found)), suspects, hosts, network))


def _bounded(found: Touched) -> Touched:
    """With no more suspects than are looked at; where there are more, it touches what is not known."""
    if len(found.suspects) <= _MOST_SUSPECTS and not any(len(text) > _LONGEST for text in found.suspects):
        return found
    kept = tuple(text for text in found.suspects if len(text) <= _LONGEST)[:_MOST_SUSPECTS]
    return Touched((*found.touches, Touch("write", ANYWHERE)), kept, found.hosts, found.network)


def _touches(usage: Usage, *, reads_only: bool, wraps: bool) -> Iterator[Touch]:
    if name := usage.program.touches or usage.root.touches:
        yield from HANDLERS[name](usage)
        return
    yield from plain_touches(usage, reads_only=reads_only, wraps=wraps)


def _of_unknown(args: Sequence[str]) -> Touched:
    """Of a program that nobody knows every word may be a path that it writes."""
    words = [word for word in args if not word.startswith("-")]
    touches = [Touch("write", word, "", False, True) for word in words if looks_like_path(word)]
    suspects = islice((piece for word in args for piece in pieces_of(word)), _MOST_PIECES)
    return _bounded(Touched(tuple(touches), tuple(dict.fromkeys(suspects)), hosts_in(args), False))


def _moved(touch: Touch, folders: Sequence[str]) -> Touch:
    """The path seen from the folder that an option changes to."""
    text = touch.text
    if text.startswith(("/", "~", "$", "<", ":/")):
        return touch
    for folder in reversed(folders):
        text = f"{folder}/{text}"
        if folder.startswith("/"):
            break
    return replace(touch, text=text)


_CODE_OF_ITS_OWN = frozenset(("shell", "program", "command", "joined", "commands", "exec"))
"""Roles whose words are listed as commands and judged by themselves."""


_READERS = {"sed": read_sed, "awk": read_awk}
"""Languages whose code is read to its end: what is plain in it names no file and runs nothing."""


def _suspects(usage: Usage) -> list[str]:
    """Words of roles that may hide a path, and whatever may be joined to an option that is not listed."""
    found: list[str] = []
    for word in usage.words:
        role = ROLES[word.role]
        if word.role == "inline" and (read := _READERS.get(usage.program.touches)) and read(word.text).plain:
            continue  # it names no file
        if word.role in ("loose", "value") or (role.code and word.role not in _CODE_OF_ITS_OWN):
            found += pieces_of(word.text)
    found += _given_to_code(usage)
    if usage.unlisted:
        unlisted = frozenset(usage.unlisted)
        found += _of_unlisted(usage.reading, usage.args, unlisted)
        front = usage.whole[: len(usage.whole) - len(usage.args)]
        found += _of_unlisted(read_options(front, usage.root.spec), front, unlisted)
    return [piece for piece in found[:_MOST_PIECES] if piece not in NO_FILES and piece not in (".", "..")]


def _of_unlisted(reading: Reading, args: Sequence[str], unlisted: frozenset[str]) -> Iterator[str]:
    """What is joined to options that are not listed, and the word behind each, which may be its value."""
    for at in dict.fromkeys(option.index for option in reading.options if option.name in unlisted):
        for word in args[at : at + 2]:
            yield from pieces_of(word)


def _given_to_code(usage: Usage) -> Iterator[str]:
    """Texts for code that runs here, and all behind `--`: a setting such as `-Dout=x` is a path if that code takes it so."""
    kinds = {usage.program.code, usage.root.code} - {""}
    if not kinds or "remote" in kinds:
        return
    for word in usage.words:
        if word.role == "text" and any(c in word.text for c in "/=:"):
            yield from pieces_of(word.text)
    behind = usage.args[usage.args.index("--") + 1 :] if "--" in usage.args else ()
    for text in behind:
        yield from pieces_of(text)
