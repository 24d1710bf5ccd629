"""The folder of a session that was named on the command line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from interlock.runtime.cli.fault import CommandFault

_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def session_folder(name: str) -> Path:
    """The folder of the session with this id, or whose id begins so. Raises CommandFault."""
    from interlock.runtime.journal.place import sessions_home
    from interlock.runtime.library.catalog import SessionNotFound, find

    home = sessions_home()
    try:
        return find(name, home).parent
    except SessionNotFound as error:
        raise CommandFault(_broken(home, name) or str(error)) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandFault(f"cannot look for sessions in {home}: {why}.") from None


def _broken(home: Path, name: str) -> str | None:
    """Why the journal of a folder that is there cannot be read; None when there is no such folder."""
    if not name or "/" in name or name in (".", "..") or not (home / name).is_dir():
        return None
    path = home / name / "events.jsonl"
    advice = "Put it back from a copy, or remove the folder if the session is not needed."
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return f"session {name} has no journal: {path}: {error.strerror}. {advice}"
    what = next((text for is_kind, text in _KINDS if is_kind(mode)), "no plain file")
    return f"the journal of session {name} cannot be read: {path} is {what}. {advice}"
