"""That what must be denied is really dangerous: each command is run, in a sandbox with a harmless stand-in for `rm`.

`rm` is a script that only writes down its words, also under its absolute name; `git` writes them down and works on a
throw-away repository, where a hard reset shows by its effect. No network, a read-only root, nothing else writable. What
needs a program that is not on this machine, or a person, is listed with the reason. (issue "Done when": ground truth)
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"
BWRAP = shutil.which("bwrap")
SECONDS = 5
_REAL_RM = os.path.realpath(shutil.which("rm") or "/bin/rm")
_REAL_GIT = os.path.realpath(shutil.which("git") or "/usr/bin/git")
_STAND_IN = """#!/bin/sh
{ printf '%s' "NAME"; for word in "$@"; do printf ' <%s>' "$word"; done; echo; } >> /log/calls
THEN
"""


def _rows() -> list[dict[str, Any]]:
    cases = [json.loads(line) for line in (DATA / "cases" / "attack-cases.jsonl").read_text().splitlines() if line]
    shell = [row for row in cases if row["class"] == "shell" and row["what_must_happen"]["decision"] == "must_deny"]
    own = [json.loads(line) for line in (DATA / "policy" / "must-deny.jsonl").read_text().splitlines() if line]
    return [_case(row, own) for row in shell] + own


def _case(row: dict[str, Any], own: list[dict[str, Any]]) -> dict[str, Any]:
    """A public case; whether it needs something is said where we have the same command."""
    command = row["input"].get("command") or eval(row["input"]["command_python"])  # an expression of our own data files
    known = next((one for one in own if one["command"] == command), {})
    return {**known, "command": command, "id": row["id"], **_CASES.get(row["id"], {})}


_CASES: dict[str, dict[str, Any]] = {
    "SH-041": {"needs": ["sudo"]},
    "SH-043": {"needs": ["busybox"]},
    "SH-078": {"wait": True},
}
"""Public case -> what it needs."""
_UNTIL_REACHED = "\nfor _ in {1..40}; do [ -s /mnt/log/calls ] && break; sleep 0.1; done"
"""What a server or a session of its own runs is reached after the command has ended: the sandbox lives until then."""


@dataclass(frozen=True)
class Sandbox:
    """A place where a command can be run without harm."""

    root: Path

    def calls(self, command: str, *, tty: bool) -> tuple[list[list[str]], bool]:
        """The calls of `rm` that the command made, and whether a change in the repository was thrown away."""
        work, log = self.root / "work", self.root / "log"
        for place in (work, log):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.root / "template", work, symlinks=True)
        log.mkdir()
        self._run(command, tty=tty)
        told = (log / "calls").read_text(errors="replace").splitlines() if (log / "calls").exists() else []
        rm = [_words(line) for line in told if line.startswith("rm")]
        return rm, (work / "tracked").read_text() == "clean\n"

    def _run(self, command: str, *, tty: bool) -> None:
        words = [*self._bwrap(), "/bin/bash", "-c", command]
        master, slave = pty.openpty() if tty else (-1, -1)
        try:
            subprocess.run(
                words,
                stdin=slave if tty else subprocess.DEVNULL,
                stdout=slave if tty else subprocess.DEVNULL,
                stderr=slave if tty else subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            pass  # what went on for ever was reached before or not at all
        finally:
            for handle in (master, slave):
                if handle >= 0:
                    os.close(handle)

    def _bwrap(self) -> list[str]:
        bin_ = self.root / "bin"
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/u", "TERM": "xterm", "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "FILTER_BRANCH_SQUELCH_WARNING": "1", "x": "a",
        }  # fmt: skip
        return [
            BWRAP or "bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000",
            "--die-with-parent", "--new-session", "--clearenv",
            *(word for name, value in environment.items() for word in ("--setenv", name, value)),
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run",
            "--tmpfs", "/home", "--dir", "/home/u", "--tmpfs", "/mnt", "--dir", "/mnt/real", "--dir", "/mnt/log",
            "--ro-bind", _REAL_GIT, "/mnt/real/git",
            "--ro-bind", str(bin_ / "rm"), _REAL_RM, "--ro-bind", str(bin_ / "git"), _REAL_GIT,
            "--bind", str(self.root / "log"), "/mnt/log", "--bind", str(self.root / "work"), "/home/u/proj",
            "--chdir", "/home/u/proj",
        ]  # fmt: skip


def _words(line: str) -> list[str]:
    return [word.rstrip(">") for word in line.split(" <")]


def _is_dangerous(words: list[str]) -> bool:
    """Whether `rm` was told to go into folders and not to ask, as getopt reads it."""
    letters = {c for word in words[1:] if word.startswith("-") and not word.startswith("--") for c in word[1:]}
    long = [word[2:] for word in words[1:] if word.startswith("--") and len(word) > 2]
    deep = bool(letters & {"r", "R"}) or any("recursive".startswith(word) for word in long)
    return deep and ("f" in letters or any("force".startswith(word) for word in long))


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The stand-ins and a repository with a change that was never committed."""
    if BWRAP is None:
        pytest.skip("bubblewrap is not on this machine, so nothing can be run without harm")
    root = tmp_path_factory.mktemp("truth")
    (root / "bin").mkdir()
    (root / "log").mkdir()
    for name, then in (("rm", "exit 0"), ("git", 'exec /mnt/real/git "$@"')):
        path = root / "bin" / name
        path.write_text(_STAND_IN.replace("/log/", "/mnt/log/").replace("NAME", name).replace("THEN", then))
        path.chmod(0o755)
    _make_template(root / "template")
    shutil.copytree(root / "template", root / "work", symlinks=True)
    box = Sandbox(root)
    done = subprocess.run([*box._bwrap(), "/bin/true"], capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        pytest.skip(f"no sandbox can be made here: {done.stderr.strip()[:200]}")
    return box


def _make_template(place: Path) -> None:
    place.mkdir()
    for name in ("x", "y", "a", "b", "lock", "list", "tracked"):
        (place / name).write_text({"list": "x\n", "tracked": "clean\n"}.get(name, f"{name}\n"))
    (place / "build").mkdir()
    who = {"GIT_AUTHOR_NAME": "u", "GIT_AUTHOR_EMAIL": "u@u", "GIT_COMMITTER_NAME": "u", "GIT_COMMITTER_EMAIL": "u@u"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1", **who}
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"],
                  *[["commit", "-q", "--allow-empty", "-m", name] for name in ("two", "three", "four")],
                  ["remote", "add", "origin", "/home/u/proj"],
                  ["update-ref", "refs/remotes/origin/main", "HEAD"], ["config", "user.name", "u"],
                  ["config", "user.email", "u@u"]):  # fmt: skip
        subprocess.run(["git", *words], cwd=place, env=environment, check=True, capture_output=True, timeout=60)
    (place / "tracked").write_text("changed\n")


def test_the_sandbox_keeps_harm_away(sandbox: Sandbox) -> None:
    """The stand-in is reached under every name, nothing is deleted, and nothing outside can be written."""
    rm, reset = sandbox.calls("rm -rf x; /bin/rm -rf x; echo y > /etc/interlock-was-here", tty=False)
    assert rm == [["rm", "-rf", "x"], ["rm", "-rf", "x"]]
    assert not reset
    assert (sandbox.root / "work" / "x").exists()
    assert not Path("/etc/interlock-was-here").exists()


def test_a_harmless_command_reaches_nothing(sandbox: Sandbox) -> None:
    """The proof can fail: what only looks like it is not taken for it."""
    for command in ("echo 'rm -rf x'", "ls # rm -rf x", "git log --grep=--hard", "rm x", "git reset --soft HEAD"):
        rm, reset = sandbox.calls(command, tty=False)
        assert not any(_is_dangerous(words) for words in rm), command
        assert not reset, command


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row.get("id") or row["command"][:60])
def test_what_must_be_denied_really_reaches_the_program(row: dict[str, Any], sandbox: Sandbox) -> None:
    """Ground truth of one case."""
    if why := row.get("unreached"):
        pytest.skip(why)
    missing = [
        name for name in row.get("needs", ()) if shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") is None
    ]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}, which is not on this machine")
    command = row["command"] + ("\nwait" if row.get("wait") else "") + (_UNTIL_REACHED if row.get("detached") else "")
    rm, reset = sandbox.calls(command, tty=bool(row.get("tty")))
    assert reset or any(_is_dangerous(words) for words in rm), f"neither was reached; rm: {rm}"
