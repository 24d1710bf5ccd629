"""From what Codex's app-server asks to a call that a gate judges. Pure.

Promises: what is shown is the command, or the changes with their diff, that would be accepted; a question that has no yes or no
is left to Codex's own prompt. No reason can be handed on over the app-server, so that choice is not offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.call import WITHOUT_MESSAGE, ForeignCall
from interlock.runtime.gates.codex.command import unwrap

COMMAND = "item/commandExecution/requestApproval"
CHANGE = "item/fileChange/requestApproval"
QUESTIONS = {
    "item/permissions/requestApproval": "Codex asks for more permissions; only its own prompt can say which",
    "item/tool/requestUserInput": "Codex asks a question; only its own prompt can take the answer",
    "mcpServer/elicitation/request": "an MCP server asks a question; only Codex's own prompt can take the answer",
}
APPROVALS = (COMMAND, CHANGE, *QUESTIONS)


def call_of(method: str, params: Mapping[str, Any], item: Mapping[str, Any] | None, cwd: str) -> ForeignCall:
    """The call behind a request of the server. `item`: as `item/started` told it, where it was seen."""
    if method == COMMAND:
        return _command(params, item or {}, cwd)
    if method == CHANGE:
        return _change(params, item or {}, cwd)
    question = QUESTIONS.get(method, f"Codex asks {method}, which only its own prompt can answer")
    return _call(params, "question", {"method": method, "params": dict(params)}, cwd, question=question, choices=())


def _command(params: Mapping[str, Any], item: Mapping[str, Any], cwd: str) -> ForeignCall:
    command = unwrap(params.get("command") or item.get("command"))
    where = params.get("cwd") or item.get("cwd")
    given: dict[str, Any] = {"command": command} if command else {}
    if isinstance(where, str) and where:
        given["workdir"] = where
    facts: dict[str, Any] = {}
    for name in ("networkApprovalContext", "additionalPermissions"):
        if params.get(name):
            # more than the command is asked for: no rule about the command may allow it
            given["additional_permissions"] = facts[name] = params[name]
    return _call(params, "exec_command", given, where if isinstance(where, str) and where else cwd, facts=facts)


def _change(params: Mapping[str, Any], item: Mapping[str, Any], cwd: str) -> ForeignCall:
    told = item.get("changes")
    changes = [one for one in (told if isinstance(told, list) else []) if isinstance(one, dict)]
    shown = [{key: value for key, value in change.items() if key != "diff"} for change in changes]
    given: dict[str, Any] = {"changes": shown}
    if params.get("grantRoot"):
        given["grantRoot"] = params["grantRoot"]
    diff = "".join(map(_diff, changes)) or None
    return _call(params, "apply_patch", given, cwd, diff=diff, prompt=", ".join(map(_told, changes)))


def _kind(change: Mapping[str, Any]) -> tuple[str, str]:
    """(`add`, `delete` or `update`; where the file is moved to, "" for nowhere)."""
    kind = change.get("kind")
    if not isinstance(kind, Mapping):
        return str(kind or ""), ""
    return str(kind.get("type") or ""), str(kind.get("move_path") or "")


def _told(change: Mapping[str, Any]) -> str:
    path, (kind, moved) = str(change.get("path", "")), _kind(change)
    return f"delete {path}" if kind == "delete" else f"{path} -> {moved}" if moved else path


def _diff(change: Mapping[str, Any]) -> str:
    path, text, (kind, moved) = str(change.get("path", "")), change.get("diff"), _kind(change)
    if not isinstance(text, str) or not text:
        return ""
    text = text if text.endswith("\n") else text + "\n"
    if text.startswith(("---", "diff ", "Index:")):
        return text
    old, new = ("/dev/null" if kind == "add" else path), ("/dev/null" if kind == "delete" else moved or path)
    if not text.startswith("@@"):
        # Codex gives a new or removed file as its bare content
        lines = text.splitlines()
        mark, head = ("-", f"@@ -1,{len(lines)} +0,0 @@") if kind == "delete" else ("+", f"@@ -0,0 +1,{len(lines)} @@")
        text = head + "\n" + "".join(f"{mark}{line}\n" for line in lines)
    return f"--- {old}\n+++ {new}\n{text}"


def _call(params: Mapping[str, Any], tool: str, given: dict[str, Any], cwd: str, **more: Any) -> ForeignCall:
    item, reason = params.get("itemId"), params.get("reason")
    settled: dict[str, Any] = {"choices": WITHOUT_MESSAGE, **more}
    return ForeignCall(
        tool=tool,
        input=given,
        cwd=cwd,
        call_id=item if isinstance(item, str) else None,
        reason=reason if isinstance(reason, str) and reason else None,
        races=True,
        **settled,
    )
