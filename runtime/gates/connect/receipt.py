"""What `connect` did, kept so that `disconnect` can undo it byte for byte.

Promises: the bytes from before are on disk before anything is changed; one receipt an agent and settings file; a receipt that
cannot be read is told, never overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from interlock.runtime.gates.connect.file import FileRefused
from interlock.runtime.journal.place import kept_folder, state_home

Form = Literal["json-hooks", "toml-hooks", "whole", "json-member"]
"""How our part stands in a file: hooks in JSON, hooks in TOML, the whole file, one member of the outermost object."""


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """One file that was changed."""

    path: str
    """As the agent names it."""
    form: Form
    existed: bool
    backup: str | None
    """Name of the file beside the receipt that holds the bytes from before; None: there was no file."""
    before: str
    """Digest of the bytes from before, "" for no file."""
    after: str
    """Digest of the bytes that we left."""
    folders: tuple[str, ...] = ()
    """Made for it, outermost first."""
    ours: tuple[Any, ...] = ()
    """Hook handlers, or the name of the member, that we added."""
    states: tuple[str, ...] = ()
    """Keys under which the agent remembers that the user trusts our hooks."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """All that one `connect` changed."""

    agent: str
    config: str
    at: str
    files: tuple[Kept, ...] = field(default=())
    agent_version: str = ""


def home() -> Path:
    """The folder of receipts and backups."""
    return state_home() / "connected"


def name_of(agent: str, config: Path) -> str:
    """The name under which the receipt of an agent's settings file is kept."""
    return f"{agent}-{hashlib.sha256(os.fsencode(os.path.abspath(config))).hexdigest()[:8]}"


def load(agent: str, config: Path) -> Receipt | None:
    """The receipt of an earlier `connect`, None when there is none. Raises FileRefused when it cannot be read."""
    path = home() / f"{name_of(agent, config)}.json"
    try:
        told = json.loads(path.read_bytes())
        files = tuple(
            Kept(**one | {key: tuple(one.get(key, ())) for key in ("folders", "ours", "states")})
            for one in told["files"]
        )
        return Receipt(told["agent"], told["config"], told["at"], files, told.get("agent_version", ""))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileRefused(
            f"{path} cannot be read ({error}), so what was connected cannot be undone from it. The bytes from before stand "
            f"beside it; put them back by hand and remove this file."
        ) from None


def all_receipts() -> list[Receipt]:
    """Every receipt that can be read, for `doctor` and lists."""
    found: list[Receipt] = []
    with suppress(OSError):
        for path in sorted(home().glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError, FileRefused):
                told = json.loads(path.read_bytes())
                if (receipt := load(told["agent"], Path(told["config"]))) is not None:
                    found.append(receipt)
    return found


def save(receipt: Receipt, backups: dict[str, bytes]) -> None:
    """Keep a receipt and the bytes it speaks of. Raises FileRefused."""
    name = name_of(receipt.agent, Path(receipt.config))
    try:
        folder = kept_folder(home())
        for backup, data in backups.items():
            _write(folder / backup, data)
        _write(folder / f"{name}.json", json.dumps(asdict(receipt), indent=1).encode() + b"\n")
    except OSError as error:
        raise FileRefused(
            f"the bytes from before cannot be kept in {home()}: {error.strerror}. Nothing was changed."
        ) from None


def backup_of(kept: Kept) -> bytes | None:
    """The bytes from before, None where there was no file. Raises FileRefused when they are not what was kept."""
    if kept.backup is None:
        return None
    path = home() / kept.backup
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileRefused(f"the backup {path} cannot be read: {error.strerror}.") from None
    if digest(data) != kept.before:
        raise FileRefused(f"the backup {path} is not what was kept. Nothing was changed.")
    return data


def forget(receipt: Receipt) -> None:
    """Remove a receipt and its backups, after all of it is undone."""
    for kept in receipt.files:
        if kept.backup:
            (home() / kept.backup).unlink(missing_ok=True)
    (home() / f"{name_of(receipt.agent, Path(receipt.config))}.json").unlink(missing_ok=True)
    with suppress(OSError):
        home().rmdir()


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)
    os.replace(temporary, path)
