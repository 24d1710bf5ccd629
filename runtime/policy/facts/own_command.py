"""Commands with which an agent would answer its own questions or change what binds it.

Promises: finds `interlock answer`, `policy trust`, `policy revoke`, `connect`, `disconnect` and the screen, also behind
a runner of Python programs; what only reads (`interlock sessions`, `policy check`) is left to the rules. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.shell.model import SimpleCommand

_RUNNERS = names(
    "uv uvx pipx pdm poetry hatch rye python python3 pypy pypy3 py tox nox nix mise asdf npx script expect unbuffer "
    "dotenv direnv flatpak docker podman conda micromamba pixi"
)
_ACTS = {
    "answer": "it would answer a question in your place",
    "connect": "it would change which agents Interlock watches over",
    "disconnect": "it would take Interlock's gate away",
    "screen": "it would open the screen on which you answer",
}
_POLICY_ACTS = {
    "trust": "it would trust rules in your place",
    "revoke": "it would change which permissions stand",
}
_POLICY_TELLS = names("check explain test list grants")
_VALUED = ("-s", "--session")


def own_command(simple: SimpleCommand) -> str:
    """Why this command is out of an agent's reach, "" when it is not."""
    for at in _places(simple):
        words = _operands(simple.argv[at + 1 :])
        if not words:
            continue
        if words[0] in _ACTS:
            return _ACTS[words[0]]
        if words[0] == "policy":
            verb = next((word for word in words[1:] if word in _POLICY_ACTS or word in _POLICY_TELLS), "")
            return _POLICY_ACTS.get(verb, "")
    return ""


def _places(simple: SimpleCommand) -> list[int]:
    """Where in the words our program stands."""
    name = simple.program.rpartition("/")[2].lower()
    if _is_ours(name):
        return [0]
    if name not in _RUNNERS and not name.startswith("python"):
        return []
    return [i for i, word in enumerate(simple.argv) if i and _is_ours(word.rpartition("/")[2].lower())]


def _is_ours(name: str) -> bool:
    name = name.partition("@")[0].partition("==")[0]
    return name in ("interlock", "interlock.exe") or name.startswith(("interlock.runtime", "interlock[", "-minterlock"))


def _operands(args: Sequence[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in args:
        if skip or word.startswith("-"):
            skip = word in _VALUED and not skip
            continue
        found.append(word.lower())
    return found
