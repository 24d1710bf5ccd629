"""The real machine, as far as a policy decision looks at it.

Promises: links are followed as the kernel follows them; a look never opens a file, so a FIFO or a device cannot hold it
up; a fault is told in the result, never raised.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from interlock.runtime.policy.call import Kind, Resolved


class PosixWorld:
    """This machine."""

    case_insensitive = sys.platform == "darwin"

    def resolve(self, path: str) -> Resolved:
        """Where an absolute path leads."""
        try:
            real = os.path.realpath(path, strict=False)
            # realpath gives a looping link back unresolved; only a strict look tells
            seen = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return Resolved(os.path.realpath(path), False, "missing")
        except (OSError, ValueError) as error:
            code = getattr(error, "errno", None)
            why = "too many links" if code == errno.ELOOP else str(getattr(error, "strerror", None) or error)
            return Resolved(os.path.normpath(path), False, "link" if code == errno.ELOOP else "other", error=why)
        return Resolved(real, True, _kind(seen.st_mode), seen.st_nlink)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
