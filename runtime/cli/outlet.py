"""Where a command prints, when that place goes away.

Promises: without a standard output nothing is begun; output that could not be written is told with exit code 1, unless
its reader went away on purpose (`| head`); the interpreter has nothing to complain about at its end.
"""

from __future__ import annotations

import errno
import io
import os
import sys

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a file behind the standard output may answer; an error of another file carries its name."""


def usable() -> bool:
    """Whether there is a standard output. The other two streams are filled up with nothing where they are closed."""
    # a closed number would be given to the next file that is opened: a journal, and what children print would go into it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # half a character must not end a command
    closed = [number for number in (0, 1, 2) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)
    if 1 in closed:
        _say("the standard output is closed, so there is nowhere to print to. Nothing was done.")
        return False
    return True


def closing(code: int) -> int:
    """Write out what is left, and give the exit code of the process."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        abandon()
    except OSError as error:
        told = unwritten(error)
        return code or told
    return code


def unwritten(error: OSError) -> int:
    """Tell that the output could not be written, and give the exit code."""
    abandon()
    _say(f"cannot write the output: {error.strerror}. What was done is on record all the same.")
    return 1


def abandon() -> None:
    """Let what is printed from now on go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def reader_has_left() -> bool:
    """Whether the library of the command line has met a reader that went away: it ends the process with 1 then."""
    if type(sys.stdout).__name__ != "PacifyFlushWrapper":
        return False
    sys.stdout = sys.__stdout__
    abandon()
    return True


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _say(text: str) -> None:
    # the standard library's own way to suppress costs milliseconds of import at every start, `--version` included
    try:
        os.write(2, f"interlock: {text}\n".encode())
    except OSError:
        pass
