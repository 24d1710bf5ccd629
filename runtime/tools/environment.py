"""What a process that the agent starts gets to see of our environment, and what must never leave it.

Promises: an allow-list, so a secret in a variable that nobody thought of is not passed on; values of secret-looking
variables are known, so that they can be taken out of what a model is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALLOWED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "NVM_DIR"}
    | {"JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
"""Names that are passed on; `LC_*` too."""

FIXED = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Set for every process: there is no terminal, so nothing may page, colour or prompt."""

CALL_MARK = "INTERLOCK_CALL"
"""Variable that marks every process of one call, so that the whole tree can be found and stopped."""

_SECRET = re.compile(r"(?i)token|secret|passw|credential|api_?key|private_?key|access_?key|auth")
MIN_SECRET = 8
"""Values shorter than this are not masked: they would hit ordinary words."""


def environment_for(host: Mapping[str, str], *, mark: str) -> dict[str, str]:
    """The environment of one process of the call `mark`."""
    kept = {name: value for name, value in host.items() if name in ALLOWED or name.startswith("LC_")}
    kept.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    return kept | FIXED | {CALL_MARK: mark}


def secrets_of(host: Mapping[str, str]) -> dict[str, str]:
    """Secret value -> name of the variable that holds it."""
    return {
        value: name
        for name, value in host.items()
        if _SECRET.search(name) and len(value) >= MIN_SECRET and name not in ALLOWED
    }


def masked(text: str, secrets: Mapping[str, str]) -> str:
    """The text with every known secret value replaced by the name of its variable."""
    for value, name in secrets.items():
        if value in text:
            text = text.replace(value, f"[value of {name}]")
    return text
