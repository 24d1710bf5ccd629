"""Ways in which an agent would answer for a person, each from inside a command that was allowed: all are refused (ASK-9).

Real parts: `interlock call` twice, as two sessions; the answering program knows nothing but the standard library and the run
folder. Where a program is missing on this machine the test says so.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is tried here is told from /proc"),
]
BIN = Path(sys.executable).parent / "interlock"
PATIENCE_S = 60.0

ANSWERING = r"""
import glob, json, os, socket, sys, time
first = sys.argv[1:]
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "out")
run = open(out + ".run").read()
for pid in first:  # wait until this process has ended
    while os.path.exists("/proc/" + pid) and open("/proc/" + pid + "/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.02)
told = []
def ask(path, method, **params):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(path)
    try: s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    except BrokenPipeError: pass  # refused at once; the reason can still be read
    line = s.makefile("rb").readline()
    s.close()
    return json.loads(line)
for name in glob.glob(os.path.join(run, "host-*.json")):
    path = json.load(open(name))["socket"]
    try: listed = ask(path, "asks.list")
    except OSError: continue  # its host was killed
    if "error" in listed: told.append(listed["error"]["data"]["name"]); continue
    for one in listed["result"]["asks"]:
        reply = ask(path, "asks.answer", askId=one["askId"], inputDigest=one["inputDigest"], answer="allow")
        told.append(reply["error"]["data"]["name"] if "error" in reply else "ANSWERED")
with open(out + ".new", "w") as file: json.dump({"told": told, "pid": os.getpid(), "ppid": os.getppid()}, file)
os.rename(out + ".new", out)
"""
UNTIL_TOLD = "for i in $(seq 300); do [ -e out ] && break; sleep 0.1; done"
"""What the command does until the answering program has written what it was told."""
DOUBLE_FORK = r"""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3): os.close(number)
        os.execve(sys.argv[1], sys.argv[1:], {})
    os._exit(0)
os.wait()
"""
RE_EXEC = r"""
import os, sys
left = int(sys.argv[1])
again = [sys.executable, __file__, str(left - 1), *sys.argv[2:]]
os.execve(again[0], again, {}) if left else os.execve(sys.argv[2], sys.argv[2:], {})
"""


@dataclass
class Stage:
    """A session that waits for a person, and another whose command does what a test says."""

    home: Path
    environment: dict[str, str]
    waiting: subprocess.Popen[str] | None = None
    others: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def answering(self) -> str:
        """The shell words that answer everything, with an empty environment."""
        return self.script("answering.py", ANSWERING)

    def script(self, name: str, text: str) -> str:
        (self.work / name).write_text(text)
        return shlex.join([sys.executable, "-I", str(self.work / name)])

    def start(self, command: str, *options: str) -> subprocess.Popen[str]:
        call = [str(BIN), "call", "bash", json.dumps({"command": command}), "-w", str(self.work), "--json", *options]
        made = subprocess.Popen(
            call, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.home
        )
        self.others.append(made)
        return made

    def wait_for_ask(self) -> dict[str, Any]:
        return until(lambda: next(iter(self.asks()), None), "an ask")

    def asks(self) -> list[dict[str, Any]]:
        done = self.interlock("asks", "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def interlock(self, *words: str) -> subprocess.CompletedProcess[str]:
        """As a person runs it, from a shell."""
        return subprocess.run(
            [str(BIN), *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )

    def agent_runs(self, command: str) -> dict[str, Any]:
        """What the answering program was told, when another session's agent ran the command."""
        done = self.start(command, "--answer", "allow")
        out, err = done.communicate(timeout=PATIENCE_S)
        assert '"code":"policy_denied"' not in out.replace(" ", ""), f"it did not even run: {out}{err}"
        return self.told(f"{out}{err}")

    def told(self, why: str = "") -> dict[str, Any]:
        place = self.work / "out"
        until(place.exists, f"the answering program's end\n{why}")
        return json.loads(place.read_text())

    def is_refused(self, told: dict[str, Any]) -> None:
        """The program found the ask's host and was refused; the ask is open as before, and a person can answer it."""
        assert told["told"], "it found no host, so nothing was tried"
        assert set(told["told"]) == {"not_allowed"}, told
        (ask,) = self.asks()
        assert not (self.work / "ran").exists()
        done = self.interlock("answer", ask["askId"], "allow")
        assert done.returncode == 0, done.stderr
        assert self.waiting is not None
        self.waiting.communicate(timeout=PATIENCE_S)
        assert (self.work / "ran").exists(), "the person's answer ran it"


def until(look: Callable[[], Any], what: str) -> Any:
    """What the look gives, as soon as it gives anything."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)  # another process gives no sign: it can only be looked at again
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    home = tmp_path / "person"
    (home / "work").mkdir(parents=True)
    (home / "run").mkdir(mode=0o700)
    # not as a word of the command: what names our own folders is denied before it runs
    (home / "work" / "out.run").write_text(str(home / "run"))
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMPDIR": str(home)}
    for name in ("STATE", "RUN", "CONFIG"):
        environment[f"INTERLOCK_{name}_DIR"] = str(home / name.lower())
    made = Stage(home, environment)
    made.waiting = made.start("touch ran")
    made.wait_for_ask()
    yield made
    for process in made.others:
        process.kill()
        process.communicate()


def test_the_agent_of_another_session(stage: Stage) -> None:
    """FT-020."""
    stage.is_refused(stage.agent_runs(stage.answering))


def test_with_an_empty_environment(stage: Stage) -> None:
    stage.is_refused(stage.agent_runs(f"env -i {stage.answering}"))


def test_in_a_session_of_its_own(stage: Stage) -> None:
    stage.is_refused(stage.agent_runs(f"setsid -w env -i {stage.answering}"))


def test_after_a_double_fork(stage: Stage) -> None:
    double = stage.script("double.py", DOUBLE_FORK)
    told = stage.agent_runs(f"env -i {double} {stage.answering}; {UNTIL_TOLD}")
    stage.is_refused(told)


def test_after_many_execs(stage: Stage) -> None:
    again = stage.script("again.py", RE_EXEC)
    stage.is_refused(stage.agent_runs(f"env -i {again} 20 {stage.answering}"))


def test_under_nohup_in_the_background(stage: Stage) -> None:
    line = f"(env -i nohup setsid {stage.answering} >/dev/null 2>&1 </dev/null &)"
    stage.is_refused(stage.agent_runs(f"{line}; {UNTIL_TOLD}"))


def test_in_a_terminal_of_its_own(stage: Stage) -> None:
    if shutil.which("script") is None:
        pytest.skip("there is no script(1) here")
    inner = shlex.quote(f"env -i {stage.answering}")
    stage.is_refused(stage.agent_runs(f"env -i setsid -w script -qec {inner} /dev/null"))


def test_by_a_timer(stage: Stage) -> None:
    if shutil.which("at") is None or not _runs("atd"):
        pytest.skip("there is no at(1) here, or its service does not run")
    stage.is_refused(stage.agent_runs(f"echo {shlex.quote(stage.answering)} | at now; {UNTIL_TOLD}"))


def test_by_the_service_manager(stage: Stage) -> None:
    if subprocess.run(["systemd-run", "--user", "--wait", "true"], capture_output=True, check=False).returncode:
        pytest.skip("there is no service manager of this user here")
    stage.is_refused(stage.agent_runs(f"systemd-run --user --wait {stage.answering}"))


def test_in_a_multiplexer_that_the_agent_starts(stage: Stage) -> None:
    tmux = _tmux()
    inner = shlex.quote(f"env -i {stage.answering}")
    name = f"agents-{uuid.uuid4().hex[:8]}"
    try:
        line = f"env -i TMUX_TMPDIR=/tmp {tmux} -L {name} -f /dev/null new-session -d {inner}; {UNTIL_TOLD}"
        stage.is_refused(stage.agent_runs(line))
    finally:
        _end_tmux(stage, name)


@pytest.mark.parametrize("way", ["new-window -d", "run-shell -b", "send-keys"])
def test_in_the_multiplexer_of_the_person(stage: Stage, way: str) -> None:
    """A window of its own, a command without one, and keys typed into the person's own shell."""
    tmux, name = _tmux(), f"persons-{uuid.uuid4().hex[:8]}"
    whole = {**stage.environment, "TMUX_TMPDIR": "/tmp", "TERM": "xterm"}
    subprocess.run([tmux, "-L", name, "-f", "/dev/null", "new-session", "-d", "sh"], env=whole, check=True)
    try:
        inner = shlex.quote(f"env -i {stage.answering}") + (" Enter" if way == "send-keys" else "")
        line = f"env -i TMUX_TMPDIR=/tmp {tmux} -L {name} {way} {inner}; {UNTIL_TOLD}"
        stage.is_refused(stage.agent_runs(line))
    finally:
        _end_tmux(stage, name)


def test_by_a_detached_child_of_a_dead_parent(stage: Stage) -> None:
    """The command has ended, and its host was killed: nothing is left that knew this child."""
    double = stage.script("double.py", DOUBLE_FORK)
    host = stage.start(f"env -i {double} {stage.answering} $PPID; sleep 60", "--answer", "allow")
    until(lambda: list(stage.home.glob("run/host-*.json"))[1:], "the second host")
    until(lambda: _children_of(host.pid), "its command")
    until(lambda: _named(stage.work / "answering.py"), "the child")
    os.kill(host.pid, signal.SIGKILL)
    host.communicate(timeout=PATIENCE_S)
    stage.is_refused(stage.told())


def test_a_person_in_a_multiplexer_is_served_while_no_command_of_an_agent_used_it(stage: Stage) -> None:
    """ours: the other side of the above. A shell in tmux, started after an agent has run something."""
    tmux, name = _tmux(), f"persons-{uuid.uuid4().hex[:8]}"
    stage.start("true", "--answer", "allow").communicate(timeout=PATIENCE_S)
    (ask,) = stage.asks()
    whole = {**stage.environment, "TMUX_TMPDIR": "/tmp", "TERM": "xterm"}
    words = shlex.join([str(BIN), "answer", ask["askId"], "allow"])
    subprocess.run([tmux, "-L", name, "-f", "/dev/null", "new-session", "-d", words], env=whole, check=True)
    assert stage.waiting is not None
    stage.waiting.communicate(timeout=PATIENCE_S)
    assert (stage.work / "ran").exists()


def _tmux() -> str:
    found = shutil.which("tmux")
    if found is None:
        pytest.skip("there is no tmux here")
    return found


def _end_tmux(stage: Stage, name: str) -> None:
    whole = {**stage.environment, "TMUX_TMPDIR": "/tmp"}
    subprocess.run(["tmux", "-L", name, "kill-server"], env=whole, capture_output=True, check=False)


def _runs(name: str) -> bool:
    return any(path.read_text().strip() == name for path in Path("/proc").glob("[0-9]*/comm") if path.exists())


def _children_of(pid: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == str(pid):
            found.append(path.parent.name)
    return found


def _named(program: Path) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(program).encode() in path.read_bytes().split(b"\0")[2:3]:
                return True
        except OSError:
            continue
    return False
