"""Names of variables that a command may set and still only read. Pure."""

from __future__ import annotations

import re

from interlock.runtime.policy.programs.option import names

_SETTABLE = re.compile(r"[A-Za-z]|[a-z][A-Za-z0-9_]*")
_MEANT_BY_A_SHELL = names("path cdpath fpath manpath module_path mailpath fignore psvar status prompt argv history")
"""Lower-case variables by which zsh or csh find programs or files."""


def may_be_set(name: str) -> bool:
    """Whether a shell and the programs under it take no meaning from a variable of that name."""
    if name in _MEANT_BY_A_SHELL or name.endswith("_proxy") or name.startswith(("npm_", "git_")):
        return False
    return bool(_SETTABLE.fullmatch(name))
