"""Whether a rule can ever match, and whether it says what its author may have meant.

Promises: what can never match is told as a fault of the rule, because whoever wrote it trusts in it; what can match but
seldom means what it says gets one hint. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from interlock.runtime.policy.facts.foreign_table import is_tool, kinds_of, shell_names
from interlock.runtime.policy.facts.tool_name import is_known, tool_kind
from interlock.runtime.policy.rules.pattern import Pattern, word_test
from interlock.runtime.policy.rules.rule import Rule

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_READERS = frozenset(("read_file", "glob", "grep", "read_artifact", "agent_notes"))
_WRITERS = frozenset(("write_file", "edit_file"))
_WITHOUT_PATHS = frozenset(("web_fetch", "agent_notes", "read_artifact"))
_WITHOUT_HOSTS = _READERS | _WRITERS


def why_never(rule: Rule) -> str:
    """Why no call could match the rule, "" when one may."""
    for tool in rule.tools:
        if "(" in tool or tool != tool.strip():
            return f"{tool!r} is no name of a tool; what it is given stands in `command`, `path` or `argument`"
    if (rule.commands or rule.programs) and rule.tools and not _may_be_a_shell(rule.tools):
        key = "command" if rule.commands else "program"
        return (
            f"{key!r} speaks of a shell's commands, and {_listed(rule.tools)} runs none; use `argument` for its input"
        )
    for pattern in rule.commands:
        if _VARIABLE.match(pattern.program):
            return f"{pattern.program!r} is no program; a variable that may stand in front is named in `variables`"
    for name in rule.variables:
        if not _NAME.fullmatch(name):
            return f"{name!r} is no name of a variable"
    for host in rule.hosts:
        if any(c in host for c in "/@ ") or (":" in host and not _is_address(host)):
            return f"{host!r} is more than a host; write the name alone, as `example.org`"
    return _why_never_by_kind(rule) or _why_never_by_path(rule)


def _why_never_by_kind(rule: Rule) -> str:
    """What the tools that it names never do."""
    kinds = _known_kinds(rule.tools)
    shown = _listed(rule.tools)
    if kinds and kinds <= _READERS and (rule.use in ("write", "delete") or rule.read_only is False):
        return f"{shown} only reads"
    if kinds and kinds <= _WRITERS and (rule.use == "read" or rule.read_only):
        return f"{shown} only changes files"
    if kinds and kinds <= _WITHOUT_PATHS and (rule.paths or rule.inside is not None or rule.use):
        return f"{shown} is given no path"
    if kinds and kinds <= _WITHOUT_HOSTS and rule.hosts:
        return f"{shown} is given no host"
    if rule.risks and set(rule.risks) <= set(rule.without_risks):
        return "'without_risk' leaves out every risk that it names"
    if rule.read_only and (rule.use in ("write", "delete") or rule.risks == ("write",)):
        return "what only reads writes and deletes nothing"
    return ""


def _why_never_by_path(rule: Rule) -> str:
    texts = rule.paths.texts if rule.paths else ()
    for text in texts:
        if text.startswith(("$", "%", "file:")):
            return f"{text!r}: nothing is expanded in a path; write `~/` for your home"
    if texts and rule.inside is False and not any(text.startswith(("/", "~")) for text in texts):
        return "its paths count from the workspace, and 'inside = false' leaves the workspace out"
    return ""


def hints_of(rule: Rule, *, has_examples: bool = False) -> Iterator[str]:
    """What may not have been meant."""
    for pattern in rule.commands:
        yield from _hints_of_pattern(rule, pattern, has_examples)
    for tool in rule.tools:
        if tool.startswith("mcp__") and tool.count("__") == 1 and not any(c in tool for c in "*?"):
            yield f"{tool!r} is the name of no tool; `{tool}__*` are all tools of that server"
        elif not any(c in tool for c in "*?_.") and not kinds_of(tool):
            yield f"no agent that is known here has a tool {tool!r}"
        elif not is_tool(tool) and is_known(tool) and tool_kind(tool).name != tool:
            yield f"no agent has a tool {tool!r}; `{tool_kind(tool).name}` is what every agent's is called here"
    if rule.inside and rule.outside_too:
        yield "'outside_too' does nothing beside 'inside = true'"


def _hints_of_pattern(rule: Rule, pattern: Pattern, has_examples: bool) -> Iterator[str]:
    program = pattern.program
    if program.startswith("*") and program.strip("*?"):
        yield (
            f"{pattern.text!r} speaks of programs whose name ends with {program.lstrip('*')!r}; "
            "a pattern begins with the name of a program, and is not looked for in the text"
        )
    elif program.endswith("*") and program.strip("*?"):
        yield (
            f"{pattern.text!r} speaks of every program whose name begins with {program.rstrip('*')!r}; "
            f"`{program.rstrip('*')} *` is that one with any words"
        )
    elif rule.effect == "allow" and len(pattern.words) == 1 and not pattern.open_ended and not has_examples:
        yield f"{pattern.text!r} allows it without any word behind; `{program} *` allows it with any"


def _may_be_a_shell(tools: tuple[str, ...]) -> bool:
    """Whether one of these names may be that of a shell: a tool that nobody knows may be one too."""
    shells = ("bash", *shell_names())
    return any(
        not kinds_of(tool) or any(word_test(tool)(name) for name in shells) for tool in tools if not _is_mcp(tool)
    )


def _is_mcp(tool: str) -> bool:
    return tool.startswith("mcp__")


def _known_kinds(tools: tuple[str, ...]) -> frozenset[str]:
    """What the tools do, where that is known of every one of them."""
    kinds = [kinds_of(tool) for tool in tools]
    return frozenset[str]().union(*kinds) if all(kinds) else frozenset()


def _listed(tools: tuple[str, ...]) -> str:
    return " or ".join(tools[:3]) or "it"


def _is_address(host: str) -> bool:
    """Whether it looks like an address of version 6, which has colons of its own."""
    return host.count(":") > 1 and all(c in "0123456789abcdef:.*?[]" for c in host)
