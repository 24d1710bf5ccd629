"""The examples of a rule, tried when it is loaded. Pure.

An example is a shell command for a rule about commands, a path (`write:path` for a change) for a rule about other tools.
"""

from __future__ import annotations

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.entry import BadRuleError
from interlock.runtime.policy.host import hosts_of
from interlock.runtime.policy.path import path_fact
from interlock.runtime.policy.reach import is_recursive
from interlock.runtime.policy.rule import Rule
from interlock.runtime.policy.shell import effects, is_read_only, is_wrapper, parse_command
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.subject import Subject

_ROOT = "/workspace"
_HOME = "/home/user"
_CALL = Call("bash", {}, _ROOT, (_ROOT,), _HOME)


def check_examples(rule: Rule, match: object, not_match: object) -> None:
    """Raises BadRuleError when an example is not covered as it says."""
    for key, examples, wanted in (("match", match, True), ("not_match", not_match, False)):
        if not isinstance(examples, list) or not all(isinstance(e, str) and e for e in examples):
            raise BadRuleError(f"{key} is {examples!r}; write a list of examples in quotes")
        for example in examples:
            if covers_example(rule, example) != wanted:
                raise BadRuleError(f"the {key} example {example!r} is {'not ' if wanted else ''}covered by the rule")


def covers_example(rule: Rule, example: str) -> bool:
    """Whether the rule covers the example: an allow all of it, an ask or a deny any part of it."""
    subjects = _subjects(rule, example)
    if rule.effect == "allow":
        return bool(subjects) and all(rule.allows(subject) is None for subject in subjects)
    return any(rule.touches(subject) for subject in subjects)


def _subjects(rule: Rule, example: str) -> list[Subject]:
    if not rule.commands and rule.tools and "bash" not in rule.tools:
        return [_of_path(rule, example)]
    if not rule.tools and rule.paths and not rule.commands:
        return [_of_path(rule, example)]
    seen = parse_command(example, home=_HOME)
    if rule.effect == "allow" and not seen.understood:
        return []
    return [_of_command(simple) for simple in seen.commands if not is_wrapper(simple) or rule.effect != "allow"]


def _of_path(rule: Rule, example: str) -> Subject:
    path = example.removeprefix("write:")
    use = "write" if example.startswith("write:") else "read"
    tool = rule.tools[0] if rule.tools else "write_file" if use == "write" else "read_file"
    fact = path_fact(path, use, _CALL, MemoryWorld(), shell=path.startswith("~"))
    return Subject(tool, (fact,), (), frozenset((use,)), use == "read", roots=(_ROOT,), home=_HOME)


def _of_command(simple: SimpleCommand) -> Subject:
    found, world = effects(simple), MemoryWorld()
    facts = tuple(path_fact(p, "read", _CALL, world, cwd=simple.cwd, shell=True) for p in found.reads)
    facts += tuple(path_fact(p, "write", _CALL, world, cwd=simple.cwd, shell=True) for p in found.writes)
    gate = is_read_only(simple).ok
    risks = set(found.flags) | ({"network"} if found.network else set()) | (set() if gate else {"execute"})
    risks |= ({"read"} if found.reads else set()) | ({"write"} if found.writes else set())
    return Subject(
        "bash", facts, hosts_of(simple), frozenset(risks), gate, simple, is_recursive(simple), (_ROOT,), _HOME
    )
