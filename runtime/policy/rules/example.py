"""The examples of a rule, checked when it is loaded: a rule that does not do what its author says is a bad rule. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import ANY
from interlock.runtime.policy.facts.reading import read_call
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.rules.rule import Rule

WORKSPACE = "/workspace"
HOME = "/home/user"
_WORLD = MemoryWorld()


def example_call(example: object) -> Call:
    """The call that an example stands for: a text is a shell command, a table has `tool` and its input.

    Raises ValueError.
    """
    if isinstance(example, str):
        example = {"tool": "bash", "command": example}
    if not isinstance(example, Mapping) or not isinstance(example.get("tool", "bash"), str):
        raise ValueError("an example is a command, or a table with `tool` and its input")
    given = dict(example)
    tool, cwd = str(given.pop("tool", "bash")), str(given.pop("cwd", WORKSPACE))
    return make_call("", tool, given, cwd=cwd, workspace=(WORKSPACE,), home=HOME, form=ANY)


def _covers(rule: Rule, subjects: Sequence[Subject]) -> bool:
    """An allow covers an example when it covers all of it, an ask or a deny when it catches any part."""
    if rule.effect != "allow":
        return any(rule.matches(subject) for subject in subjects)
    own = [subject for subject in subjects if not subject.wrapper]
    return bool(own) and all(rule.matches(subject) and rule.lifts(subject) for subject in own)


def failing_example(rule: Rule, match: Sequence[object], not_match: Sequence[object]) -> str:
    """What the first example that does not hold says, "" when all do. Raises ValueError for what is no example."""
    for examples, wanted in ((match, True), (not_match, False)):
        for example in examples:
            subjects = read_call(example_call(example), _WORLD).subjects
            if _covers(rule, subjects) != wanted:
                return f"the example {example!r} {'is not matched' if wanted else 'is matched'}"
    return ""
