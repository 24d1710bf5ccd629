"""Runs commands where they can do no harm, and gives back what the kernel saw of each.

Promises: the root is read-only, /tmp is private, the fixture is a copy, the network is loopback alone; one sandbox and
one `strace` for a whole batch of commands.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.oracle.trace import Touch, read_trace

_CALLS = (
    "open openat openat2 creat unlink unlinkat rename renameat renameat2 rmdir mkdir mkdirat link linkat symlink symlinkat "
    "truncate chmod fchmod fchmodat chown lchown fchown fchownat utime utimes utimensat futimesat setxattr lsetxattr "
    "fsetxattr removexattr lremovexattr mknod mknodat execve execveat connect sendto bind chdir fchdir clone clone3 fork vfork "
    "getdents64"
)
HOSTS = {"alpha.test": "127.0.0.2", "beta.test": "127.0.0.3", "localhost": "127.0.0.1"}
"""What names mean in the sandbox; nothing else can be looked up."""
PORT = 8080
_SECONDS = 2.0
"""What one command may take."""
_BASE = "/tmp/.oracle"
_PYTHON = os.path.realpath(sys.executable)
"""The interpreter itself and not the link in an environment, which may lie below the /tmp that the sandbox hides."""


@cache
def why_not() -> str:
    """Why commands cannot be run and traced here; empty where they can."""
    for program in ("bwrap", "strace", "bash"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    tried = subprocess.run(
        [
            *walls(),
            "strace",
            "-f",
            "--seccomp-bpf",
            "-o",
            "/dev/null",
            "-e",
            "trace=openat",
            _PYTHON,
            "-I",
            "-S",
            "-c",
            "",
        ],
        capture_output=True,
        text=True,
    )
    return "" if tried.returncode == 0 else f"no sandbox with strace here: {tried.stderr.strip()[-300:]}"


def run_traced(commands: Sequence[str], root: Path, scratch: Path) -> list[tuple[Touch, ...]]:
    """What each command touched. `root`: the fixture, which stays as it is; `scratch`: an empty folder for the trace."""
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "commands.json").write_text(json.dumps(list(commands)))
    hosts = scratch / "hosts"
    hosts.write_text("".join(f"{address} {name}\n" for name, address in HOSTS.items()))
    trace = scratch / "trace"
    job = {
        "root": str(root),
        "template": f"{_BASE}/template",
        "commands": f"{_BASE}/out/commands.json",
        "strace": ["strace", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "4096", "-e", "signal=none",
                   "-e", f"trace={','.join(_CALLS.split())}", "-o", f"{_BASE}/out/trace"],
        "seconds": _SECONDS,
        "servers": [["-m", "http.server", "--directory", f"{_BASE}/template/ws", str(PORT)]],
        "env": environment(root),
    }  # fmt: skip
    inside = Path(__file__).with_name("inside.py")
    closed = walls(
        "--ro-bind", str(root), f"{_BASE}/template", "--bind", str(scratch), f"{_BASE}/out",
        "--ro-bind", str(inside), f"{_BASE}/inside.py", "--ro-bind", str(hosts), "/etc/hosts", "--tmpfs", str(root),
    )  # fmt: skip
    done = subprocess.run(
        [*closed, _PYTHON, "-I", "-S", f"{_BASE}/inside.py", json.dumps(job)], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"the sandbox ended with {done.returncode}: {done.stderr[-2000:]}")
    if os.environ.get("INTERLOCK_ORACLE_LATE"):
        print("\n".join(f"late: {text}" for text in json.loads(done.stdout)))
    with trace.open(errors="surrogateescape") as lines:
        touched = read_trace(lines, len(commands), str(root))
    trace.unlink()
    return touched


def environment(root: Path) -> dict[str, str]:
    """The variables that a command runs with."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "LC_ALL": "C",
        "TERM": "dumb",
        "LOGNAME": "u",
        "USER": "u",
    }


def walls(*more: str) -> list[str]:
    """The beginning of a command that runs another one where it can do no harm."""
    return [
        "bwrap", "--unshare-all", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *more,
    ]  # fmt: skip
