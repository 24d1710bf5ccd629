"""Rules that answers put into the user's policy file, and take out again.

Promises: everything else in the file stays byte for byte, comments and mode too; readers see the old file or the new
one, never a part; a link is followed and stays a link; two processes that write at once both get their change in; a
file that could not hold the rule as it is meant is left as it is, and the error says what to mend.
Does not promise: to see an editor that has the file open and saves its own copy later.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.rules.rule import Rule
from interlock.runtime.policy.rules.rule_file import pieces_of
from interlock.runtime.tools.policy_files import user_file

_MARK = "# kept by Interlock"
_BOM = "\ufeff"


class KeptRuleError(Exception):
    """The file was not changed; the message says why and what to do."""


def keep_rule(text: str, rule_id: str, now: datetime, *, file: Path | None = None) -> Path:
    """Put the rule `text` at the end of the user's policy file, with a line that says where it came from. The very same
    rule, put there by another session, is left as it is.

    Returns the file. Raises KeptRuleError.
    """
    place = file or user_file()

    def added(old: str) -> str:
        before = _layer(old, place)
        known = next((rule for rule in before.rules if rule.id == rule_id), None)
        if known is not None and known.text == text.strip():
            return old
        if known is not None:
            raise KeptRuleError(
                f"{place} has another rule {rule_id} already. Give this one another id; nothing was added."
            )
        gap = "" if not old.removeprefix(_BOM) else "\n" if old.endswith("\n") else "\n\n"
        new = f"{old}{gap}{_MARK}, {now:%Y-%m-%d}, from an answer: {rule_id}\n{text.strip()}\n"
        after = _layer(new, place)
        if [p.what for p in after.problems] != [p.what for p in before.problems] or not any(
            rule.id == rule_id and rule.effect == "allow" for rule in after.rules
        ):
            problem = next(iter(before.problems), None) or next(iter(after.problems), None)
            raise KeptRuleError(f"{place} cannot take the rule ({problem}). Mend the file, then allow by rule again.")
        return new

    _change(place, added)
    return place


def drop_rule(rule_id: str, *, file: Path | None = None) -> bool:
    """Take the rule of this id out again. False: it is not in the file (any more). Raises KeptRuleError."""
    place = file or user_file()
    found = False

    def without(old: str) -> str:
        nonlocal found
        body = old.removeprefix(_BOM)
        lines = _lines(body)
        spans = list(_spans(body, lines, rule_id))
        if len(spans) > 1:
            raise KeptRuleError(
                f"{place} has {len(spans)} rules with the id {rule_id}. Take out the right one by hand."
            )
        found = bool(spans)
        mark = old[: len(old) - len(body)]
        return "".join([mark, *lines[: spans[0][0]], *lines[spans[0][1] :]]) if spans else old

    if os.path.lexists(place):
        _change(place, without)
    return found


def kept_rules(*, file: Path | None = None) -> tuple[Rule, ...]:
    """The rules in the user's policy file that came from answers. Raises KeptRuleError."""
    place = file or user_file()
    text = _read(place)
    lines = _lines(text.removeprefix(_BOM))
    return tuple(
        rule for rule in _layer(text, place).rules if rule.line > 1 and _is_mark(lines, rule.line - 2, rule.id)
    )


def _is_mark(lines: list[str], at: int, rule_id: str) -> bool:
    return at < len(lines) and lines[at].startswith(_MARK) and lines[at].split()[-1] == rule_id


def _layer(text: str, place: Path) -> Layer:
    return load_layer(text, file=str(place), layer="user")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _spans(text: str, lines: list[str], rule_id: str) -> Iterator[tuple[int, int]]:
    """(first, behind the last) line of each rule with this id, with the line of ours in front of it."""
    for piece in pieces_of(text):
        if piece.name != "rule" or piece.table.get("id") != rule_id:
            continue
        first = piece.line - 1
        last = first + len(_lines(piece.text))
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
            last -= 1
        if first and _is_mark(lines, first - 1, rule_id):
            first -= 1
            # the empty line that was put in front of it
            first -= bool(first and not lines[first - 1].strip())
        yield first, last


def _read(place: Path) -> str:
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise KeptRuleError(f"cannot read {place}: {error.strerror}. Nothing was changed.") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KeptRuleError(f"{place} is no UTF-8 at byte {error.start}. Mend it; nothing was changed.") from None


def _change(place: Path, change: Callable[[str], str]) -> None:
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(place):
            old = _read(place)
            new = change(old)
            if new != old:
                _replace(Path(os.path.realpath(place)), new.encode("utf-8"))
    except OSError as error:
        raise KeptRuleError(f"cannot write {place}: {error.strerror}. Nothing was changed.") from None
    except UnicodeEncodeError:
        raise KeptRuleError("the rule holds a character that no file can hold. Nothing was changed.") from None


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    handle = os.open(place.with_name(f".{place.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(real: Path, data: bytes) -> None:
    new = real.with_name(f".{real.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        mode = stat.S_IMODE(real.stat().st_mode)
    except FileNotFoundError:
        mode = 0o600
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(new, real)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(new)
