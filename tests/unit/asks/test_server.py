"""Hostile and broken clients against a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys

import pytest

from interlock.runtime.asks import discovery
from interlock.runtime.asks.client import AskClient, AskRefused, BlockingClient, HostGone, answer_sync
from interlock.runtime.asks.endpoint import PATH_LIMIT, EndpointError
from interlock.runtime.asks.protocol import MAX_FRAME_BYTES, OpenedNotice
from interlock.runtime.asks.server import MAX_CONNECTIONS, AskServer

CONNECT = """
import os, socket, sys
{before}
s = socket.socket(socket.AF_UNIX); s.connect({path!r})
try: s.sendall(b'{{"jsonrpc":"2.0","id":1,"method":"ping"}}\\n')
except BrokenPipeError: pass  # refused at once; the reason can still be read
print(s.recv(4096).decode())
"""


def run_client(path, before="", **more):
    code = CONNECT.format(path=str(path), before=before)
    return asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, **more
    )


async def test_an_answer_sent_byte_by_byte_counts_once_complete_and_others_are_served(bench, dial):
    """PR-001."""
    bench.ask()
    slow, other = await dial(), await dial()
    params = {"askId": "a1", "inputDigest": "d-a1", "answer": "deny", "message": "nö"}
    frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "asks.answer", "params": params}, ensure_ascii=False)
    for byte in frame.encode():
        await slow.send(bytes([byte]))
        assert (await other.call("ping"))["result"] == {}
    assert bench.of("tool.permission.answered") == []
    await slow.send(b"\n")
    assert (await slow.line())["result"]["accepted"] is True
    assert bench.of("tool.permission.answered")[0].message == "nö"


async def test_half_a_frame_is_never_applied(bench, dial):
    """PR-002."""
    bench.ask()
    wire, other = await dial(), await dial()
    await wire.send(b'{"jsonrpc":"2.0","id":1,"method":"asks.answer","params":{"askId":"a1","inputDigest":"d-a1"')
    wire.writer.close()
    assert len((await other.call("asks.list"))["result"]["asks"]) == 1


BAD = {
    b'{"id":"\xff\xfe\x80"}': "invalid_utf8",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"': "parse_error",
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}': "parse_error",
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}': "parse_error",
    b'{"jsonrpc":"2.0","id":1,"method":"pi\x00ng"}': "parse_error",
    b"[" * 100_000: "parse_error",
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]': "bad_request",
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}': "bad_request",
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}': "bad_request",
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}': "bad_request",
    b'{"jsonrpc":"2.0","id":1,"method":"ping","more":1}': "bad_request",
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1}}': "bad_request",
    b'{"jsonrpc":"2.0","id":1,"method":"no.such"}': "unknown_method",
    b'"text"': "bad_request",
}
ANSWER = b'{"jsonrpc":"2.0","id":1,"method":"asks.answer","params":{%s}}'
BAD |= {
    ANSWER % params: "bad_request"
    for params in (
        b'"ask_id":"a1","inputDigest":"d-a1","answer":"allow"',
        b'"askId":"a1","answer":"allow"',
        b'"askId":"a1\\u0000","inputDigest":"d-a1","answer":"allow"',
        b'"askId":"a1","inputDigest":"d-a1","answer":"deny","message":"\\ud800"',
        b'"askId":"a1","inputDigest":"d-a1","answer":"allow","by":"x"',
    )
}


@pytest.mark.parametrize("frame", BAD, ids=lambda f: f[:60].decode("latin-1"))
async def test_a_frame_that_is_not_wholly_right_is_refused_and_the_connection_lives_on(bench, dial, frame):
    """PR-004 and its kind."""
    bench.ask()
    wire = await dial()
    await wire.send(frame + b"\n")
    assert (await wire.line())["error"]["data"]["name"] == BAD[frame]
    assert (await wire.call("ping"))["result"] == {}
    assert bench.of("tool.permission.answered") == []


async def test_a_frame_over_the_limit_is_refused_and_ends_the_connection(bench, dial):
    wire, other = await dial(), await dial()
    try:
        await wire.send(b"x" * (MAX_FRAME_BYTES + 70_000))
    except ConnectionError:
        pass
    assert (await wire.line())["error"]["data"]["name"] == "frame_too_large"
    assert (await other.call("ping"))["result"] == {}


async def test_a_notification_is_neither_applied_nor_replied_to(bench, dial):
    bench.ask()
    wire = await dial()
    params = '{"askId":"a1","inputDigest":"d-a1","answer":"allow"}'
    await wire.send(f'{{"jsonrpc":"2.0","method":"asks.answer","params":{params}}}\n'.encode())
    assert (await wire.call("ping", number=7))["id"] == 7
    assert bench.of("tool.permission.answered") == []


async def test_the_same_answer_twice_takes_effect_once(bench, dial):
    """PR-008."""
    bench.ask()
    wire = await dial()
    await wire.call("hello", client="ann")
    assert (await wire.answer())["result"]["accepted"] is True
    data = (await wire.answer())["error"]["data"]
    assert (data["name"], data["by"]["client"], data["by"]["pid"]) == ("already_resolved", "ann", os.getpid())


async def test_of_many_racing_approvers_exactly_one_wins(bench, dial):
    pending = bench.ask()
    wires = [await dial() for _ in range(20)]
    replies = await asyncio.gather(*(w.answer(answer=("allow", "deny")[i % 2]) for i, w in enumerate(wires)))
    assert sum("result" in r for r in replies) == 1
    assert {r["error"]["data"]["name"] for r in replies if "error" in r} == {"already_resolved"}
    assert len(bench.of("tool.permission.answered")) == 1
    assert (await pending.wait()).answer == next(r["result"]["answer"] for r in replies if "result" in r)


async def test_an_approver_that_comes_later_or_again_sees_what_waits(bench, server):
    """BC-039."""
    bench.ask()
    for _ in range(2):
        async with await AskClient.connect(server.path, "screen") as client:
            notices = client.subscribe()
            notice = await anext(notices)
            assert isinstance(notice, OpenedNotice)
            assert notice.ask.ask_id == "a1"
            assert [a.ask_id for a in await client.list()] == ["a1"]
            await notices.aclose()


async def test_watchers_are_told_who_answered(bench, server):
    async with await AskClient.connect(server.path, "a") as one, await AskClient.connect(server.path, "b") as two:
        notices = two.subscribe()
        first = asyncio.create_task(anext(notices))
        await two.ping()
        bench.ask()
        await first
        reply = await one.answer("a1", "d-a1", "deny", message="not now")
        seen = await anext(notices)
        assert (seen.by.client, seen.message, seen.at) == ("a", "not now", reply.at)
        with pytest.raises(AskRefused, match="already answered"):
            await two.answer("a1", "d-a1", "allow")
        await notices.aclose()


async def test_a_journal_fault_is_told_to_the_approver(bench, dial):
    bench.ask()
    bench.broken = True
    wire = await dial()
    assert (await wire.answer())["error"]["data"]["name"] == "not_recorded"
    assert len((await wire.call("asks.list"))["result"]["asks"]) == 1


async def test_a_thousand_idle_connections_do_not_stop_an_approver(bench, server, dial):
    """PR-029."""
    bench.ask()
    approver = await dial()
    await approver.call("hello", client="ann")
    idle = []
    for _ in range(1000):
        made = socket.socket(socket.AF_UNIX)
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, str(server.path))
        idle.append(made)
    assert (await approver.answer())["result"]["accepted"] is True
    assert len(server._connections) <= MAX_CONNECTIONS
    for made in idle:
        made.close()


async def test_a_thousand_asks_are_listed_in_bounded_pages(bench, server):
    for n in range(1000):
        bench.ask(f"a{n}", shown_input={"command": "x" * 5000})
    async with await AskClient.connect(server.path) as client:
        assert [a.ask_id for a in await client.list()] == [f"a{n}" for n in range(1000)]


async def test_an_ask_larger_than_a_frame_says_what_is_left_out_and_can_be_read_whole(bench, server):
    text = "ü\n\x01" * 700_000
    bench.ask(shown_input={"content": text})
    async with await AskClient.connect(server.path) as client:
        (view,) = await client.list()
        assert view.omitted == ("shownInput",)
        assert (await client.read("a1"))["shownInput"] == {"content": text}


async def test_the_socket_is_private_whatever_the_umask(bench, run_dir):
    """PR-023."""
    before = os.umask(0)
    try:
        async with AskServer(bench.broker) as server:
            assert stat.S_IMODE(os.lstat(server.path).st_mode) == 0o600
            assert stat.S_IMODE(os.lstat(server.path.parent).st_mode) == 0o700
            files = list(run_dir.glob("*.json"))
            assert [stat.S_IMODE(os.lstat(f).st_mode) for f in files] == [0o600]
    finally:
        os.umask(before)
    assert list(run_dir.iterdir()) == []


async def test_a_folder_open_to_others_is_refused(bench, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(EndpointError, match="chmod 700"):
        await AskServer(bench.broker, folder / "s.sock", announce=False).start()


@pytest.mark.parametrize("letter", ["d", "é"])
async def test_a_path_too_long_gets_a_short_name_that_works(bench, tmp_path, monkeypatch, caplog, letter):
    """BC-069, PR-024."""
    folder = tmp_path / (letter * 120)
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(folder))
    async with AskServer(bench.broker) as server:
        assert len(os.fsencode(server.path)) <= PATH_LIMIT
        assert str(PATH_LIMIT) in caplog.text
        (host,) = discovery.hosts()
        async with await AskClient.connect(host.socket) as client:
            await client.ping()


async def test_a_stale_socket_is_replaced_and_a_live_one_is_not(bench, run_dir):
    path = run_dir / "s.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    async with AskServer(bench.broker, path):
        with pytest.raises(EndpointError, match=f"process {os.getpid()}"):
            await AskServer(bench.broker, path).start()
        async with await AskClient.connect(path) as client:
            await client.ping()


async def test_a_file_that_is_no_socket_is_never_replaced(bench, run_dir):
    (run_dir / "s.sock").write_text("mine")
    with pytest.raises(EndpointError, match="not a socket"):
        await AskServer(bench.broker, run_dir / "s.sock").start()
    assert (run_dir / "s.sock").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_user_is_refused_also_when_the_modes_are_open(bench, monkeypatch):
    """PR-020."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="il")
    monkeypatch.setenv("INTERLOCK_RUN_DIR", folder)
    try:
        async with AskServer(bench.broker) as server:
            os.chmod(folder, 0o755)
            os.chmod(server.path, 0o777)
            done = await run_client(server.path, "os.setgid(65534); os.setuid(65534)")
            assert "not the user of this host" in done.stdout, done.stderr
            os.chmod(folder, 0o700)
    finally:
        shutil.rmtree(folder)


async def test_a_process_of_the_agent_and_its_descendants_are_refused(bench, run_dir):
    agents: set[int] = set()
    async with AskServer(bench.broker, agent_pids=lambda: agents) as server:
        assert "result" in (await run_client(server.path)).stdout
        agents.add(os.getpid())
        assert "descends from a process of the agent" in (await run_client(server.path)).stdout


async def test_the_mark_in_the_environment_is_refused(bench, server):
    done = await run_client(server.path, env={**os.environ, "INTERLOCK_AGENT": "s1"})
    assert "mark of the agent" in done.stdout


async def test_an_orphan_of_the_agent_is_known_by_its_session(bench, run_dir):
    before = "sys.stdin.readline()\nif os.fork(): os._exit(0)\nif os.fork(): os._exit(0)\n"
    async with AskServer(bench.broker) as server:
        code = CONNECT.format(path=str(server.path), before=before)
        agent = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        server.learn([agent.pid])
        said, _ = await asyncio.to_thread(agent.communicate, "go\n", 30)
        assert "session or process group of the agent" in said


async def test_a_dead_hosts_files_are_cleaned_and_strange_files_reported(bench, run_dir, server):
    stale = run_dir / "host-1-x.json"
    info = {"protocol": 1, "pid": os.getpid(), "startTime": "1", "socket": str(run_dir / "gone.sock")}
    stale.write_text(json.dumps(info))
    (run_dir / "host-2-x.json").write_text("{")
    seen = discovery.survey()
    assert [h.socket for h in seen.hosts] == [str(server.path)]
    assert not stale.exists()
    assert "host-2-x.json" in seen.problems[0]


async def test_a_blocking_client_answers_and_is_told_when_the_host_has_gone(bench, server):
    bench.ask()
    (view,) = await asyncio.to_thread(lambda: BlockingClient(server.path).list())
    reply = await asyncio.to_thread(answer_sync, server.path, view.ask_id, view.input_digest, "allow", scope="session")
    assert reply.scope == "session"
    await server.close()
    with pytest.raises(HostGone):
        answer_sync("/nonexistent/x.sock", "a1", "d", "deny")
