"""Commands by the million, the same for the same seed: programs with their options and operands, and shell around them.

Promises: a command is a list of words that stand in it as they are, so that it can be made smaller by leaving words out.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

from interlock.runtime.policy.programs import programs
from tests.oracle.manual import options_told
from tests.oracle.values import load_pools, pick

Words = tuple[str, ...]

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
    "aws": "half a second to start", "gcloud": "half a second to start", "systemd-cat": "it waits for a service",
    "kubectl": "half a second to start", "docker": "half a second to start", "terraform": "half a second to start",
}  # fmt: skip
"""Programs of the catalogue that no command is made of, and why."""


def generate(seed: int, only: str = "") -> Command:
    """The command of a seed. `only`: of entries whose name begins so."""
    rng = Random(seed)
    by_program = _by_program(only)
    program = rng.choice([*by_program, *(["git"] * (len(by_program) // 4) if "git" in by_program else [])])
    entry = rng.choice(by_program[program])
    words = _simple(entry, rng)
    return Command(entry.name, rng.choices(_SHAPES, _WEIGHTS)[0](words, rng) if rng.random() < 0.4 else words)


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
            found += _filled(kind, rng)
    return tuple(found)


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


def _other(rng: Random) -> Words:
    """A small command to stand beside another."""
    return tuple(
        rng.choice(
            ("cat b.txt", "rm -f b.txt", "tee t.txt", "cp b.txt t2.txt", "head -n1", "sort -o s.txt", "grep -f list.txt", "wc -l",
             "xargs cat", "xargs rm -f", "sed -i s/a/b/ notes.md", "sh", "xargs -I{} cp {} ../out", "mv b.txt docs/", "touch t3.txt",
             "ln -s ../out o", "mkdir m", "true", "false", "cat", "sh -s", "tar xf -", "tar cf t.tar -T -", "patch -p1", "git add a.txt",
             "while read -r f; do cat \"$f\"; done", "xargs -n1 sh -c 'cat \"$0\"'", "dd of=dd.txt", "split -l1 - sp", "awk '{print > \"aw.txt\"}'",
             "ln -sf ../out/secret.txt a.txt", "rm -r docs", "bash", "python3 -", "cpio -o", "read x", "tee -a ../out/tee.txt")
        ).split(" ")
    )  # fmt: skip


def _piped(words: Words, rng: Random) -> Words:
    return (*words, rng.choice(("|", "|&", "|")), *_other(rng))


def _fed(words: Words, rng: Random) -> Words:
    feeds = (
        "cat list.txt",
        "ls",
        "cat a.txt",
        "printf '%s\\n' a.txt ../out/secret.txt",
        "find src -type f",
        "cat script.sh",
        "cat archive.tar",
        "cat fix.patch",
        "echo alpha",
    )
    return (*rng.choice(feeds).split(" "), "|", *words)


def _redirected(words: Words, rng: Random) -> Words:
    sign = rng.choice((">", ">>", "2>", ">|", "&>", "&>>", "<", "<>", ">&", "1>", "2>>", "<"))
    word = pick("IN" if sign == "<" else "OUT", rng)
    if rng.random() < 0.2:
        return (sign, word, *words)
    return (*words, sign, word) if rng.random() < 0.7 else (*words, f"{sign}{word}")


def _in_folder(words: Words, rng: Random) -> Words:
    folder = pick("DIR", rng)
    joint = rng.choice(("&&", ";", "||", "&&"))
    return ("(", "cd", folder, joint, *words, ")") if rng.random() < 0.5 else ("cd", folder, joint, *words)


def _joined(words: Words, rng: Random) -> Words:
    joint = rng.choice(("&&", ";", "||", "&"))
    return (*words, joint, *_other(rng)) if rng.random() < 0.5 else (*_other(rng), joint, *words)


def _substituted(words: Words, rng: Random) -> Words:
    inner = " ".join(words)
    return rng.choice(
        (
            ("echo", f"$({inner})"), ("cat", f"<({inner})"), ("x=$(" + inner + ")",), ("echo", f'"$({inner})"'), ("cat", "a.txt", ">", f">({inner})"),
            ("diff", "a.txt", f"<({inner})"), ("cat", f"`{inner}`"), ("cat", "<<<", f'"$({inner})"'), ("cat", "<<E\n$(" + inner + ")\nE\n"),
        )
    )  # fmt: skip


def _wrapped(words: Words, rng: Random) -> Words:
    heads = ("env", "env X=1", "nice", "timeout 5", "command", "nohup", "X=1", "stdbuf -o0", "time", "!", "exec", "env -C docs", "env -u HOME", "setsid -w",
             "xargs", "xargs -a list.txt", "timeout -k 1 5", "builtin", "eval", "nice -n 5", "env -S", "ionice", "xargs -n1", "LC_ALL=C", "coproc", "TMPDIR=../out")  # fmt: skip
    return (*rng.choice(heads).split(" "), *words)


def _quoted(words: Words, rng: Random) -> Words:
    inner = " ".join(words).replace("'", "'\\''")
    return (
        *rng.choice(("sh -c", "bash -c", "eval", "bash -lc", "dash -c", "env sh -c", "xargs -I{} sh -c")).split(" "),
        f"'{inner}'",
    )


def _looped(words: Words, rng: Random) -> Words:
    heads = ("for f in *.txt; do", "for f in a.txt b.txt; do", "while read -r f; do", "for f in $(cat list.txt); do", "for f in docs/*; do", "if", "until", "{", "f() {",
             "case x in x)", "for ((i=0;i<2;i++)); do", "for f in \"$PWD\"/*.txt; do", "select f in a b; do")  # fmt: skip
    head = rng.choice(heads)
    tail = {
        "if": "; then cat b.txt; fi",
        "until": "; do break; done",
        "{": "; }",
        "f() {": "; }; f a.txt",
        "case x in x)": ";; esac",
    }.get(head, "; done")
    used = tuple(
        '"$f"' if word in load_pools()["FILE"] and head.endswith("do") and rng.random() < 0.5 else word
        for word in words
    )
    return (*head.split(" "), *used, *tail.split(" "), *(("<", "list.txt") if head.startswith("while") else ()))


def _assigned(words: Words, rng: Random) -> Words:
    at = rng.randrange(1, len(words)) if len(words) > 1 else 0
    word = words[at]
    return (
        f"v={word};",
        *words[:at],
        rng.choice(("$v", '"$v"', "${v}", "${v:-x}", "${u-$v}", "${v%.txt}.txt")),
        *words[at + 1 :],
    )


_SHAPES: tuple[Callable[[Words, Random], Words], ...] = (
    _piped, _fed, _redirected, _in_folder, _joined, _substituted, _wrapped, _quoted, _looped, _assigned,
)  # fmt: skip
_WEIGHTS = (14, 10, 20, 14, 8, 8, 12, 6, 6, 6)
