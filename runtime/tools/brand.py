"""A sign on the agent's processes that they and all that descend from them carry for good, whatever they do.

Promises (Linux): a branded process has a lower hard limit of file locks than its host. The kernel hands that limit on at every
fork and exec, no program can raise it again without the right to (CAP_SYS_RESOURCE), and nothing depends on it: the kernel
has not enforced it since 2.4. So a child is known that left its parent, session, group and environment, also
after its host was killed. A process that adopts orphans keeps every descendant below itself besides.
Does not promise: anything on other systems; to know what somebody else (a timer, a service manager, the server of a
terminal multiplexer) was talked into starting.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

from interlock.runtime.tools import tree

_LOCKS = 10
"""RLIMIT_LOCKS of <sys/resource.h>; the module `resource` has no name for it."""
_UNLIMITED = (1 << 64) - 1
_HIGHEST = 1 << 40
"""The brand where this process itself has no limit."""
_PR_SET_CHILD_SUBREAPER = 36
_awaited: set[int] = set()
"""Branded processes that somebody of ours waits for."""
_adopting = False


def limit(pid: int) -> int | None:
    """The hard limit of file locks of a process (0: this one). None: it cannot be seen, or there is no such thing here."""
    if not sys.platform.startswith("linux"):
        return None
    import resource

    try:
        hard = resource.prlimit(pid, _LOCKS)[1]
    except (OSError, ValueError):
        return None
    return hard & _UNLIMITED


def is_branded(pid: int) -> bool | None:
    """Whether the process, or one that it descends from, was branded. None: it cannot be told."""
    own, its = limit(0), limit(pid)
    if own is None:
        return False  # this system knows no such limit
    return None if its is None else its < own


def began(pid: int) -> None:
    """Brand a process that was started for the agent."""
    _awaited.add(pid)
    brand(pid)


def ended(pid: int) -> None:
    """That process was waited for."""
    _awaited.discard(pid)
    _reap()


def brand(pid: int) -> None:
    """Brand one process; what it starts from now on carries the brand too."""
    own, its = limit(0), limit(pid)
    if own is None or its is None or its < own or own == 0 or pid in (0, os.getpid()):
        return
    import resource

    value = min(own - 1, _HIGHEST)
    with suppress(OSError, ValueError):  # it has ended
        resource.prlimit(pid, _LOCKS, (value, value))


def brand_tree(pid: int) -> None:
    """Brand a process that runs already, and all below it. This process and those above it are never branded."""
    if pid in lineage_of(os.getpid()):
        return
    brand(pid)
    seen: set[int] = {pid}
    # a child that was started before its parent was branded is found in the next look; later ones inherit
    while found := {child for child, parent in tree.parents().items() if parent in seen and child not in seen}:
        for child in found:
            brand(child)
        seen |= found


def lineage_of(pid: int) -> set[int]:
    """The process and all above it."""
    parents, found = tree.parents(), set[int]()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = parents.get(pid, 0)
    return found


def adopt_orphans() -> bool:
    """Let what loses its parent below this process become its child. For a process that starts nothing but agents'
    programs: from now on `adopts` says that all below it is the agent's. False: this system cannot."""
    global _adopting
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            _adopting = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    return _adopting


def adopts() -> bool:
    """Whether everything below this process belongs to an agent."""
    return _adopting


def _reap() -> None:
    """Wait for orphans that were adopted and have ended, so that none stays as a zombie."""
    if not _adopting:
        return
    for pid in tree.zombies_of(os.getpid()):
        # what carries no brand, and what a thread of ours waits for, is somebody else's to wait for
        if pid not in _awaited and is_branded(pid):
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
