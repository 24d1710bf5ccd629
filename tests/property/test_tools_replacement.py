"""Edits touch nothing but what they match; diffs are true. (spec RT-9)"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.tools import replacement
from interlock.runtime.tools.diff import unified

LINES = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"", b"a b", b"\xe9"]), st.sampled_from([b"\n", b"\r\n", b"\r"])),
    max_size=12,
)


def joined(lines: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join(text + end for text, end in lines)


@given(LINES, LINES, st.text("ab\n", min_size=1, max_size=6), st.text("abc\n", max_size=6))
def test_bytes_outside_a_match_stay_as_they_are(before: list, after: list, old: str, new: str) -> None:
    data = joined(before) + b"MARK" + joined(after)
    matches = replacement.find(data, old.encode())
    for match in matches:
        made = replacement.replace(data, [match], old.encode(), new.encode())
        assert made.startswith(data[: match.start])
        assert made.endswith(data[match.end :])
        normal = data[match.start : match.end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert normal == old.encode()
        middle = made[match.start : len(made) - (len(data) - match.end)]
        assert middle.replace(b"\r\n", b"\n").replace(b"\r", b"\n") == new.encode()


@given(LINES, LINES)
def test_a_diff_holds_every_change_and_counts_it(before: list, after: list) -> None:
    old, new = joined(before), joined(after)
    diff = unified(old, new, "f")
    body = diff.text.split("\n")[2:]
    assert sum(line.startswith("+") for line in body) == diff.added
    assert sum(line.startswith("-") for line in body) == diff.removed
    assert (diff.added or diff.removed) if old != new else not diff.added and not diff.removed
    assert new.count(b"\n") - old.count(b"\n") in (diff.added - diff.removed + d for d in (-1, 0, 1))
