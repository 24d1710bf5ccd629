"""The shell around a generated command: pipes, redirects, folders, substitutions, wrappers, loops, variables.

Promises: depends on the generator of random numbers alone; what comes out is again words that stand as they are.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from random import Random

from tests.oracle.values import load_pools, pick

Words = tuple[str, ...]

_WEIGHTS = {
    "pipe": 14, "feed": 10, "redirect": 20, "folder": 14, "join": 8, "wrap": 12, "loop": 6, "substituted": 8, "quoted": 6,
    "assigned": 6,
}  # fmt: skip
_INSIDE = (
    'echo $({})', 'cat <({})', 'x=$({})', 'echo "$({})"', 'cat a.txt > >({})', 'diff a.txt <({})', 'cat `{}`', 'cat <<< "$({})"',
    'cat <<E\n$({})\nE\n', 'cat $({})', '"$({})"',
)  # fmt: skip
"""Where the command becomes a part of one word."""
_QUOTING = (
    "sh -c",
    "bash -c",
    "eval",
    "bash -lc",
    "dash -c",
    "env sh -c",
    "xargs -I{} sh -c",
    "bash -ec",
    "timeout 5 sh -c",
)
_USES = ("$v", '"$v"', "${v}", "${v:-x}", "${u-$v}", "${v%.txt}.txt", "${v##*/}")
_FILLED = re.compile(r"OUT|IN|DIR|TEXT|ENV|OTHER")


@cache
def _shapes() -> dict[str, list[str]]:
    return tomllib.loads(Path(__file__).with_name("shapes.toml").read_text())


def put_into_shell(words: Words, rng: Random) -> Words:
    """The words with some shell around them."""
    kind = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    if kind == "substituted":
        return _substituted(words, rng)
    if kind == "quoted":
        inner = " ".join(words).replace("'", "'\\''")
        return (*rng.choice(_QUOTING).split(" "), f"'{inner}'")
    if kind == "assigned":
        at = rng.randrange(1, len(words)) if len(words) > 1 else 0
        return (f"v={words[at]};", *words[:at], rng.choice(_USES), *words[at + 1 :])
    return _put(rng.choice(_shapes()[kind]), words, rng)


def _substituted(words: Words, rng: Random) -> Words:
    head, _, tail = rng.choice(_INSIDE).partition("{}")
    first, _, last = head.rpartition(" ")
    return (*first.split(), f"{last}{' '.join(words)}{tail}")


def _put(shape: str, words: Words, rng: Random) -> Words:
    """A shape with the command in the place of `{}` and a value for each kind."""
    found: list[str] = []
    for word in shape.split(" "):
        if word == "{}":
            found += _looped(words, shape, rng)
        elif word == "OTHER":
            found += rng.choice(_shapes()["other"]).split(" ")
        else:
            found.append(_FILLED.sub(lambda match: pick(match[0], rng), word))
    return tuple(found)


def _looped(words: Words, shape: str, rng: Random) -> Words:
    """Files are now and then those that the loop gives."""
    if "f in" not in shape and "read -r f" not in shape:
        return words
    files = load_pools()["FILE"]
    return tuple(rng.choice(('"$f"', "$f")) if word in files and rng.random() < 0.5 else word for word in words)
