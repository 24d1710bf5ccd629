"""One settings file of another agent: reading, replacing and removing it with care.

Promises: a link is followed to the file that it names, and the link stays; readers see the old bytes or the new ones; mode and
owner are kept; a file that is no longer what was shown is not replaced; what is read-only stays as it is. Every refusal
(`FileRefused`) says what, where and what to do, and nothing was changed then.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 64 << 20
"""Larger settings files are refused: no agent reads such a one quickly either."""


class FileRefused(Exception):
    """A settings file cannot be used as it is."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a settings file really lies and what it holds."""

    path: Path
    """As the agent names it."""
    real: Path
    """Links followed."""
    data: bytes | None
    """None: there is no such file."""

    @property
    def is_linked(self) -> bool:
        """Whether the name is a link to the file."""
        return self.path.is_symlink()


def look(path: Path) -> Target:
    """Read a settings file. Raises FileRefused for what is no regular file of this user, or cannot be read."""
    path = Path(os.path.abspath(path))
    try:
        real = Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Target(path, _absent(path), None)
    except OSError as error:
        why = "its links lead in a circle" if error.errno == errno.ELOOP else error.strerror
        raise FileRefused(f"{path} cannot be read: {why}. Mend it, then try again.") from None
    return Target(path, real, _read(path, real))


def _absent(path: Path) -> Path:
    if path.is_symlink():
        raise FileRefused(
            f"{path} is a link to {os.readlink(path)}, which does not exist. Make that file or remove the link first."
        )
    return Path(os.path.realpath(path.parent)) / path.name


def _read(path: Path, real: Path) -> bytes:
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            seen = os.fstat(handle)
            if not stat.S_ISREG(seen.st_mode):
                raise FileRefused(f"{path} is no regular file. Put a settings file there, then try again.")
            if seen.st_size > MOST_BYTES:
                raise FileRefused(f"{path} is larger than {MOST_BYTES} bytes. Make it smaller, then try again.")
            return file.read()
    except OSError as error:
        raise FileRefused(f"{path} cannot be read: {error.strerror}. Make it readable, then try again.") from None


def check_writable(target: Target) -> None:
    """Refuse at once what could not be replaced later. Raises FileRefused."""
    named = f"{target.path}" + (f" (a link to {target.real})" if target.is_linked else "")
    try:
        seen = os.stat(target.real)
    except (FileNotFoundError, NotADirectoryError):
        _check_folder(target.real.parent, named)
        return
    if not seen.st_mode & 0o222 or not os.access(target.real, os.W_OK):
        raise FileRefused(f"{named} is read-only. Make it writable (chmod u+w), or change it where it is made.")
    if seen.st_uid != os.geteuid():
        raise FileRefused(f"{named} belongs to user {seen.st_uid}, not to you. Change its owner first.")
    if seen.st_nlink > 1:
        raise FileRefused(
            f"{named} has {seen.st_nlink} names (hard links), and replacing it would part them. Leave it one name first."
        )
    _check_folder(target.real.parent, named)


def _check_folder(folder: Path, named: str) -> None:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise FileRefused(f"{named}: {folder} is no folder. Move it away, then try again.")
    if not os.access(folder, os.W_OK | os.X_OK) or not folder.stat().st_mode & 0o222:
        raise FileRefused(f"{named}: the folder {folder} is read-only. Make it writable (chmod u+w), then try again.")


def replace(target: Target, data: bytes, *, expected: bytes | None) -> list[Path]:
    """Put `data` in the place of a file and give the folders that were made for it, outermost first.

    `expected` is what must stand there until the last moment; None: nothing. Raises FileRefused.
    """
    made = _make_folders(target.real.parent)
    temporary = target.real.with_name(f".{target.real.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        _fill(temporary, data, target.real)
        _still(target, expected)
        os.replace(temporary, target.real)
        _sync(target.real.parent)
    except OSError as error:
        _unmake(made)
        raise FileRefused(f"{target.path} cannot be written: {error.strerror}. Nothing was changed.") from None
    except FileRefused:
        _unmake(made)
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return made


def remove(target: Target, folders: list[Path], *, expected: bytes) -> None:
    """Delete a file that we made, and the folders that we made for it where they are empty. Raises FileRefused."""
    _still(target, expected)
    try:
        target.real.unlink()
    except OSError as error:
        raise FileRefused(f"{target.path} cannot be removed: {error.strerror}.") from None
    _unmake(folders)


def _unmake(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    for one in reversed(missing):
        try:
            one.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            _unmake(made)
            raise FileRefused(f"the folder {one} cannot be made: {error.strerror}. Nothing was changed.") from None
        made.append(one)
    return made


def _fill(temporary: Path, data: bytes, like: Path) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        with suppress(FileNotFoundError):
            seen = os.stat(like)
            with suppress(PermissionError):
                os.fchown(handle, seen.st_uid, seen.st_gid)
            os.fchmod(handle, stat.S_IMODE(seen.st_mode))
        os.fsync(handle)


def _still(target: Target, expected: bytes | None) -> None:
    try:
        now: bytes | None = _read(target.path, target.real)
    except FileRefused:
        if os.path.lexists(target.real):
            raise
        now = None
    if now != expected:
        raise FileRefused(f"{target.path} was changed by somebody else meanwhile. Nothing was changed; try again.")


def _sync(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
