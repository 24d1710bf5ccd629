"""Which repositories a git command enters, and what it would start there; git itself makes them. (spec PO-1, FT-019)"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interlock.runtime.tools.git_index import gitlinks
from interlock.runtime.tools.git_place import find_git_place, find_repository, hooks_folder, submodules

GIT = (
    "git",
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@t",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "init.defaultBranch=m",
)


def git(folder: Path, *words: str) -> str:
    return subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "file").write_text("x\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A repository with a submodule that has a submodule, and one that only its index knows."""
    for name in ("deep", "middle", "outer", "unlisted"):
        repository(tmp_path / name)
    git(tmp_path / "middle", "submodule", "add", str(tmp_path / "deep"), "inner")
    git(tmp_path / "middle", "commit", "-qm", "sub")
    git(tmp_path / "outer", "submodule", "add", str(tmp_path / "middle"), "sub")
    git(tmp_path / "outer", "submodule", "update", "--init", "--recursive")
    os.rename(tmp_path / "unlisted", tmp_path / "outer/un listed")
    git(tmp_path / "outer", "-c", "advice.addEmbeddedRepo=false", "add", "un listed")
    return tmp_path / "outer"


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_submodule_is_found(nested: Path, version: str) -> None:
    for number in range(300):
        (nested / f"f{number}").write_text("x")
    git(nested, "add", ".")
    git(nested, "update-index", "--index-version", version)
    found = find_repository(str(nested))
    assert found is not None
    assert sorted(os.path.relpath(inner.top, nested) for inner in submodules(found)) == [
        "sub",
        "sub/inner",
        "un listed",
    ]


def test_what_a_submodule_would_start_is_told(nested: Path) -> None:
    assert find_git_place(str(nested)).programs == ()  # type: ignore[union-attr]
    git(nested / "sub", "config", "core.fsmonitor", "./x")
    executable(nested / ".git/modules/sub/modules/inner/hooks/post-index-change")
    found = find_git_place(str(nested))
    assert found is not None
    assert found.programs == ("core.fsmonitor = ./x (in sub)",)
    assert found.hooks == (f"{nested}/.git/modules/sub/modules/inner/hooks/post-index-change",)


def test_the_hook_of_a_reading_command_is_told_wherever_it_lies(tmp_path: Path) -> None:
    top = repository(tmp_path / "a")
    assert find_git_place(str(top)).hooks == ()  # type: ignore[union-attr]
    hook = executable(top / ".git/hooks/post-index-change")
    assert find_git_place(str(top)).hooks == (str(hook),)  # type: ignore[union-attr]
    hook.chmod(0o644)
    assert find_git_place(str(top)).hooks == ()  # type: ignore[union-attr]
    executable(top / "h/post-index-change")
    git(top, "config", "core.hooksPath", "h")
    assert find_git_place(str(top)).hooks == (f"{top}/h/post-index-change",)  # type: ignore[union-attr]


def test_git_agrees_about_the_place_of_hooks(tmp_path: Path) -> None:
    top = repository(tmp_path / "a")
    git(top, "worktree", "add", "-q", "../b")
    for folder in (top, tmp_path / "b"):
        for setting in (None, "h", ".husky/_", str(tmp_path / "all")):
            if setting is not None:
                git(top, "config", "core.hooksPath", setting)
            found = find_repository(str(folder))
            assert found is not None
            said = git(folder, "rev-parse", "--git-path", "hooks").strip()
            assert os.path.realpath(hooks_folder(found)) == os.path.realpath(folder / said)
        git(top, "config", "--unset", "core.hooksPath")


@pytest.mark.parametrize("form", ["2", "4", "split", "sha256", "late"])
def test_submodules_are_found_in_every_form_of_the_index(tmp_path: Path, form: str) -> None:
    """The entries that git itself lists with the mode of a submodule."""
    top = tmp_path / "a"
    top.mkdir()
    git(top, "init", "-q", *(["--object-format=sha256"] if form == "sha256" else []))
    for name in ("a file", "deep/er/b", "deep/er/c", "z"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    git(top, "add", "-A")
    object_name = ("1" * 64) if form == "sha256" else ("1" * 40)
    for place in ("deep/sub", "inner", "zz/last"):
        git(top, "update-index", "--add", "--cacheinfo", f"160000,{object_name},{place}")
    if form in ("2", "4"):
        git(top, "update-index", f"--index-version={form}")
    if form == "split":
        git(top, "update-index", "--split-index")
    if form == "late":
        git(top, "update-index", "--skip-worktree", "inner")
    assert gitlinks(str(top / ".git"), 32 if form == "sha256" else 20) == ("deep/sub", "inner", "zz/last")


def test_an_index_that_cannot_be_read_is_no_index_without_submodules(tmp_path: Path) -> None:
    assert gitlinks(str(tmp_path)) == ()
    (tmp_path / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\5" + b"\0\0\xe0\0")
    with pytest.raises(ValueError, match=r"cut short|not found|subsection"):
        gitlinks(str(tmp_path))
    (tmp_path / "index").write_bytes(b"else\0\0\0\2\0\0\0\5" + b"\0\0\xe0\0")
    with pytest.raises(ValueError, match="form"):
        gitlinks(str(tmp_path))
