"""A file that was named on the command line, opened as the log that it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.runtime.cli.fault import CommandFault

if TYPE_CHECKING:
    from interlock.runtime.sources.foreign.translation import Translation


def own_journal(file: Path) -> bool:
    """Whether the file is a journal of ours. Raises CommandFault where it cannot be read."""
    from interlock.runtime.journal.envelope import brief
    from interlock.runtime.journal.tail import read_line_at

    try:
        first = brief(read_line_at(file, 0))
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror}.") from None
    return first is not None and first.type == "session.started" and first.seq >= 0


@contextlib.contextmanager
def opened(file: Path, part: str | None = None) -> Iterator[Translation]:
    """The log of another agent. Raises CommandFault where no format claims it or it cannot be read."""
    from interlock.runtime.sources.foreign.reading import open_log
    from interlock.runtime.sources.foreign.registry import UnknownFormat

    try:
        log = open_log(file, part=part)
    except UnknownFormat as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
    try:
        yield log
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
    finally:
        log.close()
