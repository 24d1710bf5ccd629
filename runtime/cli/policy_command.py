"""`interlock policy`: what the rules say about a call, and why; tables of cases for CI; which rules hold; trust.

Promises: nothing is run, and nothing is written but by `trust` and `revoke`. `check --jsonl` gives one answer for every
line; a line that is no call is answered with `ask` and its error, and ends the command with exit code 1. Foreign text is
printed with its control characters escaped.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from interlock.runtime.cli.fault import CommandFault
from interlock.runtime.cli.policy_grants import grants
from interlock.runtime.cli.policy_revoke import revoke

if TYPE_CHECKING:
    from interlock.runtime.policy.rules.layer import Mode, Policy

T = TypeVar("T")
_POLICY = typer.Option(None, "--policy", help="Judge by this file, not by the layers of this machine.")
_CWD = typer.Option(None, "--cwd", help="Directory the call would run in.")
_TOOL = typer.Option(None, "--tool", help="Name of the tool, as its agent calls it; bash if not given.")
_INPUT = typer.Option(None, "--input", metavar="JSON", help="The whole input of the tool.")
_AGENT = typer.Option(None, "--agent", help="Judge as the gate of claude, codex, gemini, opencode or acp would.")
_PATH = typer.Option(None, "--path", help="Path the tool would be given.")
_MODE = typer.Option(None, "--mode", help="read-only, ask, accept-edits or locked.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    policy = typer.Typer(help="What the rules say about a call, and why.", no_args_is_help=True)
    for name, command in _COMMANDS.items():
        policy.command(name)(command)
    app.add_typer(policy, name="policy")


def check(
    command: str = typer.Argument(None, help="The shell command, in quotes."),
    jsonl: bool = typer.Option(False, "--jsonl", help="Read calls as JSON lines, answer as JSON lines."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object."),
    tool: str = _TOOL,
    path: str = _PATH,
    given: str = _INPUT,
    agent: str = _AGENT,
    cwd: str = _CWD,
    mode: str = _MODE,
    policy: Path = _POLICY,
) -> None:
    """Say what would happen to a call: allow, ask or deny."""
    from interlock.runtime.cli.policy_answer import answer

    if jsonl:
        _check_lines(_source(policy, mode))
        return
    asked = _asked(tool, agent, cwd, command=command, path=path, given=given)
    found = _judged(answer, asked, _source(policy, mode)(_roots(asked)))
    if as_json:
        print(json.dumps(found))
    else:
        print(f"{found['decision']}: {_plain(found['reason'])}  ({found['source']}{_ids(found)})")


def explain(
    command: str = typer.Argument(None, help="The shell command, in quotes."),
    tool: str = _TOOL,
    path: str = _PATH,
    given: str = _INPUT,
    agent: str = _AGENT,
    cwd: str = _CWD,
    mode: str = _MODE,
    policy: Path = _POLICY,
) -> None:
    """Show how the verdict on a call comes about: every part, its paths, its rule."""
    from interlock.runtime.cli.policy_answer import explained

    asked = _asked(tool, agent, cwd, command=command, path=path, given=given)
    for line in _judged(explained, asked, _source(policy, mode)(_roots(asked))):
        print(_plain(line))


def try_tables(
    tables: list[Path] = typer.Argument(help="TOML files with [[case]] tables."),
    policy: Path = _POLICY,
) -> None:
    """Try tables of cases; exit code 1 when one is not judged as it should be."""
    from interlock.runtime.cli.policy_table import CaseFault, try_table

    failed = 0
    for table in tables:
        try:
            results = try_table(table, policy)
        except CaseFault as error:
            raise CommandFault(str(error), 2) from None
        wrong = [result for result in results if result.wrong]
        for result in wrong:
            print(_plain(f"{table}: case {result.number} ({result.name}): {result.wrong}"))
        print(f"{table}: {len(results) - len(wrong)} of {len(results)} as they should be")
        failed += len(wrong)
    if failed:
        raise typer.Exit(1)


def list_rules(
    as_json: bool = typer.Option(False, "--json", help="One JSON object a line."),
    policy: Path = _POLICY,
) -> None:
    """List the rules that hold here, layer by layer, what is wrong in their files, and what may not be meant so."""
    from interlock.runtime.cli.policy_listing import listed

    loaded = _source(policy, None)([os.getcwd()])
    for row in listed(loaded):
        print(json.dumps(row) if as_json else _plain(_row(row)))
    for problem in loaded.problems:
        print(f"interlock: {_plain(str(problem))}", file=sys.stderr)
    for hint in loaded.hints:
        print(f"interlock: hint: {_plain(str(hint))}", file=sys.stderr)
    if loaded.problems:
        raise typer.Exit(1)


def trust(
    file: Path = typer.Argument(None, help="The project's policy file; the one below this folder if not given."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask; show and trust."),
) -> None:
    """Let the allows of a project's policy file count, as long as the file stays exactly as it is."""
    from interlock.runtime.tools.policy_files import TrustError, project_files, read_layer
    from interlock.runtime.tools.policy_files import trust as keep

    found = [file] if file else project_files([os.getcwd()])
    if not found:
        raise CommandFault("there is no policy file here (.interlock/policy.toml or interlock-policy.toml).")
    for place in found:
        layer = read_layer(place, "project")
        if not layer.digest:
            raise CommandFault(f"{layer.problems[0]}")
        for rule in (*layer.waiting, *(r for r in layer.rules if r.effect == "allow")):
            print(_plain(f"allow  {rule.id}  {rule.reason or rule.text}"))
        print(_plain(f"{place}  sha256 {layer.digest}"))
        if not yes and not typer.confirm("Let these allows count?", default=False):
            raise CommandFault("nothing was trusted.")
        try:
            keep(place, layer.digest)
        except TrustError as error:
            raise CommandFault(str(error)) from None
        print("Trusted. A change of the file ends it.")


def _check_lines(source: Callable[[list[str]], Policy]) -> None:
    from interlock.runtime.cli.policy_answer import answer, no_call

    bad = 0
    loaded: dict[tuple[str, ...], Policy] = {}
    for line in _lines():
        try:
            given = json.loads(line)
            if not isinstance(given, dict):
                raise ValueError("a call is an object")
            roots = _roots(given)
            if tuple(roots) not in loaded:
                loaded[tuple(roots)] = source(roots)
            row = answer(given, loaded[tuple(roots)])
        except (ValueError, RecursionError) as error:
            row = no_call(str(error))
        bad += "error" in row
        print(json.dumps(row), flush=True)
    if bad:
        raise typer.Exit(1)


def _lines() -> Iterator[str]:
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", "replace")
        if line.strip():
            yield line


def _source(file: Path | None, mode: str | None) -> Callable[[list[str]], Policy]:
    """How the policy for a workspace is found. Raises CommandFault for a file or mode that is not there."""
    from interlock.runtime.tools.policy_files import load_policy, read_layer, with_layers

    chosen = _mode(mode)
    if file is None:
        return lambda roots: load_policy(roots, mode=chosen)
    if not file.exists():
        raise CommandFault(f"there is no file {file}.", 2)
    loaded = with_layers([read_layer(file, "user")], mode=chosen)
    for problem in loaded.problems:
        print(f"interlock: {_plain(str(problem))}", file=sys.stderr)
    return lambda roots: loaded


def _mode(written: str | None) -> Mode | None:
    from interlock.runtime.policy.rules.layer import MODES

    for mode in MODES:
        if mode == written:
            return mode
    if written is not None:
        raise CommandFault(f"mode {written!r} is none of {', '.join(MODES)}.", 2)
    return None


def _asked(
    tool: str | None, agent: str | None, cwd: str | None, *, command: str | None, path: str | None, given: str | None
) -> dict[str, Any]:
    """The call that the options stand for."""
    if command is None and path is None and given is None and tool is None:
        raise CommandFault("say what to judge: a command in quotes, or --tool with --path, --input or neither.", 2)
    arguments = _parsed(given) if given is not None else {}
    arguments |= {key: value for key, value in (("command", command), ("path", path)) if value is not None}
    asked = {"tool": tool or "bash", "input": arguments, "cwd": os.path.abspath(cwd or os.getcwd())}
    return {**asked, "agent": agent} if agent else asked


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandFault(f"--input is no JSON: {error}. In a shell, put it in single quotes.", 2) from None
    if not isinstance(found, dict):
        raise CommandFault("--input is a JSON object.", 2)
    return found


def _judged(judge: Callable[[dict[str, Any], Policy], T], asked: dict[str, Any], policy: Policy) -> T:
    try:
        return judge(asked, policy)
    except ValueError as error:
        raise CommandFault(f"{error}.", 2) from None


def _roots(given: dict[str, Any]) -> list[str]:
    from interlock.runtime.cli.policy_answer import roots_of

    return list(roots_of(given))


def _plain(text: str) -> str:
    from interlock.runtime.cli.asks_command import plain

    return plain(text)


def _ids(found: dict[str, Any]) -> str:
    return f": {', '.join(found['policyIds'])}" if found["policyIds"] else ""


def _row(row: dict[str, Any]) -> str:
    return "  ".join(str(row[key]) for key in ("layer", "effect", "id", "place", "state", "reason") if row[key])


_COMMANDS = {
    "check": check,
    "explain": explain,
    "test": try_tables,
    "list": list_rules,
    "trust": trust,
    "grants": grants,
    "revoke": revoke,
}
