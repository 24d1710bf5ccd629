"""Whom a host takes for an agent's process, told from a table that the test writes (ASK-9)."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from interlock.runtime.asks.discovery import HostInfo, OtherHosts, announce
from interlock.runtime.asks.hand import touched
from interlock.runtime.asks.lineage import Known, Lineage
from interlock.runtime.asks.process import ProcessRow, start_token
from interlock.runtime.tools import brand

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="brands are a matter of Linux")


@dataclass
class Table:
    """Processes 1 (init), 10 (a person's shell), 20 (a program in it), and what a test adds."""

    rows: dict[int, ProcessRow] = field(default_factory=dict)
    in_units: dict[int, tuple[str, ...]] = field(default_factory=dict)
    marks: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.add(1, 0, name="systemd", terminal=False)
        self.add(10, 1, name="bash")
        self.add(20, 10, name="interlock")

    def add(self, pid: int, parent: int, *, name: str = "sh", terminal: bool = True, session: int = 0) -> None:
        self.rows[pid] = ProcessRow(parent, pid, session or pid, f"t{pid}", name, terminal)

    def row(self, pid: int) -> ProcessRow | None:
        return self.rows.get(pid)

    def marked(self, pid: int) -> bool | None:
        return pid in self.marks

    def foreign(self, pid: int) -> bool | None:
        return False

    def units(self, pid: int) -> tuple[str, ...]:
        return self.in_units.get(pid, ())


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(brand, "is_branded", lambda pid: False)  # the pids of the table are nobody's
    return Table()


def test_a_persons_program_is_let_in(table: Table) -> None:
    assert Lineage(table).objection(20) is None


def test_what_descends_from_an_agent_of_another_host_is_refused(table: Table) -> None:
    lineage = Lineage(table)
    lineage.known.add(HostInfo(protocol=1, pid=7, start_time="t7", socket="/s", agents=()).known)
    assert lineage.objection(20) is None
    lineage.known.add(Known(agents={10: "t10"}))
    assert "descends" in (lineage.objection(20) or "")


def test_a_pid_that_was_given_again_is_no_agent(table: Table) -> None:
    lineage = Lineage(table)
    lineage.known.add(Known(agents={10: "an earlier start"}))
    assert lineage.objection(20) is None


def test_below_a_host_that_adopts_orphans_all_is_refused_and_the_host_itself_is_not(table: Table) -> None:
    lineage = Lineage(table)
    lineage.known.add(HostInfo(protocol=1, pid=10, start_time="t10", socket="/s", all_below=True).known)
    assert "below a host" in (lineage.objection(20) or "")
    assert lineage.objection(10) is None


def test_a_mark_above_counts_as_one_of_its_own(table: Table) -> None:
    table.marks.add(10)
    assert "mark" in (Lineage(table).objection(20) or "")


@pytest.mark.parametrize("name", ["atd", "cron", "crond", "anacron"])
def test_what_a_timer_started_is_refused(table: Table, name: str) -> None:
    table.add(30, 1, name=name, terminal=False)
    table.add(31, 30)
    table.add(32, 31)
    assert f"{name} started it" in (Lineage(table).objection(32) or "")


@pytest.mark.parametrize(
    ("units", "terminal", "is_let_in"),
    [
        (("user.slice", "user-1000.slice", "session-3.scope"), True, True),
        (("user.slice", "user-1000.slice", "session-3.scope"), False, True),
        (("user.slice", "user-1000.slice", "user@1000.service", "app.slice", "app-konsole@1.service"), True, True),
        (("user.slice", "user-1000.slice", "user@1000.service", "app.slice", "run-u7.service"), True, False),
        (("user.slice", "user-1000.slice", "user@1000.service", "app.slice", "mine.service"), False, False),
        (("system.slice", "atd.service"), False, False),
        (("system.slice", "cron.service"), False, False),
        (("system.slice", "run-u7.service"), False, False),
    ],
)
def test_a_service_is_told_from_a_terminal(
    table: Table, units: tuple[str, ...], terminal: bool, is_let_in: bool
) -> None:
    table.add(30, 1, terminal=terminal)
    table.in_units[30] = units
    assert (Lineage(table).objection(30) is None) == is_let_in


def test_a_multiplexer_that_an_agent_named_needs_a_hand(table: Table) -> None:
    hands = iter((False, True))
    seen: list[tuple[int, int, str]] = []

    def hand(peer, server, program, may_type) -> bool:
        seen.append((peer, server, program))
        assert may_type(20)
        assert not may_type(99)
        return next(hands)

    table.add(30, 1, name="tmux: server", terminal=False)
    table.add(31, 30)
    lineage = Lineage(table, hand)
    assert lineage.typed(31) is None
    lineage.known.touched |= touched("tmux send-keys y Enter")
    assert "no person" in (lineage.typed(31) or "")
    assert lineage.typed(31) is None
    assert seen == [(31, 30, "tmux")] * 2
    assert lineage.typed(20) is None, "another terminal needs none"
    assert lineage.objection(31) is None, "to watch needs none"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tmux ls", {"tmux"}),
        ("env -i /usr/bin/tmux -L x new -d", {"tmux"}),
        ("sh -c 'zellij run -- x; screen -X stuff y'", {"zellij", "screen"}),
        ("byobu", {"tmux"}),
        ("grep -r tmuxinator .", set()),
        ("touch a.screenshot", set()),
        ("", set()),
    ],
)
def test_what_a_command_may_type_into(text: str, named: set[str]) -> None:
    assert touched(text) == named


def test_what_a_host_tells_is_read_once_and_again_when_it_changed(run_dir) -> None:
    made = announce(run_dir / "host-1-0.sock", ())
    others = OtherHosts()
    assert others.news().agents == {}
    child = subprocess.Popen(["sleep", "60"])
    try:
        started = start_token(child.pid) or ""
        made.tell(Known(agents={child.pid: started}, touched={"tmux"}))
        news = others.news()
        assert (news.agents, news.touched) == ({child.pid: started}, {"tmux"})
        assert others.news() == Known()
    finally:
        child.kill()
        child.wait()
    made.tell(Known())
    assert others.news().agents == {}, "what has ended is told no more"


@LINUX
def test_a_brand_stays_with_all_that_descends_and_is_on_nobody_else() -> None:
    script = "sleep 60 & echo $!; exec sleep 60"
    parent = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert brand.is_branded(parent.pid) is False
        brand.brand_tree(parent.pid)
        assert brand.is_branded(parent.pid)
        assert brand.is_branded(child)
        assert brand.is_branded(0) is False
        with subprocess.Popen(["sleep", "60"]) as other:
            assert brand.is_branded(other.pid) is False, "what this process starts carries none"
            other.kill()
    finally:
        parent.kill()
        parent.communicate()
        subprocess.run(["kill", "-9", str(child)], check=False)


@LINUX
def test_this_process_and_those_above_it_are_never_branded() -> None:
    for pid in brand.lineage_of(os.getpid()):
        brand.brand_tree(pid)
    assert brand.is_branded(0) is False


@LINUX
def test_a_process_that_is_gone_cannot_be_told() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert brand.is_branded(child.pid) is None
