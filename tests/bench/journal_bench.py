"""Speed and size of the journal: writing, decoding, indexing, following, opening a big one.

CPU times; what is compared is run in turn, best of three. `INTERLOCK_BENCH_BYTES` (default 100M) sets the size of the
big journal; the paired rows use the first 20 MB of the same text.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from interlock.runtime.events.message import UserMessage
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.columns import build
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.sources.follower import SessionFollower

_spec = importlib.util.spec_from_file_location("interlock_gen_events", Path(__file__).with_name("gen_events.py"))
assert _spec is not None
assert _spec.loader is not None
gen_events = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gen_events)

Rows = list[tuple[str, str, str]]

OPEN = """
import resource, sys, time
from pathlib import Path
from interlock.runtime.journal.columns import build
from interlock.runtime.sources.follower import SessionFollower
folder = Path(sys.argv[1])
def peak() -> int:
    # ru_maxrss begins at the size of the process that started this one; VmHWM begins anew
    try:
        status = open("/proc/self/status").read()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
follower = SessionFollower(folder)
lines = follower.tail()
first = time.perf_counter() - began
before = peak()
cpu = time.process_time()
if sys.argv[2] == "fold":
    while follower.poll(1 << 19).more:
        pass
    rows = follower.tally.lines
else:
    for columns in build(folder / "events.jsonl", 1 << 19):
        pass
    rows = len(columns)
cpu = time.process_time() - cpu
print(first, cpu, rows, peak() - before)
"""


def best(runs: list[Callable[[], object]], rounds: int = 3) -> list[float]:
    """CPU seconds of each, the best of some rounds in which they take turns."""
    times = [float("inf")] * len(runs)
    for _ in range(rounds):
        for index, run_one in enumerate(runs):
            began = time.process_time()
            run_one()
            times[index] = min(times[index], time.process_time() - began)
    return times


def run() -> Rows:
    """All rows of this file."""
    nbytes = gen_events.parse_size(os.environ.get("INTERLOCK_BENCH_BYTES", "100M"))
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        gen_events.write(home / "small/events.jsonl", nbytes=20_000_000, session="small")
        gen_events.write(home / "big/events.jsonl", nbytes=nbytes, session="big")
        return [*_append(home), *_paired(home / "small"), *_open(home / "big", nbytes)]


def _append(home: Path) -> Rows:
    os.environ["INTERLOCK_STATE_DIR"] = str(home / "state")
    rows: Rows = []
    for durable, count in ((False, 5000), (True, 300)):
        writer = JournalWriter.create(f"append-{durable}")
        began, cpu = time.perf_counter(), time.process_time()
        for n in range(count):
            writer.append(UserMessage(message_id=f"msg_{n}", text="x" * 400), durable)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        writer.close()
        label = "append with chain and head" + (", durable" if durable else "")
        rows.append((label, f"{count / wall:,.0f}/s, {cpu / count * 1e6:.0f} µs CPU each", ""))
    return rows


def _paired(folder: Path) -> Rows:
    path = folder / "events.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1]

    def whole() -> None:
        with open(path, "rb") as file:
            for line in file:
                orjson.loads(line)

    def index() -> None:
        for _ in build(path, 1 << 19):
            pass

    def follow() -> None:
        follower = SessionFollower(folder)
        while follower.poll(1 << 19).more:
            pass
        follower.close()

    def each(decode: Callable[[bytes], object]) -> Callable[[], None]:
        def loop() -> None:
            for line in lines:
                decode(line)

        return loop

    base, envelope, full, read, indexed, followed = best(
        [each(orjson.loads), each(brief), each(decode_line), whole, index, follow]
    )
    per = 1e6 / len(lines)
    return [
        ("envelope decode vs orjson.loads", f"{base / envelope:.2f}x ({envelope * per:.2f} µs a line)", ""),
        ("full decode to an event vs orjson.loads", f"{base / full:.2f}x ({full * per:.2f} µs a line)", ""),
        (
            "file -> columns vs file -> orjson.loads",
            f"{read / indexed:.2f}x ({indexed * per:.2f} µs a line)",
            ">= 0.8x",
        ),
        ("file -> columns, state, timeline vs same", f"{read / followed:.2f}x ({followed * per:.2f} µs a line)", ""),
    ]


def _open(folder: Path, nbytes: int) -> Rows:
    rows: Rows = []
    for mode, label in (("index", "index"), ("fold", "index, state and timeline")):
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(folder), mode], capture_output=True, text=True, check=True, timeout=600
        )
        first, cpu, count, growth = (float(part) for part in done.stdout.split())
        size = f"{nbytes / 1e6:,.0f} MB"
        rows.append((f"{size}: {label}", f"{cpu:.2f} s CPU, {nbytes / cpu / 1e6:.0f} MB/s, {count:,.0f} lines", ""))
        rows.append((f"{size}: memory of {label}", f"{growth / count:.0f} B a line", "<= 64 B"))
        if mode == "index":
            rows.append((f"{size}: last lines ready", f"{first * 1e3:.1f} ms", ""))
    return rows
