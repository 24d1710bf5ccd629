"""A diff is read whole, whatever it is. (spec UI-2; DI-027)"""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.tui.diff_text import diff_of_new_file, read_diff, sides, word_marks

GIT = """diff --git a/src/sum.py b/src/sum.py
index 1..2 100644
--- a/src/sum.py
+++ b/src/sum.py
@@ -3,3 +3,3 @@ def total
 def total(items):
-    return sum(items) + 1
+    return sum(items)

diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
"""


def test_git_is_read() -> None:
    diff = read_diff(GIT)
    assert [file.name for file in diff.files] == ["src/sum.py", "new.txt"]
    assert (diff.added, diff.removed, diff.hunks) == (1, 1, 1)
    assert diff.summary == "2 files   +1 -1   1 hunk"
    kinds = [line.kind for line in diff.lines]
    assert kinds == [
        "file",
        "meta",
        "meta",
        "meta",
        "hunk",
        "context",
        "remove",
        "add",
        "context",
        "file",
        *["meta"] * 3,
    ]
    removed, added = diff.lines[6], diff.lines[7]
    assert (removed.old, added.new, removed.mate, added.mate) == (4, 4, 7, 6)


def test_a_removed_line_that_looks_like_a_head_stays_a_removed_line() -> None:
    diff = read_diff("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- drop\n keep\n")
    assert [(line.kind, line.text) for line in diff.lines[-2:]] == [("remove", "-- drop"), ("context", "keep")]
    assert len(diff.files) == 1


def test_plain_diffs_of_several_files_and_new_files_are_named() -> None:
    diff = read_diff(
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
    )
    assert [(file.name, file.added, file.removed) for file in diff.files] == [("new.py", 1, 0), ("gone.py", 0, 1)]
    assert [diff.lines[file.start].text for file in diff.files] == ["new.py", "gone.py"]


def test_no_newline_and_cr_are_kept() -> None:
    diff = read_diff(
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+a\n\\ No newline at end of file\n"
    )
    assert [(line.text, line.no_newline) for line in diff.lines[-2:]] == [("a\r", True), ("a", True)]


@pytest.mark.parametrize(
    "text", ["", "hello", "@@ nonsense @@", "@@ -1,99999999999999 +1 @@\n+a", "\\ lost", "+++ b/x"]
)
def test_what_is_no_diff_is_kept_as_lines(text: str) -> None:
    diff = read_diff(text)
    assert "".join(line.text for line in diff.lines).count(text.split("\n")[-1].lstrip("+\\ ")[:3]) >= (
        1 if text else 0
    )


def test_three_thousand_hunks_are_counted() -> None:
    hunks = "".join(f"@@ -{n} +{n} @@\n-a{n}\n+b{n}\n" for n in range(1, 30001, 10))
    diff = read_diff("--- a/x\n+++ b/x\n" + hunks)
    assert (diff.hunks, diff.added, len(diff.lines)) == (3000, 3000, 9003)


@given(st.lists(st.sampled_from(["a", "b", "-- x", "++ y", "@@ -1 +1 @@", "", "\\ no"]), max_size=30), st.data())
@settings(max_examples=200, deadline=None)
def test_a_diff_gives_both_texts_back(old: list[str], data: st.DataObject) -> None:
    new = data.draw(st.lists(st.sampled_from(["a", "b", "-- x", "c", "", "+++ z"]), max_size=30))
    text = "\n".join(difflib.unified_diff(old, new, "a/f", "b/f", lineterm="", n=100))
    diff = read_diff(text + "\n" if text else "")
    body = [line for line in diff.lines if line.kind in ("context", "add", "remove")]
    if text:
        assert [line.text for line in body if line.kind != "add"] == old
        assert [line.text for line in body if line.kind != "remove"] == new
    rows = sides(diff.lines)
    assert {at for row in rows for at in row if at >= 0} == set(range(len(diff.lines)))


def test_a_new_file_is_shown_in_full() -> None:
    diff = diff_of_new_file("a\nb", "x.py")
    assert [(line.kind, line.text, line.new, line.no_newline) for line in diff.lines[1:]] == [
        ("add", "a", 1, False),
        ("add", "b", 2, True),
    ]
    assert diff.summary == "1 file   +2 -0   1 hunk"


def test_words_that_differ_are_marked() -> None:
    marks = word_marks("    return sum(items) + 1", "    return sum(items)")
    assert [("    return sum(items) + 1"[a:b]) for a, b in marks.old] == [" + 1"]
    assert marks.new == []
    marks = word_marks("timeout = 10", "timeout = 120")
    assert [("timeout = 10"[a:b], "timeout = 120"[c:d]) for (a, b), (c, d) in zip(*marks, strict=True)] == [
        ("10", "120")
    ]


def test_lines_with_little_in_common_have_no_marks() -> None:
    assert word_marks("import os", "x = compute(42)") == ([], [])


@pytest.mark.parametrize(
    ("old", "new"),
    [("a b " * 200_000, "b a " * 200_000), ("x" * 500_000 + "1", "x" * 500_000 + "2"), ("a " * 400, "a b " * 200)],
)
def test_hostile_lines_are_bounded(old: str, new: str) -> None:
    for line, marks in zip((old, new), word_marks(old, new), strict=True):
        assert all(0 <= start < end <= len(line) for start, end in marks)
