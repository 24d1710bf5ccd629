"""A redirect as a fact: where it leads, and whether it may change what is there. Pure."""

from __future__ import annotations

import re

from interlock.runtime.policy.shell.expand import Scope, expand, value_of
from interlock.runtime.policy.shell.model import WRITING_OPERATORS, Redirect
from interlock.runtime.policy.syntax.syntax import Redir

_DESCRIPTOR = re.compile(r"\d+-?|-")


def redirect_of(redir: Redir, scope: Scope) -> Redirect:
    """The fact. Raises CapReachedError for a word that expands to too much."""
    operator = redir.operator
    if operator in ("<<", "<<<"):
        return Redirect(operator, value_of(redir.word, scope), redir.fd, False)
    fields = expand(redir.word, scope)
    known = len(fields) == 1 and fields[0].known and not fields[0].glob
    target = fields[0].value if known else None
    copies = operator in (">&", "<&") and target is not None and bool(_DESCRIPTOR.fullmatch(target))
    writes = operator in WRITING_OPERATORS and not copies
    return Redirect(operator, target, redir.fd, writes)
