"""Doing and undoing what a plan says.

Promises: backups and the receipt are on disk before the first file changes; a fault in the middle puts back what was
changed; undoing restores the bytes from before where the file is as we left it, and takes out our entries alone where the
user has edited it meanwhile; a file that was not there before is removed again with the folders made for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace as changed
from datetime import UTC, datetime
from pathlib import Path

from interlock.runtime.gates.connect import receipt as receipts
from interlock.runtime.gates.connect.file import FileRefused, Target, check_writable, look, remove, replace
from interlock.runtime.gates.connect.plan import (
    Change,
    Plan,
    known_as_ours,
    not_understood,
    without_member,
    without_ours,
)
from interlock.runtime.gates.connect.receipt import Kept, Receipt, backup_of, digest, forget, save
from interlock.runtime.gates.settings import jsonc
from interlock.runtime.gates.settings.document import Document, SettingsError


def connect(plan: Plan, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Receipt:
    """Make the changes of a plan. Raises FileRefused; then all is as it was."""
    for change in plan.needed:
        check_writable(change.target)
    kept, backups = _kept(plan)
    receipt = Receipt(plan.agent, str(plan.config), now().isoformat(), kept, plan.version)
    save(receipt, backups)
    done: list[tuple[Change, list[Path]]] = []
    try:
        for change in plan.needed:
            done.append((change, replace(change.target, change.after, expected=change.target.data)))
    except FileRefused:
        _put_back(done)
        _restore_receipt(plan, receipt)
        raise
    _drop_old_backups(plan, receipt)
    return _with_folders(receipt, done)


def _kept(plan: Plan) -> tuple[tuple[Kept, ...], dict[str, bytes]]:
    backups: dict[str, bytes] = {}
    kept: list[Kept] = []
    for number, change in enumerate(plan.changes):
        name = None
        if change.origin is not None:
            name = f"{receipts.name_of(plan.agent, plan.config)}.{number}.{secrets.token_hex(4)}.backup"
            backups[name] = change.origin
        earlier = (
            next((k for k in plan.earlier.files if k.path == str(change.target.path)), None) if plan.earlier else None
        )
        kept.append(
            Kept(
                path=str(change.target.path),
                form=change.form,
                existed=change.origin is not None,
                backup=name,
                before=digest(change.origin) if change.origin is not None else "",
                after=digest(change.after),
                folders=earlier.folders if earlier else (),
                ours=change.ours,
                states=earlier.states if earlier else (),
            )
        )
    return tuple(kept), backups


def _put_back(done: list[tuple[Change, list[Path]]]) -> None:
    for change, folders in reversed(done):
        with suppress(FileRefused):
            target = look(change.target.path)
            if change.target.data is None:
                remove(target, folders, expected=change.after)
            else:
                replace(target, change.target.data, expected=change.after)


def _restore_receipt(plan: Plan, new: Receipt) -> None:
    if plan.earlier is None:
        forget(new)
        return
    for kept in new.files:
        if kept.backup:
            (receipts.home() / kept.backup).unlink(missing_ok=True)
    save(plan.earlier, {})


def _drop_old_backups(plan: Plan, receipt: Receipt) -> None:
    new = {kept.backup for kept in receipt.files}
    for kept in plan.earlier.files if plan.earlier else ():
        if kept.backup and kept.backup not in new:
            (receipts.home() / kept.backup).unlink(missing_ok=True)


def _with_folders(receipt: Receipt, done: list[tuple[Change, list[Path]]]) -> Receipt:
    made = {str(change.target.path): tuple(map(str, folders)) for change, folders in done if folders}
    if not made:
        return receipt
    files = tuple(changed(kept, folders=made.get(kept.path, kept.folders)) for kept in receipt.files)
    receipt = changed(receipt, files=files)
    save(receipt, {})
    return receipt


def settle(receipt: Receipt, path: Path, states: tuple[str, ...]) -> Receipt:
    """Take over what the agent itself has written into a file in the course of `connect`: the trust in our hooks."""
    data = look(path).data or b""
    files = tuple(
        changed(kept, after=digest(data), states=states) if kept.path == str(path) else kept for kept in receipt.files
    )
    receipt = changed(receipt, files=files)
    save(receipt, {})
    return receipt


def preview(receipt: Receipt) -> list[tuple[Kept, Target, bytes | None]]:
    """What an undo would leave of every file: its bytes, None for removed. Raises FileRefused."""
    return [_undone(kept) for kept in receipt.files]


def disconnect(receipt: Receipt) -> list[str]:
    """Undo a `connect` and say what was done to each file. Raises FileRefused; what was undone until then stays so."""
    steps = preview(receipt)
    for _, target, after in steps:
        if target.data is not None and target.data != after:
            check_writable(target)
    told: list[str] = []
    # the last one made first: a folder that two files share is empty only when both are gone
    for kept, target, after in reversed(steps):
        folders = [Path(folder) for folder in kept.folders]
        if target.data is None:
            told.append(f"{kept.path}: is gone already")
        elif after is None:
            remove(target, folders, expected=target.data)
            told.append(f"{kept.path}: removed, as before")
        elif after == target.data:
            told.append(f"{kept.path}: holds nothing of ours, left as it is")
        else:
            replace(target, after, expected=target.data)
            exact = digest(after) == kept.before
            told.append(
                f"{kept.path}: " + ("as before, byte for byte" if exact else "our entries taken out, your edits kept")
            )
    forget(receipt)
    return told


def _undone(kept: Kept) -> tuple[Kept, Target, bytes | None]:
    target = look(Path(kept.path))
    if target.data is None:
        return kept, target, None
    if digest(target.data) == kept.after:
        return kept, target, backup_of(kept)
    if kept.form == "whole":
        return kept, target, backup_of(kept)
    try:
        left = _stripped(kept, target.data)
    except SettingsError as error:
        raise not_understood(target.path, error) from None
    return kept, target, None if not kept.existed and _is_empty(left, kept) else left


def _stripped(kept: Kept, data: bytes) -> bytes:
    if kept.form == "json-member":
        return without_member(data, str(kept.ours[0])) if kept.ours else data
    backup = backup_of(kept)
    before = None
    if kept.form == "json-hooks" and backup:
        node = jsonc.parse(Document.decode(backup).text)
        before = node.value if node is not None else None
    return without_ours(data, kept.form, known_as_ours(kept), before, kept.states)


def _is_empty(data: bytes, kept: Kept) -> bool:
    doc = Document.decode(data)
    if kept.form == "toml-hooks":
        return not doc.text.strip()
    node = jsonc.parse(doc.text)
    return node is None or (node.value == {} and doc.text.strip() == "{}")
