"""What a call stands on, and in which words a change is told. (spec ASK-3)"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.tools.footing import order_table, python
from interlock.runtime.tools.footing.collect import footing_of
from interlock.runtime.tools.footing.item import Budget, Footing, Item, told
from interlock.runtime.tools.footing.look import MAX_DIGESTED, look_at
from interlock.runtime.tools.world import PosixWorld

EVERY = frozenset({"read", "write", "execute", "network"})


def footing(folder: Path, command: str, **more: Any) -> Footing:
    real = os.path.realpath(folder)
    call = Call("bash", {"command": command}, real, (real,), str(folder / "home"), EVERY, **more)
    world = PosixWorld()
    return footing_of(call, decide(call, Policy(), world), world, {"PATH": os.environ["PATH"]})


def changes(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    return Footing.of([Item("path", "e/x", before)]).changes(Footing.of([Item("path", "e/x", after)]))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"kind": "folder", "real": "/w/e"}, {"kind": "folder", "real": "/o", "link": "/o"}, "e/x became a link to /o"),
        ({"link": "a"}, {"link": ""}, "e/x: link was a, is  now"),
        ({"kind": "missing"}, {"kind": "file"}, "e/x appeared"),
        ({"kind": "file"}, {"kind": "missing"}, "e/x is gone"),
        ({"kind": "file"}, {"kind": "folder"}, "e/x was a file, is a folder now"),
        ({"real": "/w/e/x"}, {"real": "/o/x"}, "e/x leads to /o/x, no longer to /w/e/x"),
        ({"inside": "True"}, {"inside": "False"}, "e/x is outside the workspace now"),
        ({"guard": ""}, {"guard": "credentials"}, "e/x is guarded now: credentials"),
        ({"identity": "1:2"}, {"identity": "1:3"}, "e/x is another one than was shown"),
        ({"content": "a"}, {"content": "b"}, "e/x holds something else than it did"),
        ({"names": "a\0b"}, {"names": "a\0b\0c"}, "e/x has c now"),
        ({"names": "a\0b"}, {"names": "b"}, "e/x has a no longer"),
    ],
)
def test_a_change_is_told_in_plain_words(before: dict[str, str], after: dict[str, str], said: str) -> None:
    assert changes(before, before) == ()
    assert changes(before, after) == (said,)


def test_many_changes_are_told_by_the_first_of_them_and_their_number() -> None:
    many = [Item("path", f"f{n}", {"kind": "missing"}) for n in range(9)]
    now = [Item("path", f"f{n}", {"kind": "file"}) for n in range(9)]
    assert told(Footing.of(many).changes(Footing.of(now))).endswith("f4 appeared; and 4 more")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b, c as d\n", ["a", "a/b", "c"]),
        ("from a import (\n  b,\n  c as d,  # why\n)\n", ["a", "a/b", "a/c"]),
        ("from . import x\nfrom ..y import z", ["p/q/x", "p/y", "p/y/z"]),
        ("if True: import a; import b", ["a", "b"]),
        ("from a \\\n  import b", ["a", "a/b"]),
        ("import_module('a.b')\n__import__(\"c\")", ["a", "a/b", "c"]),
        ("def broken(:\n    import a\n", ["a"]),
        ("'import' + x", []),
    ],
)
def test_imports_are_read_from_any_text(text: str, found: list[str]) -> None:
    assert sorted(python.imported(text, "/w/p/q", ["/w"])) == sorted(f"/w/{path}" for path in found)


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("python3.12", "python"),
        ("/usr/bin/perl5.36", "perl"),
        ("node", "node"),
        ("pip3", "pip3"),
        ("x2", "x2"),
        ("7z", "7z"),
    ],
)
def test_a_program_is_known_without_its_version(program: str, name: str) -> None:
    assert order_table.plain_name(program) == name


def test_what_may_run_a_file_is_followed_and_what_only_moves_it_is_not() -> None:
    for name in ("sh", "python3.12", "make", "nodejs", "awk", "git", "ssh", "tsc", "sudo", "source", "no-such-program"):
        assert order_table.runs_files(name), name
    for name in ("cat", "cp", "rm", "mkdir", "echo", "tee", "ls", "wc"):
        assert not order_table.runs_files(name), name


class TestLooking:
    def test_nothing_that_waits_is_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "Makefile").symlink_to("pipe")
        os.symlink("loop", tmp_path / "loop")
        held = footing(tmp_path, "make; sh pipe; cat < loop; sh /dev/zero")
        assert held.changes(footing(tmp_path, "make; sh pipe; cat < loop; sh /dev/zero")) == ()
        assert held.items["path", "pipe"].fields["kind"] == "other"

    def test_a_large_file_is_told_by_its_times(self, tmp_path: Path) -> None:
        with (tmp_path / "big").open("wb") as big:
            big.truncate(MAX_DIGESTED + 1)
        first = footing(tmp_path, "sh < big")
        with (tmp_path / "big").open("r+b") as big:
            big.write(b"x")
        os.utime(tmp_path / "big", ns=(1, 1))
        assert first.changes(footing(tmp_path, "sh < big")) == ("big holds something else than it did",)

    def test_an_absent_path_is_held_by_the_folder_above(self, tmp_path: Path) -> None:
        item = look_at(str(tmp_path / "a/b/c"), what="path", name="c", depth="content", budget=Budget())
        assert item.fields["kind"] == "missing"
        assert item.fields["real"] == os.path.realpath(tmp_path) + "/a/b/c"
        (tmp_path / "a").mkdir()
        assert look_at(str(tmp_path / "a/b/c"), what="path", name="c", depth="content", budget=Budget()) != item

    def test_names_that_are_no_text_are_held_too(self, tmp_path: Path) -> None:
        (tmp_path / os.fsdecode(b"n\xff.log")).write_text("")
        held = footing(tmp_path, "rm -f *.log")
        assert held.digest
        (tmp_path / os.fsdecode(b"n\xff.log")).unlink()
        assert held.changes(footing(tmp_path, "rm -f *.log")) != ()


class TestBounds:
    def test_what_is_over_a_bound_is_said(self, tmp_path: Path) -> None:
        for number in range(2_100):
            (tmp_path / f"f{number}.py").write_text("")
        (tmp_path / "many.sh").write_text(" ".join(f"w{n}" for n in range(2_000)))
        said = " ".join(footing(tmp_path, "pytest; sh many.sh; cat " + "x " * 500 + "; rm -f *.py").unbound)
        for part in ("than are looked at", "names more than 800 things", "more than 400 words", "the names that *.py"):
            assert part in said

    def test_files_that_name_each_other_come_to_an_end(self, tmp_path: Path) -> None:
        for number in range(400):
            names = " ".join(f"s{(number * 7 + k) % 400}.sh" for k in range(20))
            (tmp_path / f"s{number}.sh").write_text(f"sh {names}\n")
        held = footing(tmp_path, "sh s0.sh")
        assert "more files than are followed" in " ".join(held.unbound)

    def test_a_fault_of_ours_equals_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("interlock.runtime.tools.footing.collect.program_items", broken)
        held = footing(tmp_path, "ls")
        assert "a bug" in held.unbound[0]
        assert held.changes(footing(tmp_path, "ls")) != ()
