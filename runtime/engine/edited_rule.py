"""A rule as a person edited it before it is kept (ASK-4).

Promises: refused is what is no single allow, what does not let the asked call pass, and whatever covers more than the
suggestions of the ask do: another tool, command or file, or a matcher that widens. The error says what, where and what
would do.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime

from interlock.runtime.engine.offer import Offer
from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.rules.grant import PATTERN_JOINT, Grant
from interlock.runtime.policy.rules.layer import Layer, Policy
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.rules.pattern import Pattern, read_pattern
from interlock.runtime.policy.rules.rule import Rule
from interlock.runtime.policy.verdict.decide import Judge

MOST_CHARS = 4_000
MOST_SAID = 300
"""Characters of a fault that a person is told."""
_KEYS = names("id effect reason tool agent command path use inside without_risk expires match not_match")
"""Keys that only narrow, or say what the suggestion said."""


class RuleRefused(Exception):
    """The edited rule cannot be taken; the message says why, for the person."""


def read_edited(
    text: str,
    offer: Offer,
    offers: Sequence[Offer],
    call: Call,
    policy: Policy,
    world: World,
    grants: Sequence[Grant],
    now: datetime,
) -> Layer:
    """The layer with this rule, which was made of `offer`, one of `offers`, all that the ask suggests. Raises RuleRefused."""
    layer = _loaded(text)
    rule = layer.rules[0]
    _check_keys(text)
    if rule.is_over(now):
        raise RuleRefused("`expires` is in the past: the rule would allow nothing")
    taken = {known.id: where.name for where, known in policy.rules()}
    if rule.id in taken:
        raise RuleRefused(f"there is a rule {rule.id!r} already ({taken[rule.id]} layer): give this one another id")
    if offer.suggestion.field == "pattern":
        _check_commands(rule, offers)
        _check_paths(rule, call, world)
    else:
        _check_files(rule, offer, offers)
    decision = Judge(policy, world, tuple(grants), now).allowing(layers=(layer,)).decide(call)
    if decision.effect != "allow":
        raise RuleRefused(f"with this rule the call would still not pass: {decision.reason}")
    return layer


def _loaded(text: str) -> Layer:
    if len(text) > MOST_CHARS:
        raise RuleRefused(f"the rule is longer than {MOST_CHARS:,} characters")
    if text.startswith("\ufeff"):
        raise RuleRefused("the rule begins with a byte order mark, which has no place within your policy file")
    layer = load_layer(text, file="the rule", layer="user")
    if layer.problems:
        problem = layer.problems[0]
        raise RuleRefused(f"line {problem.line}: {_one_line(problem.what)}")
    if len(layer.rules) != 1 or layer.mode is not None or layer.rules[0].effect != "allow":
        raise RuleRefused('write exactly one [[rule]] with effect = "allow"')
    return layer


def _check_keys(text: str) -> None:
    document = tomllib.loads(text)
    rules = document.get("rule")
    if set(document) != {"rule"} or not isinstance(rules, list) or len(rules) != 1:
        raise RuleRefused("write exactly one [[rule]] and nothing beside it")
    if wider := sorted(set(rules[0]) - _KEYS):
        raise RuleRefused(f"{wider[0]!r} cannot be used here; write such a rule into your policy file by hand")


def _one_line(what: str) -> str:
    """A fault may repeat all that was written."""
    line = " ".join(what.split())
    return line if len(line) <= MOST_SAID else line[: MOST_SAID - 1] + "…"


def _check_commands(rule: Rule, offers: Sequence[Offer]) -> None:
    if rule.tools != ("bash",):
        raise RuleRefused('the rule is about a shell command: keep tool = "bash"')
    if not rule.commands:
        raise RuleRefused("the rule names no command")
    widest = [
        text
        for one in offers
        if one.suggestion.field == "pattern"
        for text in one.suggestion.value.split(PATTERN_JOINT)
    ]
    for pattern in rule.commands:
        if not any(_is_within(pattern, read_pattern(text)) for text in widest):
            shown = " or ".join(map(repr, widest))
            raise RuleRefused(f"{pattern.text!r} is broader than what is suggested for this ask: {shown}")


def _is_within(pattern: Pattern, widest: Pattern) -> bool:
    """Whether everything that `pattern` covers is covered by `widest` too."""
    size = len(widest.words)
    if pattern.words[:size] != widest.words:
        return False
    return widest.open_ended or (len(pattern.words) == size and not pattern.open_ended)


def _check_files(rule: Rule, offer: Offer, offers: Sequence[Offer]) -> None:
    if rule.tools != (offer.suggestion.tool,):
        raise RuleRefused(f'the rule is about {offer.suggestion.tool}: keep tool = "{offer.suggestion.tool}"')
    if rule.commands or rule.paths is None:
        raise RuleRefused("the rule names no path")
    exact = {text for one in offers for text in one.rule_paths}
    folders = [one.suggestion.value for one in offers if one.suggestion.field == "folder"]
    for text in rule.paths.texts:
        if text not in exact and not _begins_in(text, folders):
            shown = " or ".join(map(repr, sorted(exact)))
            raise RuleRefused(f"the path {text!r} is broader than what is suggested for this ask: {shown}")


def _check_paths(rule: Rule, call: Call, world: World) -> None:
    """A path that is named lifts the boundary of the workspace, for commands too; so none outside may be named."""
    roots = [world.resolve(root).path for root in call.workspace]
    for text in rule.paths.texts if rule.paths is not None else ():
        if not _begins_in(text, roots):
            raise RuleRefused(f"the path {text!r} does not begin in this workspace ({', '.join(roots)}): name it whole")


def _begins_in(glob: str, folders: Sequence[str]) -> bool:
    fixed = _fixed(glob)
    return any(fixed == folder or fixed.startswith(folder.rstrip("/") + "/") for folder in folders)


def _fixed(glob: str) -> str:
    """The folders in front of the first sign of a pattern."""
    first = next((at for at, c in enumerate(glob) if c in "*?[{(!|\\"), None)
    return glob if first is None else glob[:first].rpartition("/")[0]
