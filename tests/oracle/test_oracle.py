"""Generated commands touch nothing that the facts do not say. (issue 8: the oracle)

`INTERLOCK_ORACLE=N` runs N commands instead of 3,000; `INTERLOCK_LONG=1` runs 200,000. Run by itself, with a choice of
programs and with every miss made small: `python -m tests.oracle --help`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.oracle.claims import Claims, claims_of
from tests.oracle.fixture import make_fixture
from tests.oracle.generate import generate, load_entries
from tests.oracle.hunt import describe, hunt, smallest_each
from tests.oracle.sandbox import run_traced, why_not
from tests.oracle.uncovered import find_uncovered

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")]
_COUNT = int(os.environ.get("INTERLOCK_ORACLE", "200000" if os.environ.get("INTERLOCK_LONG") == "1" else "3000"))
_SHARDS = 4
_OPEN = frozenset(
    line for line in Path(__file__).with_name("open.txt").read_text().splitlines() if not line.startswith("#")
)
"""Programs that are known to miss."""
_NOTHING = Claims((), (), frozenset(), frozenset())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("oracle").resolve() / "fix"
    make_fixture(made)
    return made


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_what_commands_touch_was_said(shard: int, root: Path, tmp_path: Path):
    each = _COUNT // _SHARDS
    catch = hunt(range(shard * each, (shard + 1) * each), root, tmp_path / "scratch")
    print(f"{sum(catch.ran.values())} commands, touched {dict(catch.touched)}; {dict(sorted(catch.ran.items()))}")
    assert catch.touched["read"] > each, "the commands did next to nothing"
    misses = [miss for miss in catch.misses if miss.command.entry.split(" ")[0] not in _OPEN]
    small = smallest_each(misses, root, tmp_path / "small", 20)
    assert not misses, "\n".join(describe(miss, root, times) for times, miss in small)


_TOUCHING = (
    ("cat a.txt", "read", "ws/a.txt"),
    ("cat link-out", "read", "out/secret.txt"),
    ("cd docs && cat link-up", "read", "out/secret.txt"),
    ("cp a.txt new.txt", "write", "ws/new.txt"),
    ("mv a.txt ../out/moved", "delete", "ws/a.txt"),
    ("mv a.txt ../out/moved", "write", "out/moved"),
    ("ln b.txt other", "write", "ws/other"),
    ("ln -s ../out docs/o", "write", "ws/docs/o"),
    ("mkdir -p new/deep", "write", "ws/new/deep"),
    ("rm -r docs", "delete", "ws/docs/one.md"),
    ("chmod 600 link-in", "write", "ws/a.txt"),
    ("touch a.txt", "write", "ws/a.txt"),
    ("truncate -s0 b.txt", "write", "ws/b.txt"),
    ("ls docs", "list", "ws/docs"),
    ("find . -name a.txt -exec wc {} +", "exec", "/usr/bin/wc"),
    ("echo x > 'with blank.txt'", "write", "ws/with blank.txt"),
    ("sh -c 'cat a.txt & wait'", "read", "ws/a.txt"),
    ("echo > /dev/tcp/127.0.0.3/8080", "connect", "127.0.0.3:8080"),
)


def test_the_trace_shows_it_and_silence_is_a_miss(root: Path, tmp_path: Path):
    seen = run_traced([command for command, _, _ in _TOUCHING], root, tmp_path / "scratch")
    for (command, kind, path), touches in zip(_TOUCHING, seen, strict=True):
        wanted = path if path.startswith("/") or kind == "connect" else f"{root}/{path}"
        assert wanted in [touch.path for touch in touches if touch.kind == kind], command
        assert wanted in [touch.path for touch in find_uncovered(touches, _NOTHING, root)], command


def test_files_are_put_back_between_commands(root: Path, tmp_path: Path):
    harm = [
        "rm -rf * .git",
        "chmod 0 . a.txt",
        "echo x > hard.txt",
        "ln -sf nowhere a.txt",
        "rm -rf ~ ../out",
        "(sleep 9; rm a.txt) &",
    ]
    seen = run_traced(
        [word for one in harm for word in (one, "cat a.txt b.txt ../out/secret.txt")], root, tmp_path / "s"
    )
    wanted = {f"{root}/{name}" for name in ("ws/a.txt", "ws/b.txt", "out/secret.txt")}
    for touches in seen[1::2]:
        assert wanted <= {touch.path for touch in touches if touch.kind == "read"}


def test_a_seed_gives_the_same_command_and_every_entry_has_its_turn():
    first = [generate(seed) for seed in range(8_000)]
    assert first[:500] == [generate(seed) for seed in range(500)]
    assert {command.entry for command in first} == {entry.name for entry in load_entries()}


def test_what_is_not_understood_says_nothing_is_certain(root: Path):
    assert claims_of("$X a.txt", root).any_write
