"""Layers of rules and what they make together.

Promises: the order of layers and rules decides nothing but which of several equal verdicts is named; deny wins over
ask, ask over allow, over all of them. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from interlock.runtime.policy.rules.rule import Effect, Rule
from interlock.runtime.policy.rules.rule_index import RuleIndex

LayerName = Literal["managed", "user", "project", "session grant", "built-in"]
Mode = Literal["ask", "read-only", "accept-edits", "locked"]
MODES: tuple[Mode, ...] = ("accept-edits", "ask", "read-only", "locked")
"""From the mildest to the strictest."""
_VERSION = "2"
"""Part of the digest: another way of judging is another policy."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a rule file."""

    file: str
    line: int
    what: str
    consequence: str = ""
    """What is done about it: how it fails closed."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}{f'; {self.consequence}' if self.consequence else ''}"


@dataclass(frozen=True, slots=True)
class Layer:
    """The rules of one file."""

    name: LayerName
    rules: tuple[Rule, ...] = ()
    file: str = ""
    digest: str = ""
    """SHA-256 of the file's bytes in hex; what trust is given to."""
    mode: Mode | None = None
    problems: tuple[Problem, ...] = ()
    waiting: tuple[Rule, ...] = ()
    """Allows of a project that count only after the user trusted the file."""
    hints: tuple[Problem, ...] = ()
    """What is right, and may not be what was meant."""

    switched_off: tuple[str, ...] = ()
    """Ids of built-in rules that do not hold, because this file says so."""

    @property
    def is_trusted(self) -> bool:
        """Whether nothing of it waits for trust."""
        return not self.waiting


@dataclass(frozen=True)
class Policy:
    """All layers, and how far calls may go without a person."""

    layers: tuple[Layer, ...] = ()
    mode: Mode = "ask"

    @cached_property
    def index(self) -> RuleIndex[Layer]:
        """All rules by the program that they speak of."""
        return RuleIndex(self.rules())

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hex of all that decides."""
        told = [_VERSION, self.mode]
        for layer, rule in self.rules():
            told.append(f"{layer.name}\x1f{rule.id}\x1f{rule.effect}\x1f{rule.text}")
        return hashlib.sha256("\x1e".join(told).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong in any layer."""
        return tuple(problem for layer in self.layers for problem in layer.problems)

    @property
    def hints(self) -> tuple[Problem, ...]:
        """What may not be meant so in any layer."""
        return tuple(hint for layer in self.layers for hint in layer.hints)

    def rules(self, effect: Effect | None = None) -> Iterator[tuple[Layer, Rule]]:
        """Every rule that counts, in the order of the layers."""
        off = {rule for layer in self.layers for rule in layer.switched_off}
        for layer in self.layers:
            for rule in layer.rules:
                if layer.name == "built-in" and rule.id in off:
                    continue
                if effect is None or rule.effect == effect:
                    yield layer, rule


def strictest(modes: list[Mode | None]) -> Mode:
    """The strictest of the modes that are given; `ask` when none is."""
    given = [mode for mode in modes if mode is not None]
    return MODES[max(MODES.index(mode) for mode in given)] if given else "ask"


def joined(layers: list[Layer], *, mode: Mode | None = None) -> Policy:
    """One policy of these layers. `mode`: the one chosen for this session; a layer's stricter mode stands above it."""
    return Policy(tuple(layers), strictest([mode, *(layer.mode for layer in layers)]))


def with_layers(policy: Policy, layers: Sequence[Layer]) -> Policy:
    """The policy with these layers behind its own."""
    return replace(policy, layers=(*policy.layers, *layers)) if layers else policy
