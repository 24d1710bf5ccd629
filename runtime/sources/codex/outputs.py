"""What the model was given back for a call, in all the forms that it had: what it says, and how the call ended.

Promises: an exit code, a duration or a cut stands here only where the text or the record has it; a refusal, an
interrupt and a failure are told apart by the sentences that Codex writes, and only where they begin the text, so that
the output of a command can never pass for one. Pure.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.sources.foreign.narrator import Outcome, text_of
from interlock.runtime.sources.foreign.shape import at, mapping, number, objects, parsed, text, whole

_HEAD = 1_000
_LINE = re.compile(
    r"(?:Chunk ID: \S*|Wall time:? (?P<wall>[\d.]+) seconds|Process exited with code (?P<code>-?\d+)"
    r"|Exit code: (?P<exit>-?\d+)|Process running with session ID (?P<session>\S+)"
    r"|Original token count: \d+|Total output lines: \d+"
    r"|Script (?P<script>completed|failed|terminated)|Script running with cell ID (?P<cell>\S+))$"
)
_CUT = re.compile(
    r"^Warning: truncated output|^\[\.{3} omitted \d+ of \d+ lines \.{3}\]$|…\d+ (?:tokens|chars|lines) truncated…"
    r"|^\[\.{3} removed \d+ (?:bytes|lines) .*\.{3}\]$|^\[\.{3} output truncated .*\]$",
    re.MULTILINE,
)
_HOOK = re.compile(r"^(?:Command|Tool call) blocked by \S+ hook\b")
_BY_PERSON = re.compile(
    r"^(?:exec command |patch |command )?rejected by user\b"
    r"|^(?:err: |error: |[\w`.-]{1,40} call error: |Mcp error: ){0,3}\"?user (?:rejected|declined|cancell?ed|denied) "
    r"|^[\w .`-]{0,40}(?:failed|error)\b.{0,4000}?[Rr]ejected(?:\(\\?\"| ?: ?)?rejected by user",
    re.DOTALL | re.IGNORECASE,
)
_BY_POLICY = re.compile(
    r"^approval policy is |^(?:patch|command) rejected: |approval required by policy|^This action was rejected"
    r"|^[\w .`-]{0,40}(?:failed|error)\b.{0,4000}?Rejected\(|^Rejected\(|^`.{0,4000}?` rejected: ",
    re.DOTALL,
)
_ABORTED = re.compile(r"^(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user(?: after [\d.]+s)?)?\s*$")
_FAULT = re.compile(
    r"^(?:[\w`.-]+ (?:[\w`.-]+ ){0,2}failed\b|failed (?:to|in) |unsupported (?:custom tool )?call|unknown (?:tool|process)"
    r"|(?:[\w`.-]+ )?error[: ]|tool call error: |execution error|invalid |missing field|Script error|unable to |err: )",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(r"^command timed out after \d+ milliseconds", re.MULTILINE)


@dataclass(slots=True)
class Told:
    """One output, taken apart."""

    text: str
    """All of it, as the model had it, but for the JSON around it."""
    body: str = ""
    """What stands behind the lines that Codex puts before it."""
    exit_code: int | None = None
    duration_ms: int | None = None
    truncated: bool = False
    running: str = ""
    """The id under which the process or the script goes on."""
    script: str = ""
    """Of code mode: `completed`, `failed`, `terminated`."""
    inner: list[int] = field(default_factory=list)
    """Of code mode: exit codes of the calls inside, as far as the script printed their results."""
    success: bool | None = None
    headed: bool = False
    """It begins with lines of Codex's own, so that what follows is output and no word of Codex's."""


def told(output: Any) -> Told:
    """Take an output apart."""
    if isinstance(output, list):
        return _from_parts(output)
    if isinstance(output, str):
        return _from_text(output)
    found = _from_text(text_of(output))
    success = mapping(output).get("success")
    found.success = success if isinstance(success, bool) else None
    return found


def _from_text(output: str) -> Told:
    if output.startswith("{"):
        value = parsed(output)
        if isinstance(value, dict) and isinstance(value.get("output"), str) and isinstance(value.get("metadata"), dict):
            return _from_json(value["output"], value["metadata"])
    found = Told(output, body=output)
    _read_head(found)
    if not found.headed and found.body.startswith("Warning: truncated output"):
        # long outputs put the warning first and the lines of Codex's own behind it
        _, _, behind = found.body.partition("\n\n")
        inner = Told(behind, body=behind)
        _read_head(inner)
        if inner.headed:
            found = Told(output, inner.body, inner.exit_code, inner.duration_ms, True, inner.running, inner.script)
            found.headed = True
    found.truncated = found.truncated or _is_cut(output)
    return found


def _from_json(output: str, metadata: dict[str, Any]) -> Told:
    found = Told(output, body=output, headed=True, exit_code=whole(metadata.get("exit_code")))
    seconds = number(metadata.get("duration_seconds"))
    found.duration_ms = int(seconds * 1000) if seconds is not None and 0 <= seconds < 1e9 else None
    found.truncated = _is_cut(output)
    return found


def _from_parts(output: list[Any]) -> Told:
    texts = [text_of(part) for part in output]
    found = Told("\n".join(part for part in texts if part), headed=False)
    found.body = texts[0] if texts else ""
    _read_head(found)
    rest = [found.body, *texts[1:]] if found.body else texts[1:]
    found.body = "\n".join(part for part in rest if part)
    found.truncated = any(_is_cut(part) for part in texts)
    if found.script:
        for part in rest:
            found.inner += _inner_codes(part)
    return found


def _read_head(found: Told) -> None:
    at_char, end = 0, min(len(found.body), _HEAD)
    while at_char < end:
        stop = found.body.find("\n", at_char)
        stop = len(found.body) if stop < 0 else stop
        line = found.body[at_char:stop].rstrip()
        if line == "Output:" and found.headed:
            at_char = stop + 1
            break
        match = _LINE.match(line) if len(line) < 200 else None
        if match is None:
            break
        found.headed = True
        _take_line(found, match)
        at_char = stop + 1
    found.body = found.body[at_char:]


def _take_line(found: Told, match: re.Match[str]) -> None:
    code = match["code"] or match["exit"]
    if code is not None and len(code) < 12:
        found.exit_code = int(code)
    if match["wall"]:
        found.duration_ms = _millis(match["wall"])
    found.running = match["session"] or match["cell"] or found.running
    found.script = match["script"] or found.script


def _millis(seconds: str) -> int | None:
    try:
        value = float(seconds)
    except ValueError:
        return None
    return int(value * 1000) if value < 1e9 else None


def _is_cut(output: str) -> bool:
    return ("truncated" in output or "[... " in output) and _CUT.search(output) is not None


def _inner_codes(part: str) -> list[int]:
    """Exit codes of the results that a script printed as JSON."""
    if part.startswith("Warning: truncated output"):
        part = part.partition("\n\n")[2]
    part = part.strip()
    if not part.startswith(("{", "[")) or '"exit_code"' not in part:
        return []
    try:
        value = json.loads(part)
    except (ValueError, RecursionError):
        # cut in the middle: the code stands before the output
        early = re.match(r'\{(?:"[a-z_]+":(?:"[^"\\]{0,80}"|[\d.eE+-]+),){0,8}"exit_code":(-?\d{1,10})\b', part)
        return [int(early[1])] if early else []
    return _codes_of(value)


def _codes_of(value: Any) -> list[int]:
    found = []
    for item in [value, *objects(value), *(objects(list(value.values())) if isinstance(value, dict) else [])]:
        # a settled promise carries its result one level down
        for holder in (item, at(item, "value")):
            code = whole(mapping(holder).get("exit_code"))
            if code is not None:
                found.append(code)
    return found


def ended(found: Told, details: dict[str, Any]) -> tuple[Outcome, str | None]:
    """(how the call ended, the code where the usual one of the outcome says too little)."""
    refused = _refused(found, details)
    if refused is not None:
        return refused
    if (not found.headed or found.body.startswith("aborted")) and _ABORTED.match(found.text[:200]):
        return "interrupted", None
    code = found.exit_code
    if code is not None and code != 0:
        if code == 124 and _TIMED_OUT.search(found.body[:2000] + found.body[-2000:]):
            return "timeout", None
        return "failed", "exit_nonzero"
    if code is None and not found.headed and _TIMED_OUT.match(found.text[:200]):
        return "timeout", None
    if found.success is False or text(details.get("status")) == "failed" or details.get("failed") is True:
        return "failed", None
    if any(found.inner):
        return "failed", "exit_nonzero"
    if found.script == "failed" or (not found.headed and code is None and _FAULT.match(found.text[:300])):
        return "failed", None
    return "ok", None


def _refused(found: Told, details: dict[str, Any]) -> tuple[Outcome, str | None] | None:
    said = found.body if found.script == "failed" else "" if found.headed else found.text
    said = said.strip().removeprefix("Script error:").strip()[:6000] if said else ""
    if said and _HOOK.match(said):
        return "denied", "policy_denied"
    if said and _BY_PERSON.search(said):
        return "denied", "user_denied"
    if said and _BY_POLICY.search(said):
        return "denied", "policy_denied"
    if text(details.get("status")) == "declined":
        return "denied", "user_denied"
    return None
