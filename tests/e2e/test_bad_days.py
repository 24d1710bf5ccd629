"""Bad input and bad days: each ends with a clear message, the right exit code, no traceback, and nothing lost.

(spec Q-2; issue: first light.) Most of it goes through the command line in this process; what needs a real process
(streams, limits, umask) starts one.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.discovery import hosts
from interlock.runtime.cli.main import run
from interlock.runtime.engine.recover import recover_session

BIN = Path(sys.executable).parent / "interlock"
PATIENCE_S = 60
pytestmark = pytest.mark.e2e


@dataclass
class Said:
    code: int
    out: str
    err: str

    def fails(self, *words: str, code: int = 1) -> Said:
        """It ended with this code and a message with these words, and not by surprise."""
        assert self.code == code, self
        assert self.err.startswith("interlock: ") or "\ninterlock: " in self.err, self
        for word in words:
            assert word in self.err, self
        return self.is_calm()

    def is_calm(self) -> Said:
        """Neither a traceback nor a fault that nobody thought of."""
        for bad in ("Traceback", "unexpected", "Exception ignored"):
            assert bad not in self.err + self.out, self
        return self


Interlock = Callable[..., Said]


@dataclass
class House:
    """A home of its own for one test."""

    root: Path
    state: Path
    run: Path
    work: Path

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    def environment(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.root), "TMPDIR": str(self.root), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        own |= {"INTERLOCK_STATE_DIR": str(self.state), "INTERLOCK_RUN_DIR": str(self.run)}
        return {**own, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **more}

    def process(self, *arguments: str, **more: Any) -> Said:
        more.setdefault("env", self.environment())
        done = subprocess.run(
            [str(BIN), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def shell(self, script: str) -> Said:
        done = subprocess.run(
            ["bash", "-c", script.replace("INTERLOCK", str(BIN))],
            env=self.environment(),
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def events(self, session: str) -> list[dict[str, Any]]:
        data = (self.sessions / session / "events.jsonl").read_bytes()
        return [json.loads(line) for line in data.split(b"\n")[:-1]]

    def ids(self) -> list[str]:
        return sorted(path.name for path in self.sessions.iterdir()) if self.sessions.exists() else []


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    made = House(tmp_path, tmp_path / "state", tmp_path / "run", tmp_path / "work")
    made.work.mkdir()
    for name, value in made.environment().items():
        if name.startswith("INTERLOCK") or name in ("HOME", "TMPDIR"):
            monkeypatch.setenv(name, value)
    monkeypatch.delenv("INTERLOCK_TRACEBACK", raising=False)
    return made


@pytest.fixture
def interlock(house: House, capsys: pytest.CaptureFixture[str]) -> Interlock:
    def said(*arguments: str) -> Said:
        capsys.readouterr()
        code = run(list(arguments))
        caught = capsys.readouterr()
        return Said(code, caught.out, caught.err)

    return said


@pytest.fixture
def session(house: House, interlock: Interlock) -> str:
    """The id of a session that ended well."""
    said = interlock("call", "bash", '{"command": "echo done"}', "-w", str(house.work), "--answer", "allow")
    assert said.code == 0, said
    (made,) = house.ids()
    return made


def call(interlock: Interlock, house: House, tool: str, arguments: object, *more: str) -> Said:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return interlock("call", tool, text, "-w", str(house.work), *more)


# --- journals ---------------------------------------------------------------------------------------------------------

READERS = ("show", "replay", "verify")


def spoil_missing(journal: Path) -> None:
    journal.unlink()


def spoil_folder(journal: Path) -> None:
    journal.unlink()
    journal.mkdir()


def spoil_pipe(journal: Path) -> None:
    journal.unlink()
    os.mkfifo(journal)


def spoil_empty(journal: Path) -> None:
    journal.write_bytes(b"")


def spoil_cut(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:-40])


def spoil_garbage(journal: Path) -> None:
    journal.write_bytes(bytes(range(256)) * 20)


SPOILED = [
    (spoil_missing, "No such file"),
    (spoil_folder, "is a folder"),
    (spoil_pipe, "is a pipe"),
    (spoil_empty, "empty"),
    (spoil_cut, "unfinished"),
    (spoil_garbage, "could not be read"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILED)
@pytest.mark.parametrize("command", READERS)
def test_a_journal_that_is_not_whole_is_told_with_its_path_and_a_failure(
    command: str, spoil: Callable[[Path], None], words: str, house: House, interlock: Interlock, session: str
) -> None:
    journal = house.sessions / session / "events.jsonl"
    spoil(journal)
    said = interlock(command, session).is_calm()
    assert said.code == 1
    if command == "verify" and not said.err:
        assert "NOT whole" in said.out
        assert "first bad record" in said.out
    else:
        said.fails(str(journal), words)


@pytest.mark.parametrize("spoil", [spoil_folder, spoil_pipe])
def test_the_list_shows_the_other_sessions_and_fails(
    spoil: Callable[[Path], None], house: House, interlock: Interlock, session: str
) -> None:
    assert call(interlock, house, "glob", {"pattern": "*"}).code == 0
    (other,) = set(house.ids()) - {session}
    spoil(house.sessions / session / "events.jsonl")
    said = interlock("sessions").fails("1 of 2 logs", session)
    assert other in said.out


def test_a_session_whose_journal_was_removed_does_not_stop_the_list(
    house: House, interlock: Interlock, session: str
) -> None:
    (house.sessions / session / "events.jsonl").unlink()
    assert interlock("sessions").is_calm().code == 0


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("command", READERS)
def test_a_journal_without_leave_to_read_is_told(
    command: str, house: House, interlock: Interlock, session: str
) -> None:
    journal = house.sessions / session / "events.jsonl"
    journal.chmod(0)
    interlock(command, session).fails(str(journal), "Permission denied", "mode")


def test_a_journal_of_another_session_in_its_place_is_found(house: House, interlock: Interlock, session: str) -> None:
    call(interlock, house, "bash", {"command": "seq 50"}, "--answer", "allow")
    (other,) = set(house.ids()) - {session}
    shutil.copytree(house.sessions / other, house.sessions / session, dirs_exist_ok=True)
    said = interlock("verify", session).is_calm()
    assert said.code == 1
    assert f"a line of session '{other}'" in said.out


def test_a_longer_journal_of_the_same_name_does_not_pass_for_the_sealed_one(
    house: House, interlock: Interlock, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interlock.runtime.events.message import UserMessage
    from interlock.runtime.journal.writer import JournalWriter

    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.root / "elsewhere"))
    writer = JournalWriter.create(session)
    for number in range(60):
        writer.append(UserMessage(message_id=f"msg_{number}", text="forged"))
    writer.close()
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    shutil.copy(writer.path, house.sessions / session / "events.jsonl")
    said = interlock("verify", session)
    assert said.code == 1
    assert "another journal stands here" in said.out


def test_unknown_and_ambiguous_ids_are_told_with_what_to_do(house: House, interlock: Interlock, session: str) -> None:
    call(interlock, house, "glob", {"pattern": "*"})
    for command in READERS:
        interlock(command, "nothing-like-it").fails("nothing-like-it", str(house.sessions), "interlock sessions")
        interlock(command, session[:4]).fails("fits 2 sessions", session, "Type more")
        for odd in ("", "..", "../work", "a/b", "x" * 5000, "null\0byte", "\udcff"):
            interlock(command, odd).fails()


def test_before_the_first_session_there_is_no_fault_in_the_list(interlock: Interlock) -> None:
    said = interlock("sessions")
    assert (said.code, said.err) == (0, "")
    assert "interlock demo" in said.out
    interlock("show", "x").fails("there is no session")


# --- input of a call --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "must be a JSON object, not list"),
        ("null", "must be a JSON object"),
        ('{"command": NaN}', "NaN is no JSON value"),
        ('{"command": "ls", "command": "rm -rf x"}', "'command' stands twice"),
        ('{"a": ' + "[" * 100_000, "not JSON"),
        ('{"timeout_s": ' + "9" * 5000 + "}", "not JSON"),
        ("{'command': 'ls'}", "single quotes"),
    ],
)
def test_input_that_is_not_json_is_a_mistake_of_the_command_line(
    text: str, words: str, house: House, interlock: Interlock
) -> None:
    call(interlock, house, "bash", text, "--answer", "allow").fails(words, code=2)
    assert house.ids() == []


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("no_such_tool", {}, "no_such_tool"),
        ("bash", {}, "command"),
        ("bash", {"command": 3}, "command"),
        ("bash", {"command": "ls", "more": 1}, "more"),
        ("bash", {"command": "echo \ud800"}, "command"),
        ("read_file", {"path": json.loads("[" * 400 + "]" * 400)}, "path"),
        ("read_file", {"path": "x" * 4000}, "x"),
        ("write_file", {"path": "x" * 4000, "content": ""}, "x"),
        ("edit_file", {"path": "a\0b", "old_string": "a", "new_string": "b"}, "path"),
        ("read_artifact", {"artifact": "art_99"}, "art_99"),
        ("grep", {"pattern": "("}, "pattern"),
    ],
)
def test_input_that_does_not_fit_the_tool_is_an_observation_on_record(
    tool: str, arguments: dict[str, Any], words: str, house: House, interlock: Interlock
) -> None:
    text = json.dumps(arguments)
    said = call(interlock, house, tool, text, "--answer", "allow").is_calm()
    assert said.code == 1
    assert words in said.out
    events = house.events(house.ids()[0])
    assert [e["ok"] for e in events if e["type"] == "tool.observation"] == [False]
    assert not [e for e in events if e["type"] == "tool.invocation.started" and tool != "grep"]


@pytest.mark.parametrize("decision", ["allow", "deny"])
@pytest.mark.parametrize(
    ("tool", "arguments", "asks"),
    [
        ("read_file", {"path": "given.txt"}, False),
        ("glob", {"pattern": "*.txt"}, False),
        ("grep", {"pattern": "given"}, False),
        ("read_artifact", {"artifact": "art_1"}, False),
        ("bash", {"command": "touch made.txt"}, True),
        ("write_file", {"path": "made.txt", "content": "made"}, True),
        ("edit_file", {"path": "given.txt", "old_string": "given", "new_string": "changed"}, True),
    ],
)
def test_every_tool_can_be_called_and_a_deny_changes_nothing(
    tool: str, arguments: dict[str, Any], asks: bool, decision: str, house: House, interlock: Interlock
) -> None:
    (house.work / "given.txt").write_text("given\n")
    said = call(interlock, house, tool, arguments, "--answer", decision, "--json").is_calm()
    observation = json.loads(said.out)
    events = house.events(house.ids()[0])
    assert len([e for e in events if e["type"] == "tool.permission.answered"]) == int(asks)
    if asks and decision == "deny":
        assert (said.code, observation["code"], observation["phase"]) == (1, "user_denied", "permission")
        assert {path.name: path.read_text() for path in house.work.iterdir()} == {"given.txt": "given\n"}
    else:
        assert observation["ok"] is (tool != "read_artifact"), observation
        assert said.code == (0 if observation["ok"] else 1)
    assert events[-1]["type"] == "session.ended"


def test_a_workspace_that_is_no_folder_is_a_mistake_of_the_command_line(house: House, interlock: Interlock) -> None:
    interlock("call", "glob", "{}", "-w", str(house.root / "nowhere")).fails("nowhere", "not a folder", code=2)


# --- the manifest -----------------------------------------------------------------------------------------------------

HEAD = "[worker.tool_output]\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[worker.tool_output\n", "interlock.toml:1: no valid TOML: Expected"),
        (b"a = 1\na = 2\n", "interlock.toml:2: no valid TOML"),
        (HEAD.encode() + b"\ndefault_max_bytes = 'x'\n", "interlock.toml:3: default_max_bytes must be a whole number"),
        (HEAD.encode() + b"per_tool = 3\n", "interlock.toml:2: per_tool must be the table"),
        (b"[worker.tool_output.per_tool]\nbash = -1\n", "interlock.toml:2: bash must be a whole number"),
        (b"\n[worker]\ntool_output = {default_max_bytes = -3}\n", "interlock.toml:3: default_max_bytes must be"),
        (HEAD.encode() + b"default_max_byte = 1\n", "interlock.toml:2: unknown key 'default_max_byte'; expected"),
        (HEAD.encode() + b"# \xff\n", "interlock.toml:2: byte 23 is not UTF-8; expected TOML"),
        (b"a = " + b"[" * 5000, "interlock.toml: cannot be read as TOML"),
        (b"a = " + b"9" * 5000, "interlock.toml: cannot be read as TOML"),
        (b"#" * (2 << 20), "larger than 1,048,576 bytes; expected"),
    ],
)
def test_a_wrong_manifest_is_told_with_file_line_and_what_was_expected(
    data: bytes, words: str, house: House, interlock: Interlock
) -> None:
    (house.work / "interlock.toml").write_bytes(data)
    call(interlock, house, "bash", {"command": "touch made"}, "--answer", "allow").fails(words)
    assert not (house.work / "made").exists()
    assert house.ids() == [], "a session that cannot begin leaves nothing behind"


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop"])
def test_what_is_no_plain_file_is_not_read_as_a_manifest(kind: str, house: House, interlock: Interlock) -> None:
    path = house.work / "interlock.toml"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.symlink_to(path)
    call(interlock, house, "glob", {"pattern": "*"}).fails(str(path), "cannot be read")


# --- the socket's folder ----------------------------------------------------------------------------------------------

NEEDS_SOCKET = (("call", "glob", '{"pattern": "*"}'), ("asks",), ("answer", "ask_1", "allow"))


def test_a_run_folder_that_others_can_enter_is_refused(house: House, interlock: Interlock) -> None:
    house.run.mkdir()
    for mode in (0o777, 0o711, 0o1777):
        house.run.chmod(mode)
        for command in (*NEEDS_SOCKET, ("demo", "--headless", "--answer", "allow")):
            interlock(*command).fails(str(house.run), "open to others", f"chmod 700 {house.run}")
    assert house.ids() == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_run_folder_of_another_user_is_refused(house: House, interlock: Interlock) -> None:
    house.run.mkdir(mode=0o700)
    os.chown(house.run, 12345, 12345)
    for command in NEEDS_SOCKET:
        interlock(*command).fails(str(house.run), "belongs to user 12345", "INTERLOCK_RUN_DIR")


@pytest.mark.parametrize("kind", ["link", "file", "too long a name"])
def test_a_run_folder_that_is_none_is_refused(
    kind: str, house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "link":
        (house.root / "real").mkdir(mode=0o700)
        house.run.symlink_to(house.root / "real")
    elif kind == "file":
        house.run.touch()
    else:
        monkeypatch.setenv("INTERLOCK_RUN_DIR", str(house.root / ("r" * 300)))
    for command in NEEDS_SOCKET:
        interlock(*command).fails("INTERLOCK_RUN_DIR")


def test_a_socket_path_that_is_too_long_gets_a_short_name_and_works(
    house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(house.root / ("r" * 200)))
    said = call(interlock, house, "bash", {"command": "echo yes"}, "--answer", "allow")
    assert said.code == 0, said
    assert "yes" in said.out


def test_what_a_dead_host_left_is_cleared_and_rubbish_is_told(house: House, interlock: Interlock) -> None:
    house.run.mkdir(mode=0o700)
    stale = house.run / "host-999999-00000000.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))
    info = {"protocol": 1, "pid": 999_999, "startTime": "1", "socket": str(stale), "sessions": []}
    (house.run / "host-999999-00000000.json").write_text(json.dumps(info))
    assert interlock("asks").code == 0
    assert list(house.run.iterdir()) == []
    rubbish = house.run / "host-1-00000000.json"
    rubbish.write_text("{")
    interlock("asks").fails(str(rubbish), "Invalid JSON")
    interlock("answer", "ask_0", "allow").fails("no open ask", str(rubbish))


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def waiting(house: House) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A call of a process of its own that waits for an answer: the process and the ask."""
    arguments = [str(BIN), "call", "bash", '{"command": "touch made"}', "-w", str(house.work)]
    process = subprocess.Popen(
        arguments, env=house.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process, first_ask(house, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def first_ask(house: House, process: subprocess.Popen[str]) -> str:
    """The id of the ask, once it is open; found as any approver finds it."""
    import asyncio

    from interlock.runtime.asks.client import AskClient
    from interlock.runtime.asks.protocol import OpenedNotice

    async def wait() -> str:
        async with asyncio.timeout(PATIENCE_S):
            while not (found := hosts() if house.run.exists() else []):
                assert process.poll() is None, "it ended before it asked"
                await asyncio.sleep(0.01)  # a folder that does not exist yet cannot be watched
            async with await AskClient.connect(found[0].socket) as client:
                async for notice in client.subscribe():
                    if isinstance(notice, OpenedNotice):
                        return notice.ask.ask_id
        raise AssertionError("no ask")

    return asyncio.run(wait())


def test_a_wrong_answer_is_refused_and_the_right_one_still_counts(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    interlock("answer", ask, "maybe").fails("`allow` or `deny`", "maybe", code=2)
    interlock("answer", ask, "allow", "--scope", "for-ever").fails("`once` or `session`", code=2)
    interlock("answer", ask, "deny", "--scope", "session").fails("--scope", code=2)
    interlock("answer", ask, "allow", "--message", "x").fails("--message", code=2)
    interlock("answer", ask, "allow", "--digest", "0" * 64).fails("digest_mismatch")
    interlock("answer", "ask_that_never_was", "allow").fails("no open ask", "interlock asks")
    assert not (house.work / "made").exists()
    assert interlock("answer", ask, "allow").code == 0
    assert process.wait(timeout=PATIENCE_S) == 0
    assert (house.work / "made").exists()
    interlock("answer", ask, "deny").fails("already answered with allow", "interlock answer")


def test_the_second_answer_to_a_host_that_lives_learns_who_was_first(house: House, interlock: Interlock) -> None:
    """The first call of the session is answered, the host then waits with a second one."""
    script = (
        "import asyncio\nfrom interlock.runtime.engine.intent import Intent\n"
        "from interlock.runtime.engine.session import RuntimeSession\n"
        "async def work():\n"
        f"    async with RuntimeSession.start({str(house.work)!r}) as session:\n"
        "        for name in 'ab':\n"
        "            await session.pipeline.run(Intent('bash', {'command': f'touch {name}'}))\n"
        "asyncio.run(work())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=house.environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        ask = first_ask(house, process)
        assert interlock("answer", ask, "deny").code == 0
        interlock("answer", ask, "allow").fails("already answered: deny by interlock answer")
        assert not (house.work / "a").exists()
    finally:
        process.kill()
        process.communicate()


def test_an_answer_to_a_killed_runtime_closes_the_ask_and_is_refused(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE_S)
    interlock("answer", ask, "allow").fails(ask, "has ended", "nothing was run", "runtime_restarted")
    interlock("answer", ask, "allow").fails(ask, "closed at", "runtime_restarted")
    assert not (house.work / "made").exists()
    (made,) = house.ids()
    assert interlock("verify", made).code == 0
    assert [e["code"] for e in house.events(made) if e["type"] == "tool.observation"] == ["runtime_restarted"]


def test_a_host_that_hangs_is_told_and_its_ask_can_be_answered_afterwards(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    process.send_signal(signal.SIGSTOP)
    try:
        said = interlock("asks").fails(f"host {process.pid}", "does not answer")
        assert "at the hosts that answered" in said.out
        interlock("answer", ask, "allow").fails(ask, "does not answer")
    finally:
        process.send_signal(signal.SIGCONT)
    assert interlock("answer", ask, "deny").code == 0
    assert process.wait(timeout=PATIENCE_S) == 1
    assert not (house.work / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_call_that_is_told_to_end_closes_its_ask_and_says_so(
    number: signal.Signals, house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, _ = waiting
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    Said(process.returncode, "", err).fails(f"stopped by {number.name}", code=128 + number)
    (made,) = house.ids()
    events = house.events(made)
    assert [e["cause"] for e in events if e["type"] == "tool.permission.closed"] == ["cancelled"]
    assert [e["code"] for e in events if e["type"] == "tool.observation"] == ["ask_cancelled"]
    assert (events[-1]["type"], events[-1]["reason"]) == ("session.ended", "cancelled")
    assert interlock("verify", made).code == 0


@pytest.mark.parametrize("how", ["removed", "replaced", "cut", "grown"])
def test_an_answer_is_not_taken_when_the_journal_is_not_what_it_was(
    how: str, house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    (made,) = house.ids()
    journal = house.sessions / made / "events.jsonl"
    whole = journal.read_bytes()
    if how == "removed":
        journal.unlink()
    elif how == "replaced":
        journal.rename(journal.with_suffix(".old"))
        journal.write_bytes(whole)
    else:
        journal.write_bytes(whole[:-10] if how == "cut" else whole + b"{}\n")
    for _ in range(2):
        interlock("answer", ask, "allow").fails("not_recorded", str(journal))
    assert process.poll() is None
    assert not (house.work / "made").exists()


def test_a_fault_of_who_listens_does_not_unmake_what_is_on_record(house: House) -> None:
    from interlock.runtime.events.message import UserMessage
    from interlock.runtime.journal.writer import JournalWriter

    def broken(event: object, line: bytes, offset: int) -> None:
        raise RuntimeError("a view failed")

    writer = JournalWriter.create("s1")
    try:
        writer.subscribe(broken)
        first = writer.append(UserMessage(message_id="msg_1", text="kept"), durable=True)
        second = writer.append(UserMessage(message_id="msg_2", text="kept too"), durable=True)
    finally:
        writer.close()
    assert (first.seq, second.seq) == (0, 1)
    assert [event["text"] for event in house.events("s1")] == ["kept", "kept too"]


# --- disks ------------------------------------------------------------------------------------------------------------


def only_recorded_runs(house: House, marks: set[str]) -> None:
    """Whatever ran has an answer and a start on record, and every journal is whole as far as it goes."""
    started: list[str] = []
    for session in house.ids():
        if not (house.sessions / session / "events.jsonl").exists():
            continue
        events = house.events(session)
        inputs = {e["intentId"]: json.dumps(e["rawInput"]) for e in events if e["type"] == "tool.intent"}
        asked = {e["intentId"] for e in events if e["type"] == "tool.permission" and e["decision"] == "ask"}
        allowed: set[str] = set()
        for event in events:
            if event["type"] == "tool.permission.answered" and event["answer"] == "allow":
                allowed.add(event["intentId"])
            if event["type"] == "tool.invocation.started":
                assert event["intentId"] in allowed or event["intentId"] not in asked
                started.append(inputs[event["intentId"]])
    for mark in marks:
        assert any(mark in text for text in started), f"{mark} was run without a record"


@pytest.mark.parametrize("limit", [0, 64, 900, 1500, 2600, 3400, 4200, 5000])
def test_a_call_whose_record_cannot_grow_runs_nothing_that_is_not_on_record(
    limit: int, house: House, interlock: Interlock
) -> None:
    """No file may grow over `limit` bytes, as on a disk with so much room."""
    said = house.process(
        *("call", "bash", '{"command": "mkdir made"}', "-w", str(house.work), "--answer", "allow"),
        env=house.environment(PYTHONDONTWRITEBYTECODE="1"),  # the limit would cut compiled modules short
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    ).is_calm()
    made = {path.name for path in house.work.iterdir()}
    only_recorded_runs(house, made)
    if said.code:
        said.fails(str(house.root))
    for session in house.ids():
        events = house.events(session)
        observed = [e for e in events if e["type"] == "tool.observation"]
        assert (said.code == 0) is bool(observed), "success is told when it is on record, and only then"
        if events:
            assert interlock("verify", session).code == 0
            recover_session(session)
            after = house.events(session)
            intents = [e["intentId"] for e in after if e["type"] == "tool.intent"]
            assert [e["intentId"] for e in after if e["type"] == "tool.observation"] == intents
            assert interlock("verify", session).code == 0


@pytest.fixture
def disk(house: House) -> Iterator[Path]:
    """A disk of 96 KiB of its own."""
    place = house.root / "disk"
    place.mkdir(mode=0o700)
    mounted = os.getuid() == 0 and sys.platform.startswith("linux")
    command = ["mount", "-t", "tmpfs", "-o", "size=96k,mode=0700", "tmpfs", str(place)]
    if not mounted or subprocess.run(command, capture_output=True, timeout=20, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], timeout=20, check=True)


def test_the_demo_on_a_disk_that_fills_up_says_so_and_runs_nothing_unrecorded(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.state = disk / "state"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    said = house.process("demo", "--headless", "--answer", "allow", "--json").is_calm()
    assert said.code == 1
    last = json.loads(said.out.splitlines()[-1])
    assert "JournalWriteError: cannot record in " in last["result"]
    assert "Free space" in last["result"]
    assert len(house.ids()) == 2
    only_recorded_runs(house, set())
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], timeout=20, check=True)
    for session in house.ids():
        assert interlock("verify", session).code == 0
        recover_session(session)
        events = house.events(session)
        intents = sorted(e["intentId"] for e in events if e["type"] == "tool.intent")
        assert sorted(e["intentId"] for e in events if e["type"] == "tool.observation") == intents
        assert interlock("verify", session).code == 0


def test_an_ask_outlives_a_full_disk(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.state = disk / "state"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(house.state))
    arguments = [str(BIN), "call", "bash", '{"command": "touch made"}', "-w", str(house.work)]
    process = subprocess.Popen(arguments, env=house.environment(), stdout=subprocess.PIPE, text=True)
    try:
        ask = first_ask(house, process)
        (session,) = house.ids()
        free = os.statvfs(disk)
        (disk / "fill").write_bytes(b"x" * (free.f_bavail * free.f_frsize))
        size = (house.sessions / session / "events.jsonl").stat().st_size
        too_long = "m" * (-size % 4096)  # what is left of the journal's last block would take a short one
        interlock("answer", ask, "deny", "--message", too_long).fails("not_recorded", "Free space")
        assert (house.sessions / session / "events.jsonl").stat().st_size == size
        (disk / "fill").unlink()
        assert interlock("answer", ask, "allow").code == 0
        assert process.wait(timeout=PATIENCE_S) == 0
        assert (house.work / "made").exists()
        assert interlock("verify", session).code == 0
    finally:
        process.kill()
        process.communicate()


def test_a_full_or_read_only_disk_is_told_before_anything_begins(
    house: House, interlock: Interlock, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = os.statvfs(disk)
    (disk / "fill").write_bytes(b"x" * (free.f_bavail * free.f_frsize))
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(disk / "state"))
    full = call(interlock, house, "bash", {"command": "touch made"}, "--answer", "allow")
    full.fails(str(disk), "No space left", "INTERLOCK_STATE_DIR")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], timeout=20, check=True)
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(disk / "other"))
    for command in (("call", "glob", '{"pattern": "*"}'), ("demo", "--headless", "--answer", "allow")):
        interlock(*command).fails(str(disk), "Read-only", "INTERLOCK_STATE_DIR")
    assert interlock("sessions").code == 0
    assert list(house.work.iterdir()) == []


def test_a_state_folder_that_is_a_file_is_told(house: House, interlock: Interlock) -> None:
    house.state.touch()
    interlock("sessions").fails(str(house.state), "Not a directory")
    interlock("show", "x").fails(str(house.state), "Not a directory")
    call(interlock, house, "glob", {"pattern": "*"}).fails(str(house.state), "INTERLOCK_STATE_DIR")
    interlock("demo", "--headless", "--answer", "allow").fails(str(house.state))


def test_a_state_folder_that_others_can_write_to_is_refused(house: House, interlock: Interlock) -> None:
    house.sessions.mkdir(parents=True)
    house.sessions.chmod(0o777)
    call(interlock, house, "glob", {"pattern": "*"}).fails(str(house.sessions), "chmod go-w")


# --- the process's own world ------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_ends_the_demo_and_hurts_no_other_command(house: House) -> None:
    said = house.shell("INTERLOCK demo --headless --answer allow --json | head -1; echo ${PIPESTATUS[0]}").is_calm()
    begun, code = said.out.splitlines()
    assert (json.loads(begun)["event"], code) == ("begun", "1")
    assert "the demo was stopped" in said.err
    for session in house.ids():
        assert house.events(session)[-1]["type"] == "session.ended"
    many = """INTERLOCK call bash '{"command": "seq 9000; exit 3"}' --answer allow | head -1; echo ${PIPESTATUS[0]}"""
    said = house.shell(many).is_calm()
    assert said.out.splitlines()[-1] == "1", "the exit code is that of the call, whoever reads"
    said = house.shell("INTERLOCK schema | head -1; echo ${PIPESTATUS[0]}").is_calm()
    assert said.out.splitlines()[-1] == "0"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_a_failure(house: House) -> None:
    for command in ("schema", "sessions", "demo --headless --answer allow"):
        said = house.shell(f"INTERLOCK {command} > /dev/full").is_calm()
        said.fails("No space left on device")


def test_a_closed_output_is_told_before_anything_is_done(house: House) -> None:
    call_it = """INTERLOCK call bash '{"command": "touch made"}' --answer allow"""
    house.shell(f"{call_it} >&-").fails("standard output is closed")
    assert house.ids() == []
    said = house.shell(f"{call_it} <&- 2>&-")
    assert said.code == 0
    assert (house.work / "made").exists()
    (session,) = house.ids()
    assert house.process("verify", session).code == 0


@pytest.mark.parametrize("found", ["relative/.local/state/interlock", "/.local/state/interlock"])
def test_a_home_that_is_none_is_told_and_nothing_is_put_anywhere(
    found: str, house: House, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the platform answers where neither HOME nor the user's entry can be used."""
    import platformdirs

    monkeypatch.setattr(platformdirs, "user_state_path", lambda *_, **__: Path(found))
    monkeypatch.delenv("INTERLOCK_STATE_DIR")
    monkeypatch.chdir(house.work)
    for command in (("sessions",), ("call", "glob", '{"pattern": "*"}'), ("verify", "x")):
        interlock(*command).fails("HOME", "INTERLOCK_STATE_DIR")
    assert list(house.work.iterdir()) == []


def test_no_home_at_all_is_looked_up_or_told(house: House) -> None:
    environment = house.environment()
    del environment["HOME"]
    said = house.process("call", "glob", '{"pattern": "*"}', "-w", str(house.work), env=environment).is_calm()
    assert said.code == 0, said


def test_whatever_the_umask_nobody_else_can_write_to_the_record(house: House) -> None:
    house.state, house.run = house.root / "deep" / "er" / "state", house.root / "deep" / "run"
    said = house.process(
        *("call", "bash", '{"command": "seq 20000"}', "-w", str(house.work), "--answer", "allow"), umask=0
    )
    assert said.code == 0, said
    kept = [house.root / "deep", *(house.root / "deep").rglob("*")]
    assert [path for path in kept if path.name.startswith("art_")], "there is an artifact to look at"
    assert not [path for path in kept if path.lstat().st_mode & 0o077]


def test_an_output_that_knows_no_unicode_does_not_end_a_command(house: House) -> None:
    odd = json.dumps({"command": "printf 'grün \\xff'"})
    said = house.process(
        *("call", "bash", odd, "-w", str(house.work), "--answer", "allow"),
        env=house.environment(PYTHONIOENCODING="ascii"),
    ).is_calm()
    assert said.code == 0, said
