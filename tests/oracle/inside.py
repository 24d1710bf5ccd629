"""Runs inside the sandbox: hands commands to a traced shell, one after the other, and puts the files back after each.

Promises: needs nothing but the standard library; what a command left running is gone before the next one starts; a
command that takes longer than its time is ended. The shell marks beginning and end of each in the trace by a `chdir` to
a folder that is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import time

DRIVER = r"""
echo ready
while IFS= read -r -d '' n && IFS= read -r -d '' c; do
  cd "/oracle-begin/$n" 2>/dev/null
  ( cd "$ORACLE_START" && unset ORACLE_START n && eval "unset c
$c" ) </dev/null >/dev/null 2>&1
  cd "/oracle-end/$n" 2>/dev/null
  echo done
done
"""


class Tree:
    """The files as they were, and how to get there again."""

    def __init__(self, template: str, root: str) -> None:
        self.root = root
        self.wanted: dict[str, tuple[int, int, int, bytes | str | None]] = {}
        """Name -> mode, time, size, content or target."""
        self.same: dict[str, str] = {}
        """A second name of a file -> the first."""
        known: dict[int, str] = {}
        names = [os.path.join(at, name) for at, folders, files in os.walk(template) for name in (*folders, *files)]
        for path in sorted(names):
            self._note(path, os.path.relpath(path, template), known)

    def _note(self, path: str, name: str, known: dict[int, str]) -> None:
        seen = os.lstat(path)
        if stat.S_ISLNK(seen.st_mode):
            self.wanted[name] = (seen.st_mode, 0, 0, os.readlink(path))
        elif stat.S_ISDIR(seen.st_mode):
            self.wanted[name] = (seen.st_mode, 0, 0, None)
        else:
            with open(path, "rb") as file:
                self.wanted[name] = (seen.st_mode, seen.st_mtime_ns, seen.st_size, file.read())
            if seen.st_nlink > 1:
                first = known.setdefault(seen.st_ino, name)
                if first != name:
                    self.same[name] = first

    def restore(self) -> None:
        """Make everything below the root as it was."""
        with contextlib.suppress(OSError):
            os.chmod(self.root, 0o755)
        found = self._scan()
        for name in sorted(found, reverse=True):
            if name not in self.wanted or not self._is_as_wanted(name, found[name]):
                self._remove(os.path.join(self.root, name))
                del found[name]
        broken = {n for pair in self.same.items() for n in pair if pair[0] not in found or pair[1] not in found}
        for name in sorted(self.wanted):
            if name not in found or name in broken:
                self._make(name)

    def _scan(self) -> dict[str, os.stat_result]:
        found: dict[str, os.stat_result] = {}
        todo = [""]
        while todo:
            folder = todo.pop()
            place = os.path.join(self.root, folder)
            if os.lstat(place).st_mode & 0o700 != 0o700:
                os.chmod(place, 0o755)
            entries = list(os.scandir(place))
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                found[name] = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    todo.append(name)
        return found

    def _is_as_wanted(self, name: str, seen: os.stat_result) -> bool:
        mode, changed, size, content = self.wanted[name]
        if stat.S_ISLNK(mode):
            return stat.S_ISLNK(seen.st_mode) and os.readlink(os.path.join(self.root, name)) == content
        if stat.S_ISDIR(mode):
            if stat.S_ISDIR(seen.st_mode) and seen.st_mode != mode:
                os.chmod(os.path.join(self.root, name), stat.S_IMODE(mode))
            return stat.S_ISDIR(seen.st_mode)
        return (seen.st_mode, seen.st_mtime_ns, seen.st_size) == (mode, changed, size)

    def _remove(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)

    def _make(self, name: str) -> None:
        path = os.path.join(self.root, name)
        mode, changed, _, content = self.wanted[name]
        self._remove(path)
        if name in self.same:
            os.link(os.path.join(self.root, self.same[name]), path)
        elif content is None:
            os.mkdir(path, stat.S_IMODE(mode))
        elif isinstance(content, str):
            os.symlink(content, path)
        else:
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, stat.S_IMODE(mode))
            os.utime(path, ns=(changed, changed))


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _end_strays(known: set[int]) -> None:
    until = time.monotonic() + 5
    while (strays := _pids() - known) and time.monotonic() < until:
        for pid in strays:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _is_said(driver: subprocess.Popen[bytes], seconds: float) -> bool:
    assert driver.stdout is not None
    if not select.select([driver.stdout], [], [], seconds)[0]:
        return False
    if not driver.stdout.readline():
        raise SystemExit(f"the traced shell ended ({driver.wait()})")
    return True


def main() -> None:
    """Arguments: one JSON text with root, template, commands, strace, seconds and env."""
    job = json.loads(sys.argv[1])
    with open(job["commands"]) as file:
        commands: list[str] = json.load(file)
    tree = Tree(job["template"], job["root"])
    tree.restore()
    start = job["root"] + "/ws"
    argv = [*job["strace"], "bash", "--norc", "--noprofile", "-c", DRIVER]
    environment = {**job["env"], "ORACLE_START": start}
    servers = [subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for words in job["servers"]]  # fmt: skip
    driver = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=start, bufsize=0
    )
    assert driver.stdin is not None
    if not _is_said(driver, 30):
        raise SystemExit("the traced shell did not start")
    known = _pids()
    late: list[str] = []
    for at, command in enumerate(commands):
        driver.stdin.write(f"{at}\0{command}\0".encode())
        if not _is_said(driver, job["seconds"]):
            late.append(command)
            _end_strays(known)
            if not _is_said(driver, 30):
                raise SystemExit(f"command {at} could not be ended: {command}")
        _end_strays(known)
        tree.restore()
    driver.stdin.close()
    driver.wait()
    print(json.dumps(late))
    for server in servers:
        server.kill()


if __name__ == "__main__":
    main()
