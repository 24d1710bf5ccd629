"""glob and grep: the same results with ripgrep and without. (spec RT-9)"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from interlock.runtime.tools.refusal import Refusal
from interlock.runtime.tools.search import ignore, ripgrep
from interlock.runtime.tools.search.match import matcher
from interlock.runtime.tools.search.result import parse

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        ".gitignore": "*.log\n/build/\n!keep.log\ntemp*/\n",
        "a.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
        "b.log": "def ignored\n",
        "keep.log": "def kept\n",
        "build/out.py": "def built\n",
        "src/build/deep.py": "def deep\r\n",
        "src/.hidden": "def hidden\n",
        "src/.gitignore": "secret.py\n",
        "src/secret.py": "def secret\n",
        "src/temp1/x.py": "def temporary\n",
        "src/.ignore": "*.md\n",
        "src/note.md": "def note\n",
        "src/ünï.py": "def ünïcode — x\n",
        ".git/config": "def git\n",
        "image.bin": "def \0 binary\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / "latin.txt").write_bytes(b"def caf\xe9\n")
    os.symlink("a.py", tmp_path / "link.py")
    return tmp_path


def rg() -> str:
    found = ripgrep.find_ripgrep()
    assert found, "ripgrep is a test dependency"
    return found


def run(argv: list[str]) -> bytes:
    return subprocess.run(argv, capture_output=True, env=ENVIRONMENT, check=False, timeout=30).stdout


@pytest.mark.parametrize("below", [".", "src", "src/build"])
def test_the_same_files_are_listed(tree: Path, below: str) -> None:
    start = str((tree / below).resolve())
    theirs = {name.decode() for name in run(ripgrep.list_command(rg(), start)).split(b"\0") if name}
    assert set(ignore.walk(start)) == theirs
    if below == ".":
        assert {os.path.relpath(p, tree) for p in theirs} == {
            ".gitignore", "a.py", "image.bin", "keep.log", "latin.txt", "src/.gitignore", "src/.hidden", "src/.ignore",
            "src/build/deep.py", "src/ünï.py",
        }  # fmt: skip


def test_gitignore_above_the_repository_is_not_looked_at(tree: Path) -> None:
    inner = tree / "src/inner"
    (inner / ".git").mkdir(parents=True)
    (inner / "c.log").write_text("x")
    theirs = {name.decode() for name in run(ripgrep.list_command(rg(), str(inner))).split(b"\0") if name}
    assert set(ignore.walk(str(inner))) == theirs == {str(inner / "c.log")}


@pytest.mark.parametrize(
    ("pattern", "context", "ignore_case"),
    [
        ("def \\w+", 0, False),
        ("return", 1, False),
        ("DEF", 0, True),
        ("^def one\\(\\):$", 2, False),
        ("deep$", 0, False),
        ("nothing like it", 0, False),
    ],
)
def test_the_same_lines_are_found(tree: Path, pattern: str, context: int, ignore_case: bool) -> None:
    options = {"context": context, "ignore_case": ignore_case}
    ours = parse(run(ripgrep.fallback_command(pattern, str(tree), **options)).split(b"\n"))
    theirs = parse(run(ripgrep.search_command(rg(), pattern, str(tree), **options)).split(b"\n"))
    assert [f for f in ours if not f.binary] == [f for f in theirs if not f.binary]


def test_a_file_named_is_searched_even_if_it_is_ignored(tree: Path) -> None:
    name = str(tree / "b.log")
    for argv in (
        ripgrep.fallback_command("def", name, context=0, ignore_case=False),
        ripgrep.search_command(rg(), "def", name, context=0, ignore_case=False),
    ):
        assert [f.count for f in parse(run(argv).split(b"\n"))] == [1]


def test_binary_files_are_told_apart(tree: Path) -> None:
    found = parse(
        run(ripgrep.fallback_command("def", str(tree / "image.bin"), context=0, ignore_case=False)).split(b"\n")
    )
    assert [f.binary for f in found] == [True]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "src/a.py", True),
        ("*.py", "a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/*.py", "a.py", True),
        ("*.{py,md}", "n/a.md", True),
        ("test_?.py", "test_1.py", True),
        ("*", ".hidden", True),
        ("./src/*.py", "src/a.py", True),
        ("[ab].py", "c.py", False),
    ],
)
def test_name_patterns(pattern: str, path: str, fits: bool) -> None:
    assert matcher(pattern)(path) is fits


def test_a_pattern_of_too_many_braces_is_refused() -> None:
    with pytest.raises(Refusal):
        matcher("{a,b}" * 30)


def test_ripgrep_is_found_beside_python_when_it_is_not_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert shutil.which("rg") is None
    found = ripgrep.find_ripgrep()
    assert found is None or os.access(found, os.X_OK)
