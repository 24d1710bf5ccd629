"""How a command says that it cannot go on."""

from __future__ import annotations


class CommandFault(Exception):
    """A clear end of a command: the message says what, where and what to do; `exit_code` ends the process."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def known_faults() -> tuple[type[Exception], ...]:
    """The faults of the rooms below whose message says what, where and what to do. Imported only when one is met."""
    from interlock.runtime.agents.approver import ApproverFault
    from interlock.runtime.agents.project import ProjectFault
    from interlock.runtime.asks.endpoint import EndpointError
    from interlock.runtime.engine.manifest import ManifestError
    from interlock.runtime.journal.place import PlaceError
    from interlock.runtime.journal.writer import JournalLocked, JournalWriteError

    return (ApproverFault, ProjectFault, EndpointError, ManifestError, PlaceError, JournalLocked, JournalWriteError)
