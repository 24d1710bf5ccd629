"""Replace or create a file in one step.

Promises: readers see the old bytes or the new ones, never a part; mode (and owner, where allowed) are kept; a file
that is no longer the version expected is not replaced; a new file never replaces one that appeared meanwhile; nothing
is left behind on failure. The path is walked without following links.
Does not promise: to close the last microseconds between the check and the rename against a writer that takes no lock.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import suppress

from interlock.runtime.tools.baseline import MAX_WHOLE, Baseline, baseline_of
from interlock.runtime.tools.refusal import Refusal
from interlock.runtime.tools.workspace import Place, open_parent


def stale(place: Place) -> Refusal:
    """The refusal for a file that is not the version that was looked at."""
    return Refusal(
        "stale_file_baseline",
        f"{place.shown}: the file changed since it was looked at; nothing was written",
        field="path",
        next_step="Read it again, then make the change on what it holds now.",
    )


def write_atomic(place: Place, data: bytes, *, expected: Baseline | None) -> Baseline:
    """Write `data`. `expected` is the version to replace; None: there must be no such file.

    Raises Refusal `stale_file_baseline` when the file is another version (or exists), OSError when the disk refuses.
    """
    with open_parent(place, create=expected is None) as folder:
        name = place.parts[-1]
        temporary = f".{name[:80]}.{secrets.token_hex(6)}.tmp"
        try:
            _fill(folder, temporary, data, _mode_of(folder, name))
            _check(place, expected)
            if expected is None:
                _publish_new(place, folder, temporary, name)
            else:
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        with suppress(OSError):
            os.fsync(folder)
    digest = hashlib.sha256(data).hexdigest() if len(data) <= MAX_WHOLE else None
    return Baseline(len(data), state.st_mtime_ns, digest)


def _mode_of(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _fill(folder: int, temporary: str, data: bytes, like: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if like is not None:
            with suppress(PermissionError):
                os.fchown(handle, like.st_uid, like.st_gid)
            os.fchmod(handle, stat.S_IMODE(like.st_mode))
        os.fsync(handle)


def _check(place: Place, expected: Baseline | None) -> None:
    if expected is None:
        return
    now = baseline_of(place)
    if now is None or not now.same_content(expected):
        raise stale(place)


def _publish_new(place: Place, folder: int, temporary: str, name: str) -> None:
    try:
        # a link, unlike a rename, fails when the name is taken
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise stale(place) from None
    except OSError:
        # file systems without hard links: exclusive create is the next best
        handle = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        with os.fdopen(handle, "rb") as file:
            _copy_new(place, folder, name, file.read())


def _copy_new(place: Place, folder: int, name: str, data: bytes) -> None:
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
    except FileExistsError:
        raise stale(place) from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
