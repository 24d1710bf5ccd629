"""Where file tools may go. (spec RT-7; cases PA-006, PA-010, PA-012, PA-018, PA-020, BC-091)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.runtime.tools.atomic import write_atomic
from interlock.runtime.tools.baseline import read_whole
from interlock.runtime.tools.refusal import Refusal
from interlock.runtime.tools.workspace import Place, Workspace, open_file


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/victim.txt").write_text("original\n")
    (tmp_path / "ws/real.txt").write_text("in\n")
    return tmp_path


def test_a_path_is_relative_to_the_first_root(ground: Path) -> None:
    place = Workspace([ground / "ws"]).locate("real.txt")
    assert (place.real, place.shown, place.kind, place.parts) == (
        f"{ground}/ws/real.txt",
        "real.txt",
        "file",
        ("real.txt",),
    )


@pytest.mark.parametrize(
    "written", ["../outside/victim.txt", "/etc/passwd", "../ws-secret/key", "a/../../outside/x", "/dev/fd/3", ".."]
)
def test_what_resolves_outside_is_refused_and_the_real_path_is_named(ground: Path, written: str) -> None:
    (ground / "ws-secret").mkdir()
    (ground / "ws/a").mkdir()
    with pytest.raises(Refusal, match="outside the workspace: it resolves to /") as refused:
        Workspace([ground / "ws"]).locate(written)
    assert (refused.value.code, refused.value.field) == ("runtime_precondition_failed", "path")


@pytest.mark.parametrize(
    ("written", "why"), [("file\0.txt/../../etc/passwd", "NUL"), ("", "empty"), ("x" * 300, "cannot be used")]
)
def test_what_is_no_path_is_refused(ground: Path, written: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        Workspace([ground / "ws"]).locate(written)


def test_links_that_form_a_loop_are_told(ground: Path) -> None:
    os.symlink("b", ground / "ws/a")
    os.symlink("a", ground / "ws/b")
    with pytest.raises(Refusal, match="ELOOP"):
        Workspace([ground / "ws"]).locate("a")


def test_dollar_and_tilde_are_names_like_any_other(ground: Path) -> None:
    workspace = Workspace([ground / "ws"])
    assert workspace.locate("$HOME/.ssh/id").real == f"{ground}/ws/$HOME/.ssh/id"
    assert workspace.locate("~/x").real == f"{ground}/ws/~/x"


def test_a_link_inside_leads_to_its_target_inside(ground: Path) -> None:
    os.symlink("real.txt", ground / "ws/inner.md")
    assert Workspace([ground / "ws"]).locate("inner.md").real == f"{ground}/ws/real.txt"


def test_a_root_that_is_a_link_works(ground: Path) -> None:
    os.symlink("ws", ground / "entry")
    place = Workspace([ground / "entry"]).locate("real.txt")
    assert read_whole(place)[0] == b"in\n"


@pytest.mark.parametrize("target", ["../outside/victim.txt", "../outside/new.txt", "../outside"])
def test_a_link_that_leads_out_is_refused_also_when_it_dangles(ground: Path, target: str) -> None:
    os.symlink(target, ground / "ws/link")
    for written in ("link", "link/a/b/c.txt"):
        with pytest.raises(Refusal, match=r"outside the workspace|not a folder|cannot be used"):
            Workspace([ground / "ws"]).locate(written)


def test_a_link_swapped_in_after_the_look_is_not_followed(ground: Path) -> None:
    """SB-019, BC-091: resolution is checked again at open, component by component."""
    workspace = Workspace([ground / "ws"])
    (ground / "ws/sub").mkdir()
    (ground / "ws/sub/f.txt").write_text("x")
    folder, file = workspace.locate("sub/f.txt"), workspace.locate("real.txt")
    fresh = workspace.locate("sub/new.txt")
    (ground / "ws/sub/f.txt").unlink()
    (ground / "ws/sub").rmdir()
    os.symlink("../outside", ground / "ws/sub")
    (ground / "ws/real.txt").unlink()
    os.symlink("../outside/victim.txt", ground / "ws/real.txt")
    for place in (folder, file):
        with pytest.raises(Refusal):
            open_file(place)
    with pytest.raises(Refusal):
        write_atomic(fresh, b"X", expected=None)
    assert sorted(os.listdir(ground / "outside")) == ["victim.txt"]
    assert (ground / "outside/victim.txt").read_text() == "original\n"


def test_a_fifo_is_no_regular_file_and_blocks_nobody(ground: Path) -> None:
    os.mkfifo(ground / "ws/pipe")
    with pytest.raises(Refusal, match="not a regular file"):
        open_file(Workspace([ground / "ws"]).locate("pipe"))


class TestAtomicWrite:
    def place(self, ground: Path, name: str) -> Place:
        return Workspace([ground / "ws"]).locate(name)

    def test_keeps_the_mode(self, ground: Path) -> None:
        (ground / "ws/real.txt").chmod(0o751)
        place = self.place(ground, "real.txt")
        write_atomic(place, b"new", expected=read_whole(place)[1])
        assert (ground / "ws/real.txt").stat().st_mode & 0o7777 == 0o751
        assert (ground / "ws/real.txt").read_bytes() == b"new"

    def test_refuses_another_version_and_leaves_nothing_behind(self, ground: Path) -> None:
        place = self.place(ground, "real.txt")
        seen = read_whole(place)[1]
        (ground / "ws/real.txt").write_text("in2")
        with pytest.raises(Refusal) as refused:
            write_atomic(place, b"new", expected=seen)
        assert refused.value.code == "stale_file_baseline"
        assert {p.name: p.read_text() for p in (ground / "ws").iterdir()} == {"real.txt": "in2"}

    def test_never_replaces_a_file_that_appeared_meanwhile(self, ground: Path) -> None:
        place = self.place(ground, "deep/new.txt")
        (ground / "ws/deep").mkdir()
        (ground / "ws/deep/new.txt").write_text("theirs")
        with pytest.raises(Refusal):
            write_atomic(place, b"ours", expected=None)
        assert (ground / "ws/deep/new.txt").read_text() == "theirs"
        assert os.listdir(ground / "ws/deep") == ["new.txt"]

    def test_makes_missing_folders_for_a_new_file(self, ground: Path) -> None:
        write_atomic(self.place(ground, "a/b/c.txt"), b"x", expected=None)
        assert (ground / "ws/a/b/c.txt").read_bytes() == b"x"
