"""What responses cost, estimated from a table of list prices that a person can edit.

Promises: a model that is not in the table has no price, never a guessed one; the user's own entries win; an entry that
cannot be read is named with its file and left out, the others hold.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from interlock.runtime.events.message import Usage

_TAIL = re.compile(r"(\[[^\]]*\]|[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)+$")
_KINDS = ("input", "output", "cache_read", "cache_write")
CACHED_IN_INPUT = frozenset({"codex", "gemini", "qwen", "copilot_cli"})
"""Kinds of logs whose count of input tokens includes those that were read from a cache."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens. `cache_read` and `cache_write` are the input price where the table has none."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Prices:
    """A table of prices by model."""

    def __init__(self, table: dict[str, Price], faults: tuple[str, ...] = ()) -> None:
        self._table = table
        self.faults = faults
        """What of the user's own file could not be used, in words."""

    def of(self, model: str | None) -> Price | None:
        """The price of a model, None where it is not known."""
        if not model:
            return None
        name = model.rsplit("/", 1)[-1]
        return self._table.get(name) or self._table.get(_TAIL.sub("", name))

    def cost(self, model: str | None, usage: Usage, kind: str) -> float | None:
        """US dollars for the tokens of a log of this kind, None where the model has no price."""
        price = self.of(model)
        if price is None:
            return None
        fresh = usage.input - usage.cache_read if kind in CACHED_IN_INPUT else usage.input
        spent = max(fresh, 0) * price.input + usage.output * price.output
        return (spent + usage.cache_read * price.cache_read + usage.cache_write * price.cache_write) / 1_000_000


def load_prices(own: Path | None) -> Prices:
    """The built-in table with the user's own file over it, where there is one."""
    text = resources.files("interlock.runtime.sources.foreign").joinpath("prices.toml").read_text("utf-8")
    table, faults = _read(text, "the built-in table")
    if own is None:
        return Prices(table, tuple(faults))
    try:
        more, wrong = _read(own.read_text("utf-8"), str(own))
    except FileNotFoundError:
        return Prices(table, tuple(faults))
    except (OSError, UnicodeDecodeError) as error:
        return Prices(table, (*faults, f"{own} cannot be read: {error}"))
    return Prices(table | more, (*faults, *wrong))


def _read(text: str, where: str) -> tuple[dict[str, Price], list[str]]:
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [f"{where} is no TOML: {error}. None of its prices is used."]
    table, faults = {}, []
    for model, entry in entries.items():
        price = _price(entry)
        if price is None:
            faults.append(f"{where}: {model}: needs input and output, in dollars a million tokens, none below 0")
        else:
            table[model] = price
    return table, faults


def _price(entry: Any) -> Price | None:
    if not isinstance(entry, dict):
        return None
    given = {k: entry[k] for k in _KINDS if k in entry}
    fit = all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < 1e6 for v in given.values())
    if not fit or "input" not in given or "output" not in given:
        return None
    fresh = float(given["input"])
    read, write = float(given.get("cache_read", fresh)), float(given.get("cache_write", fresh))
    return Price(fresh, float(given["output"]), read, write)
