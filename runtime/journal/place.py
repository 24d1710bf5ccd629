"""Where things live on this machine.

Promises: one answer for every kind of thing, from the environment or the platform's own rules; a folder that another
user could write to is refused, not used.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


class PlaceError(Exception):
    """A folder cannot be used; the message says which, why, and what to do."""


def state_home() -> Path:
    """Folder of everything that is kept: `INTERLOCK_STATE_DIR`, or the user's state folder.

    Raises PlaceError when neither is known.
    """
    chosen = os.environ.get("INTERLOCK_STATE_DIR")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return _whole(platformdirs.user_state_path("interlock", appauthor=False), "INTERLOCK_STATE_DIR")


def config_home() -> Path:
    """Folder of the user's own settings: `INTERLOCK_CONFIG_DIR`, or the user's configuration folder.

    Raises PlaceError when neither is known.
    """
    chosen = os.environ.get("INTERLOCK_CONFIG_DIR")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return _whole(platformdirs.user_config_path("interlock", appauthor=False), "INTERLOCK_CONFIG_DIR")


def _whole(path: Path, variable: str) -> Path:
    # no usable HOME and no entry for the user give a path that would follow the working directory around
    if not path.is_absolute() or path.parts[:2] == ("/", ".local") or path.parts[:2] == ("/", ".config"):
        raise PlaceError(f"no home folder is known (HOME is {os.environ.get('HOME')!r}). Set HOME, or {variable}.")
    return path


def sessions_home() -> Path:
    """One folder a session stands in here."""
    return state_home() / "sessions"


def heads_home() -> Path:
    """The sealed heads: one small file a session, apart from the journals they vouch for."""
    return state_home() / "heads"


def session_folder(session: str) -> Path:
    """Folder of one session. Raises PlaceError for an id that is no plain name."""
    if not session or session in (".", "..") or "/" in session or "\0" in session:
        raise PlaceError(f"{session!r} is not a session id. 'interlock sessions' lists them.")
    return sessions_home() / session


def run_home() -> Path:
    """The private folder of sockets and discovery files, made 0700 if missing.

    Raises PlaceError when it belongs to another user, is a link, or others may write to it.
    """
    chosen = os.environ.get("INTERLOCK_RUN_DIR")
    if chosen:
        return private_folder(Path(chosen).absolute())
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and os.access(runtime, os.W_OK):
        return private_folder(Path(runtime) / "interlock")
    return private_folder(Path(tempfile.gettempdir()) / f"interlock-{os.getuid()}")


def private_folder(path: Path) -> Path:
    """Make or check a folder that only this user can enter.

    Raises PlaceError with what is wrong and what to do.
    """
    try:
        make_closed(path)
        seen = os.lstat(path)
    except OSError as error:
        raise PlaceError(
            f"cannot make the folder {path}: {error.strerror}. Set INTERLOCK_RUN_DIR to another."
        ) from None
    if not stat.S_ISDIR(seen.st_mode):
        raise PlaceError(f"{path} is not a folder (a link or a file stands there). Remove it or set INTERLOCK_RUN_DIR.")
    if seen.st_uid != os.getuid():
        raise PlaceError(
            f"{path} belongs to user {seen.st_uid}, not to you. Set INTERLOCK_RUN_DIR to a folder of yours."
        )
    if seen.st_mode & 0o077:
        raise PlaceError(f"{path} is open to others (mode {stat.S_IMODE(seen.st_mode):04o}). Run: chmod 700 {path}")
    return path


def kept_folder(path: Path) -> Path:
    """Make or check a folder for what is kept. Others may read an older one of it, never write to it.

    Raises PlaceError when others may write to it, and OSError when it cannot be made.
    """
    make_closed(path)
    mode = os.stat(path).st_mode
    if mode & 0o022:
        raise PlaceError(f"others may write to {path} (mode {stat.S_IMODE(mode):04o}). Run: chmod go-w {path}")
    return path


def make_closed(path: Path) -> None:
    """Make a folder and all that is missing above it, closed to others whatever the umask says. Raises OSError."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
