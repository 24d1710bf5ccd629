"""How a command says that it cannot go on."""

from __future__ import annotations


class CommandFault(Exception):
    """A clear end of a command: the message says what, where and what to do; `exit_code` ends the process."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
