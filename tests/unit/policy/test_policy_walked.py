"""The manuals of two hundred programs, walked: what each spelling of an option does, and what the shell makes of it.

`walked.jsonl` was written from the manuals before it was first judged: `deny` where `rm -rf` or `git reset --hard` would
run, `ask` where something is written, run, fetched or read elsewhere, `allow` where it plainly reads inside. (spec RT-8)
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.effect import effects
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.verdict.decide import Decision, decide

ROOT = Path(__file__).parents[3]
_POLICY = with_built_in(
    [load_layer((ROOT / "examples/policies/cases.toml").read_text(encoding="utf-8"), file="cases.toml", layer="user")]
)
_ROWS = [
    json.loads(line) for line in (ROOT / "tests/data/policy/walked.jsonl").read_text(encoding="utf-8").splitlines()
]
_PLACE = MemoryWorld(
    kinds={
        "/w/proj": "folder", "/w/proj/a": "file", "/w/proj/src": "folder", "/w/proj/src/a.py": "file", "/etc": "folder",
        "/etc/passwd": "file",
    },
    links={"/w/proj/link": "/etc", "/w/proj/pw": "/etc/passwd", "/w/proj/in": "src", "/w/proj/up": ".."},
)  # fmt: skip


def _judged(command: str, world: MemoryWorld | None = None) -> Decision:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    seen = world or MemoryWorld(kinds={"/w/proj": "folder"})
    return decide(call, _POLICY, seen, (), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("want", ["deny", "ask", "allow"])
def test_every_command_of_the_walk_is_judged_as_its_manual_says(want: str) -> None:
    rows = [row["command"] for row in _ROWS if row["want"] == want]
    assert len(rows) > 800
    missed = [(c, seen.effect, seen.reason) for c in rows if (seen := _judged(c)).effect != want]
    assert not missed


@pytest.mark.parametrize(
    "command",
    [
        "grep -R foo .", "grep -nR foo src", "grep --deref foo .", "rg -L foo", "rg --follow foo", "fd -L foo", "ls -RL",
        "ls --dereference -R", "du -L .", "tree -l", "find -L .", "find . -follow",
    ],
)  # fmt: skip
def test_going_through_links_below_a_folder_asks(command: str) -> None:
    """A link inside may lead to any folder outside, and nobody looked at all of them."""
    assert _judged(command).effect == "ask"


@pytest.mark.parametrize(
    "command", ["grep -r foo .", "rg foo", "fd foo", "ls -R", "ls -L a", "du -sh .", "tree", "find . -name x",
                "diff -r --no-dereference a b"]
)  # fmt: skip
def test_what_leaves_links_alone_passes(command: str) -> None:
    assert _judged(command).effect == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cat pw", "wc *", "cat p*", "head {a,pw}", "cat < pw", "date -r pw", "diff --to-file=pw a", "diff --from-file pw a",
        "diff -X pw a a", "grep --exclude-from=pw x a", "grep -f pw a", "fd --search-path link x", "find . -newer /etc/passwd",
        "find . -samefile ../x", "[[ -f pw ]] && ls", "[[ -r link/shadow ]]", "[[ a -nt /etc/passwd ]]", "test -f pw",
        "cd link && cat passwd", "cd in && cat ../../x", "cat in/../../x", "cat up/other", "cat link/../x", "7z l pw",
        "unrar l link/x", "ar t pw", "for f in p*; do cat \"$f\"; done", "while read l; do echo $l; done < pw",
    ],
)  # fmt: skip
def test_a_path_that_leads_out_asks_wherever_it_stands(command: str) -> None:
    assert _judged(command, _PLACE).effect == "ask"


@pytest.mark.parametrize(
    "command", ["cat a", "cat in/a.py", "cat up/proj/a", "cd in && cat a.py", "[[ -f a ]] && cat a", "[[ -d src ]] || ls",
                "diff --to-file=a src/a.py", "date -r a"]
)  # fmt: skip
def test_a_path_that_stays_inside_passes(command: str) -> None:
    assert _judged(command, _PLACE).effect == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "file -f list", "file --files-from list", "wc --files0-from=l", "sort --files0-from=l", "md5sum -c sums", "cksum -c s",
        "strings @list", "nm @list", "readelf -h @list", "7z l @list", "xargs -a l cat", "git blame -S f a",
    ],
)  # fmt: skip
def test_files_that_another_file_names_ask(command: str) -> None:
    assert _judged(command).effect == "ask"


@pytest.mark.parametrize(
    "program",
    [
        '{print $1 \\\n > "o"}', '{print $1,\n $2 > "o"}', '{print "}" > "/tmp/o"}', '{print "a;b" > "o/p"}',
        '{print(a,\nb) > "o"}', '{print /}/ > "o"}', '{print $1 # }\n > "o"}', '{print a["}"] > "/dev/x"}',
        'BEGIN{sys\\\ntem("id")}', '{print | "sh"}', '{ x = "|"; print x | "sh" }',
    ],
)  # fmt: skip
def test_an_awk_program_that_writes_is_seen_through_its_line_ends_texts_and_patterns(program: str) -> None:
    assert _judged(f"awk '{program}' a").effect == "ask"


def test_an_awk_program_of_any_length_is_read_in_bounded_work() -> None:
    assert _judged("awk '" + "print a/b " * 6_000 + "' a").effect == "ask"


@pytest.mark.parametrize(
    "command",
    ["rg --files /etc", "rg --files ..", "rg -e x ../y", "grep -e x /etc/passwd", "yq -P /etc/passwd", "yq ../a"],
)
def test_a_first_operand_is_a_file_where_no_pattern_stands_in_front(command: str) -> None:
    assert _judged(command).effect == "ask"


@pytest.mark.parametrize(
    "command", ["diff a .", "diff src .", "diff -N x .", "sdiff a .", "diff --to-file=. a", "diff -r . b"]
)
def test_comparing_a_folder_asks_where_a_name_in_it_leads_out(command: str) -> None:
    assert _judged(command, _PLACE).effect == "ask"


@pytest.mark.parametrize(
    "command", ["diff a src", "diff -r src in", "sdiff a src", "diff --to-file=src a", "diff -ru a b"]
)
def test_comparing_a_folder_passes_where_no_name_in_it_leads_out(command: str) -> None:
    assert _judged(command, _PLACE).effect == "allow"


def test_comparing_folders_looks_below_them_and_asks_where_there_are_too_many_names() -> None:
    deep = {"/w/proj": "folder", "/w/proj/d": "folder", "/w/proj/d/e": "folder", "/w/proj/x": "folder"}
    assert _judged("diff -r d x", MemoryWorld(kinds=deep)).effect == "allow"
    leads = MemoryWorld(kinds=deep, links={"/w/proj/d/e/f": "/etc/passwd"})
    assert _judged("diff -r d x", leads).effect == "ask"
    assert _judged("diff d x", leads).effect == "allow"
    full = MemoryWorld(kinds={**deep, **{f"/w/proj/d/{i}": "file" for i in range(300)}})
    assert _judged("diff d x", full).effect == "ask"


@pytest.mark.parametrize("command", ["grep foo *", "ls *", "cat ?R", "cd src && wc -l *"])
def test_a_file_whose_name_is_an_option_asks_where_a_pattern_stands_for_it(command: str) -> None:
    place = MemoryWorld(
        kinds={"/w/proj": "folder", "/w/proj/-R": "file", "/w/proj/src": "folder", "/w/proj/src/-L": "file"}
    )
    assert _judged(command, place).effect == "ask"


@pytest.mark.parametrize("command", ["grep foo -- *", "ls ./*", "echo *", "cat src/*", "cat *.py"])
def test_a_pattern_that_gives_no_option_passes(command: str) -> None:
    place = MemoryWorld(
        kinds={"/w/proj": "folder", "/w/proj/-R": "file", "/w/proj/src": "folder", "/w/proj/src/-L": "file"}
    )
    assert _judged(command, place).effect == "allow"


def test_comparing_files_or_links_as_links_passes() -> None:
    assert _judged("diff a src/a.py", _PLACE).effect == "allow"
    assert _judged("diff -r --no-dereference src src", _PLACE).effect == "allow"


@pytest.mark.parametrize(
    "command", ["sdiff -W pw a", "tail -b pw", "od -w pw", "od --width pw", "pr -n pw", "df --output pw"]
)
def test_a_letter_without_a_value_swallows_no_file(command: str) -> None:
    assert _judged(command, _PLACE).effect == "ask"


def test_an_option_behind_the_name_of_a_setting_is_what_it_is_set_to() -> None:
    """`git config user.name --list` sets the name to `--list`."""
    assert _judged("git config user.name --list").effect == "ask"
    assert _judged("git config --list").effect == "allow"


@pytest.mark.parametrize(
    "command", ["r${unset}m -rf x", "r$1m -rf x", "$unset'rm' -rf x", "r$()m -rf x", "${SUDO}rm -rf x"]
)
def test_what_may_be_empty_hides_no_program(command: str) -> None:
    assert _judged(command).effect == "deny"


@pytest.mark.parametrize("text", ["ls \u202e", "ls\u200b", "ls \r", "cat a\r\ncat b", "ls \ufeffa", "\u2066ls\u2069"])
def test_what_a_terminal_does_not_show_asks(text: str) -> None:
    """Nobody can tell what they allow when a part of it is not on the screen."""
    assert _judged(text).effect == "ask"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("alias ls='touch M'; ls", ["alias", "ls"]),
        ("shopt -s expand_aliases; alias ls='touch M'\nls", ["shopt", "alias", "touch"]),
        ("x=rm; $x -rf y", ["rm"]),
        ('x=(rm -rf y); "${x[@]}"', ["rm"]),
        ("echo 'rm -rf x' | tr a-z a-z | sh", ["echo", "tr", "sh", "rm"]),
        ("[[ -f a ]] && cat a", ["cat"]),
        ("git -c alias.x='!touch M' x", ["git", "touch"]),
        ("GIT_PAGER=cat git log", ["git", "cat"]),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='touch M' git log", ["git", "touch"]),
        ("git --exec-path=ep reset", ["git", "ep/git-reset"]),
        ("git-reset --hard", ["git-reset", "git"]),
        ("su - u -c 'touch M'", ["su", "touch"]),
        ("su u -- -c 'touch M'", ["su", "sh", "touch"]),
        ("runuser -u u -- touch M", ["runuser", "touch"]),
        ("start-stop-daemon -S -x /bin/touch -- M", ["start-stop-daemon", "/bin/touch"]),
        ("docker run --entrypoint touch alpine M", ["docker", "touch"]),
        ("tar cIf 'touch M' a b", ["tar", "touch"]),
        ("tmux if-shell true 'run-shell \"touch M\"'", ["tmux", "true", "touch"]),
        ("screen -S n -X stuff 'touch M\\n'", ["screen", "touch"]),
        ("echo '* * * * * touch M' | crontab -", ["echo", "crontab", "touch"]),
        ("expect -c 'spawn touch M'", ["expect", "touch"]),
        ("psql -c \"COPY t TO PROGRAM 'touch M'\"", ["psql", "touch"]),
        ("awk 'BEGIN{c=\"touch M\"; system(c)}'", ["awk", "touch"]),
        ("bash < <(echo touch M)", ["bash", "echo", "touch"]),
        ("ssh h 'bash -s' <<< 'touch M'", ["ssh", "bash", "touch"]),
        ("go test -exec 'touch M' ./...", ["go", "touch"]),
        ("/bin/r? -rf x", ["/bin/rm"]),
    ],
)
def test_what_would_run_is_named_once(command: str, names: list[str]) -> None:
    found = [part.program for part in _judged(command).parts if part.program]
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize("command", ["git ls-remote .", "git fetch ../other", "git clone /srv/x y"])
def test_a_repository_in_a_folder_is_no_network(command: str) -> None:
    assert not any(part.network for part in _judged(command).parts)


@pytest.mark.parametrize("command", [
    "git ls-remote origin", "git fetch", "git clone https://x/y", "git clone -b ./x git@x:y", "git push -o ./x origin",
])  # fmt: skip
def test_any_other_repository_may_be_far_away(command: str) -> None:
    assert any(part.network for part in _judged(command).parts)


@pytest.mark.parametrize(
    "command", ["xz -t -d a", "zstd -td a", "bzip2 -t -d a", "xz -l --decompress a", "gzip -ktd a"]
)
def test_a_packer_that_is_told_to_unpack_does_not_only_test(command: str) -> None:
    """ours: tried with the programs; of -t and -d the last one counts, and the archive is gone."""
    assert _judged(command).effect == "ask"


@pytest.mark.parametrize(
    "command", ["xz -dc a", "gunzip -c a", "gzip -t a", "unxz -t a", "zstd -d --stdout a", "xz -l a"]
)
def test_a_packer_that_shows_or_tests_only_reads(command: str) -> None:
    world = MemoryWorld(kinds={"/w/proj": "folder", "/w/proj/a": "file"})
    assert _judged(command, world).effect == "allow"


@pytest.mark.parametrize("command", ["git config core.hooksPath list", "git config core.pager get"])
def test_a_setting_whose_value_is_the_word_for_asking_is_written(command: str) -> None:
    assert effects(parse_command(command).commands[0]).writes == (".git/config",)


def test_a_value_that_doubles_itself_is_followed_only_so_far() -> None:
    names = [f"v{i}" for i in range(60)]
    text = "v0=xxxxxxxx; " + "; ".join(f"{b}=${a}${a}" for a, b in pairwise(names))
    assert _judged(f"{text}; $v59 x").effect == "ask"


@pytest.mark.parametrize("command", ["cat <&3", "echo x >&5", "ls 2>&4"])
def test_a_descriptor_that_the_text_did_not_open_asks(command: str) -> None:
    assert _judged(command).effect == "ask"


def test_descriptors_that_the_text_opens_are_followed() -> None:
    assert _judged("ls 3>&1 1>&2 2>&3").effect == "allow"
