"""What a mode makes of a verdict (PO-3).

Promises: a mode never turns a deny into anything else, and only `accept-edits` makes a verdict milder: a change of a
file by a file tool, inside the workspace, of an unguarded path, that no rule asks about. Pure.
"""

from __future__ import annotations

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.reading import Reading
from interlock.runtime.policy.rules.layer import Mode
from interlock.runtime.policy.rules.rule import Verdict

_OWN_DEFAULTS = ("built-in",)
_EDITORS = ("write_file", "edit_file")


def in_mode(verdict: Verdict, call: Call, reading: Reading, mode: Mode) -> Verdict:
    """The verdict as the mode leaves it."""
    if verdict.effect == "deny" or mode == "ask":
        return verdict
    if mode == "locked":
        return _locked(verdict)
    if mode == "read-only":
        return _read_only(verdict, reading)
    if verdict.effect == "ask" and verdict.source in _OWN_DEFAULTS and _is_plain_edit(reading):
        return Verdict("allow", "changes of files inside the workspace are accepted", "mode", "accept-edits")
    return verdict


def _locked(verdict: Verdict) -> Verdict:
    if verdict.effect == "allow":
        return verdict
    return Verdict("deny", f"the session is locked, so what asks is denied: {verdict.reason}", "mode", "locked")


def _read_only(verdict: Verdict, reading: Reading) -> Verdict:
    if reading.subjects and all(subject.read_only or subject.wrapper for subject in reading.subjects):
        return verdict
    return Verdict("deny", "the session may only read", "mode", "read-only")


def _is_plain_edit(reading: Reading) -> bool:
    subject = reading.subjects[0]
    if reading.shell is not None or subject.tool not in _EDITORS or not subject.paths or subject.call.unclear:
        return False
    return all(fact.inside and not fact.guard and not fact.error for fact in subject.paths)
