"""File name patterns: one matcher for every tool, so that results do not depend on what lists the files.

Promises: `*` and `?` stay within a folder, `**` crosses folders, `{a,b}` and `[abc]` work; a pattern without a slash
matches the name in any folder; hidden names match like others.
"""

from __future__ import annotations

from collections.abc import Callable

from wcmatch import glob

from interlock.runtime.tools.refusal import precondition

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test of relative paths. Raises Refusal when the pattern is none."""
    whole = pattern.removeprefix("./")
    if "/" not in whole:
        whole = f"**/{whole}"
    try:
        compiled = glob.compile(whole, flags=_FLAGS)
    except Exception as error:
        raise precondition(f"the pattern {pattern!r} cannot be used: {error}", field="pattern") from None
    return lambda path: bool(compiled.match(path))
