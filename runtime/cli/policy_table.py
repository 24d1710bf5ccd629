"""Tables of cases for `interlock policy test`.

    policy = "cases.toml"          # beside this table; without it the layers of this machine
    [[case]]
    command = "rm -rf build"       # or tool and path, or tool and input; cwd, workspace, home
    want = "deny"
    rule = "no-rm-rf"              # if given, this rule has to be named

Promises: nothing is run; a table that cannot be read is a CaseFault that says where.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.cli.policy_answer import answer, roots_of
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.tools.policy_files import load_policy, read_layer, with_layers

_EFFECTS = ("allow", "ask", "deny")


class CaseFault(Exception):
    """A table cannot be used; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one case."""

    number: int
    name: str
    wrong: str
    """What was not as it should be, "" if all was."""


def try_table(table: Path, policy: Path | None) -> list[Result]:
    """Judge every case of a table. Raises CaseFault."""
    try:
        document = tomllib.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaseFault(f"{table}: {getattr(error, 'strerror', None) or error}") from None
    cases = document.get("case")
    if not isinstance(cases, list) or not cases:
        raise CaseFault(f"{table}: there is no [[case]] in it")
    loaded = _policy(document, table, policy)
    return [_tried(table, number, case, loaded) for number, case in enumerate(cases, 1)]


def _policy(document: Mapping[str, Any], table: Path, chosen: Path | None) -> Policy | None:
    named = document.get("policy")
    file = chosen or (table.parent / named if isinstance(named, str) else None)
    if file is None:
        return None
    if not file.exists():
        raise CaseFault(f"{table}: there is no policy file {file}")
    loaded = with_layers([read_layer(file, "user")])
    if loaded.problems:
        raise CaseFault(str(loaded.problems[0]))
    return loaded


def _tried(table: Path, number: int, case: object, policy: Policy | None) -> Result:
    if not isinstance(case, dict) or case.get("want") not in _EFFECTS:
        raise CaseFault(f"{table}: case {number}: 'want' is allow, ask or deny")
    given = {key: value for key, value in case.items() if key not in ("want", "rule", "name")}
    given.setdefault("tool", "bash")
    given.setdefault("cwd", os.getcwd())
    try:
        found = answer(given, policy or load_policy(roots_of(given)))
    except ValueError as error:
        raise CaseFault(f"{table}: case {number}: {error}") from None
    name = str(case.get("name") or case.get("command") or case.get("path") or case["want"])
    if found["decision"] != case["want"]:
        return Result(number, name, f"{found['decision']}, not {case['want']}: {found['reason']}")
    if "rule" in case and case["rule"] not in found["policyIds"]:
        return Result(number, name, f"by {', '.join(found['policyIds']) or 'no rule'}, not by {case['rule']}")
    return Result(number, name, "")
