"""The unified diff. (spec RT-7, UI-2; performance.md section 7)"""

from __future__ import annotations

import subprocess
from pathlib import Path
from time import process_time

import pytest

from interlock.runtime.tools.diff import unified


def applied(tmp_path: Path, before: bytes, after: bytes) -> bytes:
    """The diff is real: `git apply` makes `after` of `before` with it."""
    (tmp_path / "f").write_bytes(before)
    diff = unified(before, after, "f")
    done = subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=diff.text.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, (diff.text, done.stderr)
    return (tmp_path / "f").read_bytes()


NUMBERED = b"".join(b"line %d\n" % n for n in range(60))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\n", b"a\nb\n"),
        (b"a\nb\n", b"b\n"),
        (b"a", b"a\n"),
        (b"a\nb", b"a\nc"),
        (NUMBERED, NUMBERED.replace(b"line 5\n", b"five\n").replace(b"line 50\n", b"")),
        (NUMBERED, NUMBERED.replace(b"line 5\n", b"five\n").replace(b"line 9\n", b"nine\n")),
        (b"x\n" * 3000, b"y\nx\n" * 1500),
    ],
)
def test_a_diff_can_be_applied(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert applied(tmp_path, before, after) == after


def test_a_new_file_is_shown_in_full() -> None:
    diff = unified(None, b"one\ntwo", "n.txt")
    assert diff.text == "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    assert (diff.added, diff.removed) == (2, 0)


def test_a_changed_line_end_is_a_changed_line_and_is_marked() -> None:
    diff = unified(b"a\r\n", b"a\n", "f")
    assert "-a␍\n+a\n" in diff.text


def test_thousands_of_repeated_lines_do_not_take_minutes() -> None:
    """Unguarded, the matcher needs 78 s of processor time for this; a bound of 10 leaves room for any machine."""
    before = b"a\nb\n" * 1000
    after = b"b\na\na\n" * 700
    begun = process_time()
    diff = unified(before, after, "f")
    assert process_time() - begun < 10
    assert diff.added > 0
    assert diff.removed > 0


def test_bytes_that_are_no_text_are_shown_as_escapes() -> None:
    assert "+\\xff\\xf0(" in unified(b"", b"\xff\xf0(\n", "f").text
