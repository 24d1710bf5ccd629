"""Commands by the million, the same for the same seed: programs with their options and operands, and shell around them.

Promises: a command is a list of words that stand in it as they are, so that it can be made smaller by leaving words out.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

from interlock.runtime.policy.programs import programs
from tests.oracle.manual import options_told
from tests.oracle.shape import Words, put_into_shell
from tests.oracle.values import load_pools, pick, split_words

_KIND = re.compile(
    r"(?<![A-Za-z0-9_.-])(" + "|".join(sorted(load_pools(), key=len, reverse=True)) + r")(?![A-Za-z0-9_])"
)
_BUILT_IN = frozenset(
    [
        "command",
        "exec",
        "eval",
        "builtin",
        ".",
        "source",
        "read",
        "mapfile",
        "type",
        "test",
        "[",
        "echo",
        "printf",
        "time",
    ]
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What may follow a program."""

    name: str
    options: tuple[str, ...]
    ways: tuple[str, ...]
    told: tuple[str, ...] = ()
    """Options that the program tells of itself."""

    @property
    def program(self) -> str:
        """The program, without a sub-command."""
        return self.name.split(" ")[0]


@dataclass(frozen=True, slots=True)
class Command:
    """One generated command."""

    entry: str
    words: Words

    def text(self, root: str) -> str:
        """As it is given to the shell."""
        return " ".join(self.words).replace("@ROOT@", root)


@cache
def load_entries() -> tuple[Entry, ...]:
    """The entries whose program is on this machine: those of the file, then the rest of the catalogue."""
    data = tomllib.loads(Path(__file__).with_name("programs.toml").read_text())
    entries = [Entry(name, tuple(at["options"].split()), tuple(at["for"])) for name, at in data.items()]
    entries = [e for e in entries if e.program in _BUILT_IN or shutil.which(e.program)]
    known = {entry.program for entry in entries} | _NEVER.keys()
    rest = sorted({name for entry in programs() if not entry.code for name in (entry.name, *entry.aliases)} - known)
    entries += [Entry(name, (), _ANY_WAY) for name in rest if " " not in name and shutil.which(name)]
    told = options_told(tuple(e.name for e in entries if e.name == e.name.lower() and e.program not in _BUILT_IN))
    return tuple(replace(entry, told=told.get(entry.name, ())) for entry in entries)


_ANY_WAY = ("", "FILE", "FILE+", "FILE FILE", "DIR", "TEXT", "FILE OUT")
_NEVER = {
    "kill": "it would end what watches", "killall": "it would end what watches", "pkill": "it would end what watches",
    "strace": "one process is traced by one alone", "gdb": "one process is traced by one alone",
    "perf": "one process is traced by one alone", "valgrind": "one process is traced by one alone",
    "tmux": "it waits for a person", "top": "it waits for a person", "watch": "it goes on for ever",
    "vimtutor": "it waits for a person", "reboot": "it is the machine's", "shutdown": "it is the machine's",
    "init": "it is the machine's", "gsutil": "half a second to start", "bq": "half a second to start",
    "aws": "half a second to start", "gcloud": "half a second to start", "systemd-cat": "it waits for a service",
    "kubectl": "half a second to start", "docker": "half a second to start", "terraform": "half a second to start",
}  # fmt: skip
"""Programs of the catalogue that no command is made of, and why."""


def generate(seed: int, only: str = "") -> Command:
    """The command of a seed. `only`: of entries whose name begins so."""
    rng = Random(seed)
    by_program = _by_program(only)
    names = list(by_program)
    program = rng.choice([*names, *["git"] * (len(names) // 4 if "git" in by_program else 0)])
    entry = rng.choice(by_program[program])
    words = _simple(entry, rng)
    return Command(entry.name, put_into_shell(words, rng) if rng.random() < 0.4 else words)


@cache
def _by_program(only: str) -> dict[str, list[Entry]]:
    """Program -> its entries: there are many for git."""
    found: dict[str, list[Entry]] = {}
    for entry in load_entries():
        if entry.name.startswith(only):
            found.setdefault(entry.program, []).append(entry)
    return found


def _simple(entry: Entry, rng: Random) -> Words:
    """A program with options and operands, in the ways that they can be written."""
    operands = _operands(rng.choice(entry.ways), rng)
    count = rng.choices((0, 1, 2, 3), (30, 40, 20, 10))[0]
    lists = [options for options in (entry.options, entry.options, entry.told) if options]
    options = [_option(rng.choice(rng.choice(lists)), rng) for _ in range(count) if lists]
    joined = _clustered(options, rng)
    name = tuple(word for part in entry.name.split(" ") for word in _filled(part, rng))
    turn = rng.random()
    if turn < 0.7:
        return (*name, *joined, *operands)
    if turn < 0.85 and "<" not in operands and "|" not in operands:
        return (*name, *operands, *joined)
    if turn < 0.92 and operands and not operands[0].startswith("-"):
        return (*name, *joined, "--", *operands)
    at = rng.randrange(len(operands) + 1)
    return (*name, *operands[:at], *joined, *operands[at:])


def _operands(way: str, rng: Random) -> Words:
    found: list[str] = []
    for token in words_or_way(way):
        kind, suffix = (token[:-1], token[-1]) if token[-1] in "?*+" and token[:-1] in load_pools() else (token, "")
        count = {"": 1, "?": rng.randrange(2), "*": rng.randrange(4), "+": rng.choice((1, 1, 2, 3))}[suffix]
        for _ in range(count):
            found += _command(rng) if kind == "CMD" else _filled(kind, rng)
    return tuple(found)


def _command(rng: Random) -> list[str]:
    """A command as words of its own; as the value of an option it stays one word."""
    text = pick("CMD", rng)
    return split_words(text[1:-1]) if text[0] == "'" else [text]


@cache
def words_or_way(way: str) -> tuple[str, ...]:
    """A way of operands, split at blanks outside of quotes."""
    return tuple(re.findall(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+", way))


def _filled(token: str, rng: Random) -> list[str]:
    """A token with a value for each kind in it; find's parts stand for several words."""
    if token in ("FINDTEST", "FINDACT"):
        return pick(token, rng).split("|")
    if token in load_pools():
        return [pick(token, rng)]
    # inside quotes a value would end them
    if token[:1] in "'\"":
        return [token]
    return [_KIND.sub(lambda match: pick(match[1], rng), token)]


def _option(text: str, rng: Random) -> Words:
    """One option, in one of the ways it can be written."""
    name, equals, kind = text.partition("=")
    may_miss = name.endswith("?")
    name = name.rstrip("?")
    if not equals:
        return (_shortened(name, rng),)
    if may_miss and rng.random() < 0.4:
        return (name,)
    parts = [value for piece in kind.split("|") for value in _filled(piece, rng)]
    value = " ".join(parts)
    if name.startswith("--"):
        name = _shortened(name, rng)
        return (
            (f"{name}={parts[0]}", *parts[1:])
            if may_miss or (rng.random() < 0.6 and len(parts) == 1)
            else (name, *parts)
        )
    joins = may_miss or (rng.random() < 0.35 and len(parts) == 1)
    return (f"{name}{value}",) if joins else (name, *parts)


def _shortened(name: str, rng: Random) -> str:
    """A long option, now and then by its first letters alone."""
    if not name.startswith("--") or len(name) < 7 or rng.random() > 0.15:
        return name
    return name[: rng.randrange(5, len(name))]


def _clustered(options: list[Words], rng: Random) -> Words:
    """The options in a row; short ones now and then behind one dash."""
    found: list[str] = []
    for option in options:
        first = option[0]
        is_short = re.fullmatch(r"-[A-Za-z0-9]\S*", first) is not None
        if found and is_short and re.fullmatch(r"-[A-Za-z]+", found[-1]) and rng.random() < 0.5:
            found[-1] += first[1:]
            found += option[1:]
        else:
            found += option
    return tuple(found)
