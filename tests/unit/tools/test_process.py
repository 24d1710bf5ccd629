"""Processes of a call: real ones. (spec RT-7; cases BC-074, BC-077, BC-079)"""

from __future__ import annotations

import asyncio
import os
import secrets

import pytest

from interlock.runtime.tools import tree
from interlock.runtime.tools.environment import environment_for, masked, secrets_of
from interlock.runtime.tools.process import CannotStart, Finished, run_process
from interlock.runtime.tools.stray import Strays


class Run:
    """One run of a shell command and what it wrote."""

    def __init__(self) -> None:
        self.mark = f"test/{secrets.token_hex(4)}"
        self.out: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self.cancelled = asyncio.Event()
        self.strays = Strays()
        self.seen = asyncio.Event()

    def sink(self, stream: str, data: bytes) -> None:
        self.out[stream] += data
        self.seen.set()

    async def __call__(self, command: str, *, timeout_s: float = 20.0, grace_s: float = 0.3) -> Finished:
        return await run_process(
            ["/bin/bash", "--norc", "-c", command],
            cwd="/",
            environment=environment_for({"PATH": os.environ["PATH"], "API_TOKEN": "s3cret-value"}, mark=self.mark),
            mark=self.mark,
            timeout_s=timeout_s,
            sink=self.sink,
            cancelled=self.cancelled,
            strays=self.strays,
            grace_s=grace_s,
        )


async def test_both_streams_and_the_exit_code_are_kept_apart() -> None:
    run = Run()
    done = await run("echo out; echo err >&2; exit 3")
    assert (run.out["stdout"], run.out["stderr"], done.exit_code, done.signal) == (b"out\n", b"err\n", 3, None)


async def test_a_signal_is_a_signal_and_no_exit_code() -> None:
    done = await Run()("kill -9 $$")
    assert (done.exit_code, done.signal, done.ended_by) == (None, "SIGKILL", "itself")


async def test_there_is_no_input_and_no_terminal() -> None:
    run = Run()
    done = await run("cat; tty; ps -o tty= -p $$; (exec </dev/tty) || echo none")
    assert done.ended_by == "itself"
    assert b"none\n" in run.out["stdout"]
    assert b"not a tty" in run.out["stdout"]


async def test_a_tree_that_ignores_term_is_killed_and_its_output_kept() -> None:
    run = Run()
    done = await run(
        "trap '' TERM INT; echo up; (trap '' TERM; sleep 300) & setsid sleep 301 & while :; do sleep 1; done",
        timeout_s=0.4,
    )
    assert (done.ended_by, done.signals_sent) == ("timeout", ("SIGTERM", "SIGKILL"))
    assert run.out["stdout"] == b"up\n"
    assert tree.members(-1, run.mark) == set()


async def test_a_tree_that_obeys_gets_no_kill() -> None:
    done = await Run()("exec sleep 300", timeout_s=0.2, grace_s=10)
    assert (done.signals_sent, done.signal) == (("SIGTERM",), "SIGTERM")


async def test_cancelling_goes_the_same_way() -> None:
    run = Run()
    task = asyncio.create_task(run("trap '' TERM; echo up; while :; do sleep 1; done"))
    await asyncio.wait_for(run.seen.wait(), 10)
    run.cancelled.set()
    done = await asyncio.wait_for(task, 20)
    assert (done.ended_by, done.signals_sent) == ("cancelled", ("SIGTERM", "SIGKILL"))
    assert tree.members(-1, run.mark) == set()


async def test_the_process_is_waited_for_and_not_the_pipe_that_a_child_holds() -> None:
    run = Run()
    done = await asyncio.wait_for(run("sleep 300 & echo started"), 15)
    assert (done.exit_code, run.out["stdout"]) == (0, b"started\n")
    assert len(done.left) == 1
    assert run.strays.alive() == set(done.left)
    assert run.strays.stop() == 1
    assert tree.members(-1, run.mark) == set()


async def test_what_cannot_start_is_told() -> None:
    run = Run()
    with pytest.raises(CannotStart, match="No such file"):
        await run_process(
            ["/no/such/program"],
            cwd="/",
            environment={},
            mark=run.mark,
            timeout_s=1,
            sink=run.sink,
            cancelled=run.cancelled,
            strays=run.strays,
        )


async def test_only_listed_variables_are_passed_on() -> None:
    run = Run()
    await run("env")
    assert b"s3cret-value" not in run.out["stdout"]
    names = {line.partition(b"=")[0] for line in run.out["stdout"].split(b"\n")}
    assert {b"PATH", b"TERM", b"INTERLOCK_CALL"} <= names


def test_secret_values_are_masked_by_the_name_of_their_variable() -> None:
    known = secrets_of({"GH_TOKEN": "ghp_0123456789", "SHORT_TOKEN": "x", "EDITOR": "vim-with-long-name"})
    assert masked("a ghp_0123456789 b x", known) == "a [value of GH_TOKEN] b x"
