"""The command in a shell tool's input. Pure, and read by the screen: imports nothing of the policy."""

from __future__ import annotations

from collections.abc import Mapping


def command_of(arguments: Mapping[str, object]) -> str | None:
    """The command text of a shell tool's input; a list of words is quoted as a shell would need it."""
    found = arguments.get("command", arguments.get("cmd"))
    if isinstance(found, str):
        return found
    if isinstance(found, list | tuple) and found and all(isinstance(word, str) for word in found):
        import shlex  # only where a list is given: whoever draws an ask reads this module before its first picture

        return shlex.join([str(word) for word in found])
    return None
