"""Warn of letters that look like others: the program that is not git, the host that is not the bank.

Promises: a host with any letter outside ASCII is shown with its punycode form; a command name with one is named; words
that mix scripts which share letter shapes are named wherever they stand; punctuation that looks like the shell's is named.
Does not promise: a shell's grammar. Command names are found by the words that follow a separator; the parser's own
names can be given as `programs`. Prose in one script is left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_SHARED = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GEORGIAN", "DESERET"})
_PUNCTUATION = {
    **dict.fromkeys("\u037e\uff1b\ufe54\u061b\u204f", ";"),
    **dict.fromkeys("\uff06\ufe60", "&"),
    **dict.fromkeys("\uff5c\u2223\u01c0\u2758\u23d0", "|"),
    **dict.fromkeys("\u2044\u2215\u29f8\uff0f\u2571\u1735", "/"),
    **dict.fromkeys("\uff3c\u2216\u29f5\u29f9\ufe68", "\\"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d\u2043\ufe58", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\uff07\ua78c", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033\uff02\u02ba", '"'),
    **dict.fromkeys("\u02cb\uff40\u2035\u1fef", "`"),
    **dict.fromkeys("\uff04\ufe69", "$"),
    **dict.fromkeys("\u3002\uff0e\uff61\u2024\ufe52\u0701\u0702", "."),
    **dict.fromkeys("\uff1a\ufe55\ufe13\u2236\ua789\u02d0", ":"),
    **dict.fromkeys("\uff08\ufe59\u2768", "("),
    **dict.fromkeys("\uff09\ufe5a\u2769", ")"),
    **dict.fromkeys("\uff1e\ufe65\u203a\u276f", ">"),
    **dict.fromkeys("\uff1c\ufe64\u2039\u276e", "<"),
    **dict.fromkeys("\u01c3\uff01\ufe57", "!"),
    **dict.fromkeys("\uff0a\u2217\u204e\ufe61", "*"),
    **dict.fromkeys("\uff03\ufe5f", "#"),
    **dict.fromkeys("\uff20\ufe6b", "@"),
    **dict.fromkeys("\uff1d\ufe66\u2550", "="),
    **dict.fromkeys("\u223c\uff5e\u02dc", "~"),
}
_WORD = re.compile(r"[^\W\d_](?:\w|[\u0300-\u036f])*")
_HOST = re.compile(
    r"(?:(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]*:(?:/|\\){2}(?:[^\s/@'\"]{0,200}@)?|(?<=[\w.\-])@)([^\s/:?#'\"`;|&<>()\\]+)"
)
_DOTTED = re.compile(r"(?<![\w./@\-])((?:[\w\-]+\.)+[^\W\d_]{2,}|xn--[\w\-]+(?:\.[\w\-]+)*)(?=[\s/:'\"`;|&<>()]|$)")
_COMMAND = re.compile(
    r"(?:^|[;|&(`{\n]|\$\()[ \t]*((?:[A-Za-z_]\w*=\S{0,200}[ \t]+)*"
    r"(?:(?:sudo|env|exec|command|nohup|time|xargs|then|do|else|!)[ \t]+)*)([^\s;|&()<>`'\"]+)"
)
# Ends of file names that are no top-level domains; `.sh`, `.py` and `.md` are both, and are taken as hosts.
_FILE = re.compile(
    r"(?:txt|json|toml|ya?ml|csv|log|[jt]sx?|html|css|xml|png|jpe?g|gif|svg|pdf|rst|ini|cfg|lock|java|[ch]pp|docx?|xlsx|diff|sql)",
    re.IGNORECASE,
)
LONGEST = 65536
"""Characters that are looked at; a longer text says that the rest was not."""


@dataclass(frozen=True, slots=True)
class Lookalike:
    """One thing in a text that may pass for another."""

    kind: Literal["command", "host", "mixed", "letter", "punctuation", "unread"]
    word: str
    """As it stands in the text: escape it before it is shown."""
    start: int
    """Index into the text that was asked about."""
    message: str
    """Says what it is, in ASCII where the word is not."""


def confusables(text: str, *, programs: Iterable[str] = ()) -> tuple[Lookalike, ...]:
    """What in a command or a host may pass for something else, in the order of its place.

    `programs` are command names known from a parser; they are checked as well as those found by separators.
    """
    if text.isascii() and "xn--" not in text:
        return ()
    head = text[:LONGEST]
    found: dict[tuple[int, str], Lookalike] = {}
    for one in (*_hosts(head), *_commands(head, programs), *_words(head), *_marks(head)):
        found.setdefault((one.start, one.word), one)
    if len(text) > LONGEST and not text[LONGEST:].isascii():
        rest = len(text) - LONGEST
        found[LONGEST, ""] = Lookalike(
            "unread", "", LONGEST, f"the last {rest} characters were not checked for look-alikes"
        )
    return tuple(sorted(found.values(), key=lambda one: one.start))


def punycode(host: str) -> str:
    """The form of a host name that goes over the wire: `xn--…` for each label outside ASCII."""
    labels = re.split("[.\u3002\uff0e\uff61]", host)
    return ".".join(label if label.isascii() else _label(label) for label in labels)


def _label(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label).lower()
    if plain.isascii():
        return plain
    try:
        return "xn--" + plain.encode("punycode").decode("ascii")
    except UnicodeError:
        return "?"


def _hosts(text: str) -> Iterator[Lookalike]:
    for pattern in (_HOST, _DOTTED):
        for match in pattern.finditer(text):
            host = match.group(1)
            if pattern is _DOTTED and _FILE.fullmatch(host.rpartition(".")[2]):
                continue
            if not host.isascii():
                yield Lookalike(
                    "host", host, match.start(1), f"host is not ASCII: it is {punycode(host)} ({_where(host)})"
                )
            elif "xn--" in host and (shown := _decoded(host)) != host:
                yield Lookalike("host", host, match.start(1), f"host {host} would be drawn as {shown}")


def _decoded(host: str) -> str:
    """What a browser would draw; look-alikes are named, since drawing them would be the deceit itself."""
    shown = []
    for label in host.split("."):
        try:
            shown.append(label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label)
        except UnicodeError:
            shown.append(label)
    drawn = ".".join(shown)
    return drawn if drawn.isascii() else f"other letters ({_where(drawn)})"


def _commands(text: str, programs: Iterable[str]) -> Iterator[Lookalike]:
    for match in _COMMAND.finditer(text):
        if not match.group(2).isascii():
            yield _command(match.group(2), match.start(2))
    for program in programs:
        if not program.isascii():
            yield _command(program, max(text.find(program), 0))


def _command(word: str, start: int) -> Lookalike:
    return Lookalike(
        "command", word, start, f"command name is not ASCII ({_where(word)}): not the program it may look like"
    )


def _words(text: str) -> Iterator[Lookalike]:
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii():
            continue
        scripts = {_script(char) for char in word} & _SHARED
        if len(scripts) > 1:
            names = " and ".join(sorted(name.capitalize() for name in scripts))
            yield Lookalike("mixed", word, match.start(), f"one word mixes {names} letters ({_where(word)})")
        elif any(_is_styled(char) for char in word):
            plain = unicodedata.normalize("NFKC", word)
            yield Lookalike("letter", word, match.start(), f"letters only look like {plain!a} ({_where(word)})")


def _marks(text: str) -> Iterator[Lookalike]:
    for at, char in enumerate(text):
        if char in _PUNCTUATION:
            twin = _PUNCTUATION[char]
            yield Lookalike("punctuation", char, at, f"U+{ord(char):04X} looks like {twin} and is not")


def _where(word: str) -> str:
    """The characters outside ASCII, by code point, at most four of them."""
    odd = list(dict.fromkeys(char for char in word if not char.isascii()))
    named = ", ".join(f"U+{ord(char):04X}" for char in odd[:4])
    return named + (f" and {len(odd) - 4} more" if len(odd) > 4 else "")


@lru_cache(maxsize=2048)
def _script(char: str) -> str:
    """The script that a letter's name begins with; good for alphabets, which are the ones that share shapes."""
    name = unicodedata.name(char, "")
    return name.split(" ", 1)[0] if char.isalpha() else ""


@lru_cache(maxsize=2048)
def _is_styled(char: str) -> bool:
    """A letter that is ASCII in another dress: full width, mathematical, circled."""
    return not char.isascii() and unicodedata.normalize("NFKC", char).isascii() and char.isalnum()
