"""Names of variables: those that a command may set and still only read, and those that hold no secret. Pure."""

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


_PLAIN = names(
    "PATH HOME USER LOGNAME SHELL PWD OLDPWD TERM COLORTERM LANG LANGUAGE TZ HOSTNAME HOST HOSTTYPE OSTYPE MACHTYPE SHLVL "
    "UID EUID PPID COLUMNS LINES TMPDIR EDITOR VISUAL PAGER MANPATH DISPLAY VIRTUAL_ENV CONDA_DEFAULT_ENV CONDA_PREFIX "
    "GOPATH GOROOT JAVA_HOME NODE_ENV PYTHONPATH CARGO_HOME RUSTUP_HOME NVM_DIR XDG_CONFIG_HOME XDG_DATA_HOME "
    "XDG_CACHE_HOME XDG_RUNTIME_DIR XDG_STATE_HOME BASH_VERSION ZSH_VERSION RANDOM SECONDS EPOCHSECONDS LINENO CI"
)
"""Variables by which a shell and its programs tell who and where they are."""


def holds_no_secret(name: str) -> bool:
    """Whether a variable of that name is one of those that say who, where and how, and may be shown."""
    return name in _PLAIN or name.startswith("LC_")
