"""From opencode's own question (`permission.asked`) to a call that a gate judges. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.call import CHOICES, ForeignCall, NativeCause

TAKEN_DOWN = "opencode rejected it together with another question of this session"
REFUSED_ALONE = "opencode refused it by itself: it runs without a person"
_TOOLS = {"edit": "edit", "bash": "bash", "webfetch": "webfetch", "read": "read", "task": "task"}


def call_of(told: Mapping[str, Any], cwd: str) -> ForeignCall:
    """The call behind a question."""
    about = told.get("metadata")
    about = about if isinstance(about, Mapping) else {}
    permission = str(told.get("permission") or told.get("type") or "unknown")
    tool = told.get("tool")
    call_id = tool.get("callID") if isinstance(tool, Mapping) else told.get("callID")
    diff, why = about.get("diff"), about.get("description")
    patterns = told.get("patterns")
    return ForeignCall(
        tool=_TOOLS.get(permission, permission),
        input=_input(permission, about, patterns),
        cwd=cwd,
        call_id=call_id if isinstance(call_id, str) else None,
        reason=why if isinstance(why, str) and why else None,
        diff=diff if isinstance(diff, str) and diff else None,
        choices=CHOICES,
        races=True,
        facts={"opencode": {"permission": permission, "patterns": patterns, "always": told.get("always")}},
    )


def _input(permission: str, about: Mapping[str, Any], patterns: Any) -> dict[str, Any]:
    match permission:
        case "bash" if about.get("command"):
            return {"command": about["command"]}
        case "edit" if about.get("filepath"):
            return {"filePath": about["filepath"]}
        case "webfetch" if about.get("url"):
            return {"url": about["url"]}
        case "read" if about.get("filePath") or about.get("filepath"):
            return {"filePath": about.get("filePath") or about.get("filepath")}
        case _:
            # nothing more is known of it: it can be denied by its name and is else a question for a person
            return {"permission": permission, "patterns": patterns, "metadata": dict(about)}


def is_about(known: ForeignCall, asked: ForeignCall) -> bool:
    """Whether a question is about the very input that was told of before; one that shows nothing of it may be."""
    shared = [(known.input[key], value) for key, value in asked.input.items() if key in known.input]
    return all(value in (mine, posixpath.join(asked.cwd, str(mine))) for mine, value in shared)


def merged_into(known: ForeignCall, asked: ForeignCall) -> ForeignCall:
    """The call that was told of before it ran, now with what the question adds."""
    known.races = True
    known.diff = known.diff or asked.diff
    known.reason = known.reason or asked.reason
    known.facts = {**known.facts, **asked.facts}
    return known


def native_cause(reply: Any) -> NativeCause:
    """What opencode's own prompt said."""
    return "native_deny" if reply == "reject" else "native_allow" if reply in ("once", "always") else "withdrawn"
