"""What programs of files, archives, texts and editors touch: a table of commands with all that each reads, writes and deletes.

In `touched.jsonl` `x/**` is all below `x`, and `?x` one that only may be touched.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.programs.read_only import against_reading
from interlock.runtime.policy.programs.touch import Touch
from interlock.runtime.policy.programs.touched import Touched, touched_by

_ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/policy/touched.jsonl").read_text(encoding="utf-8").splitlines()
]


def _touched(command: str) -> Touched:
    name, *args = shlex.split(command)
    return touched_by(name, args, reads_only=not against_reading(name, args))


def _shown(touch: Touch) -> str:
    return f"{'' if touch.certain else '?'}{touch.text}{'/**' if touch.below else ''}"


def _of(command: str, use: str) -> list[str]:
    return sorted({_shown(touch) for touch in _touched(command).touches if touch.use == use})


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["command"])
def test_a_command_touches_what_its_manual_says_and_nothing_else(row: dict[str, Any]) -> None:
    found = {"reads": _of(row["command"], "read"), "writes": _of(row["command"], "write")}
    assert {**found, "deletes": _of(row["command"], "delete")} == {
        key: row[key] for key in ("reads", "writes", "deletes")
    }


def test_the_table_is_large_and_names_each_command_once() -> None:
    assert len(_ROWS) >= 250
    assert len({row["command"] for row in _ROWS}) == len(_ROWS)


@pytest.mark.parametrize(
    "row", [row for row in _ROWS if row["writes"] or row["deletes"]], ids=lambda row: row["command"]
)
def test_what_writes_or_deletes_never_passes_as_reading(row: dict[str, Any]) -> None:
    name, *args = shlex.split(row["command"])
    assert against_reading(name, args)


@pytest.mark.parametrize(
    "command",
    [
        "vim -c 'w! keep/x' a", "vim '+w keep/x' a", "vim -s keep/x a", "sqlite3 a.db '.output keep/x'",
        "emacs --batch --eval '(f \"keep/x\")'",
        "sort --no-such-option=keep/x a", "cp --nosuch keep/x b", "unknown-program -okeep/x", "unknown-program --out=keep/x",
    ],
)  # fmt: skip
def test_a_path_that_stands_in_code_or_behind_an_option_that_nobody_knows_is_told_as_one_that_may_be(
    command: str,
) -> None:
    found = _touched(command)
    assert "keep/x" in {*found.suspects, *(touch.text for touch in found.touches)}


@pytest.mark.parametrize(
    "command",
    [
        "less +!id a", "more '+!id' a", "man ./page", "man -P 'sh -c id' ls", "man -l a", "unzip a.zip", "7z x a.7z",
        "gzip a", "gunzip a.gz",
        "tar -xf a.tar", "rg --pre cat x", "rg -z x", "ag --pager id x", "fd -x id", "bat --pager id a",
        "compgen -F f", "compgen -W '$(id)'",
        "tree -R -o x", "file -C -m x", "uniq a b", "xxd a b", "yq -i . a", "lsof -D b", "alias ls=rm",
        "hash -p x ls", "sed -f a b",
        "awk -f a b", "gawk -W exec a", "objdump -S a", "sysctl -w a=b", "dmesg -c", "date -s now", "zstd -d a.zst",
        "xz --files=l -c",
    ],
)  # fmt: skip
def test_what_runs_changes_or_unpacks_is_not_reading(command: str) -> None:
    name, *args = shlex.split(command)
    assert against_reading(name, args)


@pytest.mark.parametrize(
    "command",
    [
        "tail -f log", "tail -F log", "tail --follow=name log", "less a", "less +G a", "less -R +/x a", "more a",
        "most a", "man ls",
        "man -k x", "apropos x", "lsblk", "lsblk -f", "alias", "hash", "type ls", "compgen -c", "lsof -i :3000",
        "ag x", "ag -l x src",
        "unzip -l a.zip", "zipinfo a.zip", "7z l a.7z", "tar -tf a.tar", "gzip -l a.gz", "gzip -dc a.gz",
        "zcat a.gz", "xz -l a.xz",
        "zstd -dc a.zst", "diff -r a b", "od -w16 a", "pr -e4 a", "jq . a", "yq . a", "base64 -d a", "xxd a",
        "objdump -d a", "nm a",
        "df -h", "du -sh a", "ps aux", "free -h", "uptime", "lscpu", "findmnt", "iconv -f a -t b c", "cksum a", "column -t a",
    ],
)  # fmt: skip
def test_everyday_reading_is_reading(command: str) -> None:
    name, *args = shlex.split(command)
    assert against_reading(name, args) == ""
