"""Find a session by what a person typed, for the commands that take one."""

from __future__ import annotations

from pathlib import Path

from interlock.runtime.cli.fault import CommandFault


def session_folder(name: str) -> Path:
    """The folder of the session with this id, or whose id begins so. Raises CommandFault."""
    from interlock.runtime.journal.place import sessions_home
    from interlock.runtime.library.catalog import SessionNotFound, find

    try:
        return find(name, sessions_home()).parent
    except SessionNotFound as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot look for sessions in {sessions_home()}: {error.strerror}.") from None
