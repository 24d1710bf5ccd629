"""The state of a workspace as one digest, to tell whether files changed since a check.

Promises: equal when no file that is not ignored was added, removed or written; bounded: at most `MAX_FILES` files are
looked at, none is read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from itertools import islice

from interlock.runtime.tools.search.ignore import walk

MAX_FILES = 50_000


def fingerprint(roots: Iterable[str]) -> str:
    """SHA-256 in hex over path, size and modification time of the files."""
    digest = hashlib.sha256()
    for root in roots:
        for path in islice(walk(root), MAX_FILES):
            try:
                state = os.lstat(path)
            except OSError:
                continue
            digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
