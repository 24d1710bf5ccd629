"""Words for generated commands: values of every kind that an option or an operand may have.

Promises: depends on the generator of random numbers alone; every value is one shell word, quoted as it needs to be.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from random import Random


@cache
def load_pools() -> dict[str, tuple[str, ...]]:
    """Kind -> its values, as a shell splits words but with the quotes left on."""
    data = tomllib.loads(Path(__file__).with_name("values.toml").read_text())
    pools = {kind: tuple(split_words(text)) for kind, text in data.items()}
    pools["ANYFILE"] = (*pools["IN"], *pools["OUT"])
    pools["ANY"] = (*pools["TEXT"], *pools["OUT"], *pools["IN"], *pools["N"], *pools["DIR"])
    return pools


def pick(kind: str, rng: Random) -> str:
    """One value of a kind."""
    return rng.choice(load_pools()[kind])


def split_words(text: str) -> list[str]:
    """As a shell splits them, with the quotes left on."""
    words: list[str] = []
    word, quote, is_plain = "", "", False
    for c in text + " ":
        if is_plain:
            word, is_plain = word + c, False
        elif c == "\\" and quote != "'":
            word, is_plain = word + c, True
        elif quote:
            word, quote = word + c, "" if c == quote else quote
        elif c in "'\"":
            word, quote = word + c, c
        elif c.isspace():
            words += [word] if word else []
            word = ""
        else:
            word += c
    return words
