"""Programs whose arguments are another program: sudo, env, timeout, strace, docker exec and their kind.

Promises: the entry says which options take a value and how many operands stand before the inner program; the inner
program is listed with its own words.
"""

from __future__ import annotations

from dataclasses import replace

from interlock.runtime.policy.programs.entry import Program, Slot
from interlock.runtime.policy.programs.option import Reading, read_options
from interlock.runtime.policy.programs.usage import replace_stop
from interlock.runtime.policy.shell.builtin import start_shell, stdin_code
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk


def runs_its_words(entry: Program) -> bool:
    """Whether its operands are, or hold, a command that it runs."""
    return any(slot.role in ("command", "joined", "commands") for slot in entry.operands)


def unwrap_wrapper(entry: Program, frame: Frame, state: State, walk: Walk) -> None:
    """List what the wrapper would run."""
    fields = _after_verb(entry, frame.args)
    if fields is None:
        return
    values = [f.value for f in fields]
    reading = _reading(entry, values)
    inner = _moved(entry, reading, state)
    for option in reading.options:
        if entry.options.get(option.name) == "shell" and option.value is not None:
            walk.code(option.value, fields[option.value_index].known, frame, inner, option.name)
    if (code := reading.value("--entrypoint")) and entry.options.get("--entrypoint") == "program":
        words = [Field(code, True, False, frame.start, frame.end), *(fields[i] for i in reading.operands[1:])]
        walk.run(frame.inner(words), inner, "--entrypoint")
        return
    words = _inner_words(entry, fields, reading)
    words, pairs = _split_assignments(words) if entry.assigns else (words, ())
    if not words:
        if entry.marks == ("privileged",) and reading.has("-s", "-i", "--shell", "--login"):
            stdin_code(frame, inner, walk, frame.name)
        elif entry.shell_alone and not any(entry.options.get(o.name) == "shell" for o in reading.options):
            start_shell(frame, inner, walk)
        return
    kind = entry.operands[-1].role
    if kind == "joined":
        walk.code(" ".join(f.value for f in words), all(f.known for f in words), frame, inner, frame.name)
        return
    if kind == "commands":
        for field in words:
            walk.code(field.value, field.known, frame, inner, frame.name)
        return
    inside = frame.inner(words)
    inside.assignments = pairs
    if frame.name == "capsh" and words[0].value == "-c":
        walk.code(words[1].value if len(words) > 1 else "", all(f.known for f in words), frame, inner, "capsh")
        return
    walk.run(inside, inner, frame.name)


def _after_verb(entry: Program, fields: list[Field]) -> list[Field] | None:
    if not entry.verbs:
        return fields
    for i, field in enumerate(fields):
        if field.value in entry.verbs:
            return fields[i + 1 :]
        if not field.value.startswith("-") and i > 2:
            return None
    return None


def _reading(entry: Program, values: list[str]) -> Reading:
    """Options up to the inner program; a code option may also stand behind the operands (`su - root -c CODE`)."""
    reading = read_options(values, replace_stop(entry.spec))
    code = [name for name, role in entry.options.items() if role == "shell"]
    if not code or reading.has(*code):
        return reading
    whole = read_options(values, replace(entry.spec, stop_at_operand=False))
    # with no operand to skip, the first operand is the inner program and what follows are its own options
    inner_first = entry.operands[:1] == (Slot("command", True),) and not entry.dashes and bool(reading.operands)
    if entry.leading and len(reading.operands) > entry.leading:
        inner_first = not values[reading.operands[entry.leading]].startswith("-")
    is_given = any(option.name in code and option.value is not None for option in whole.options)
    return Reading(whole.options, ()) if is_given and not inner_first else reading


def _moved(entry: Program, reading: Reading, state: State) -> State:
    inner = state.copy()
    if entry.elsewhere:
        inner.lose_directory()
    for option in reading.options:
        if entry.options.get(option.name) == "cd" and option.value is not None:
            inner.enter(option.value)
    return inner


def _inner_words(entry: Program, fields: list[Field], reading: Reading) -> list[Field]:
    if entry.dashes:
        at = next((i for i, f in enumerate(fields) if f.value == "--"), None)
        plain = [fields[i] for i in reading.operands[1:]] if {"exec", "run", "debug"} <= entry.verbs else []
        return fields[at + 1 :] if at is not None else plain
    if not runs_its_words(entry):
        return []
    words = [fields[i] for i in reading.operands][len(entry.operands) - 1 :]
    return words[1:] if words and words[0].value == "--" else words


def _split_assignments(words: list[Field]) -> tuple[list[Field], tuple[tuple[str, str], ...]]:
    pairs: list[tuple[str, str]] = []
    while words and "=" in words[0].value and not words[0].value.startswith(("=", "/", ".")):
        name, _, value = words[0].value.partition("=")
        pairs.append((name, value))
        words = words[1:]
    return words, tuple(pairs)
