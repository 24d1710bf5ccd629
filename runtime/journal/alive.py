"""Whether a process is there, as the kernel says of its number."""

from __future__ import annotations

import os


def is_running(pid: int) -> bool:
    """Whether some process has this number now. One that may not be asked about is there all the same; a zombie is, too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
