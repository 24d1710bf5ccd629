"""Words that only run time tells: which of them a policy of reading may let pass. (spec RT-8: what is not understood asks)"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.folder_fact import MOST_FOUND
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide

_FILE = Path(__file__).parents[3] / "examples" / "policies" / "cases.toml"
_POLICY = with_built_in([load_layer(_FILE.read_text(encoding="utf-8"), file="cases.toml", layer="user")])
_NOW = datetime(2026, 1, 10, tzinfo=UTC)
_BOUNDED = [
    "for i in {1..3}; do echo $i; done",
    "ls > /dev/null",
    "cat < /dev/null",
    "grep -n foo a /dev/null",
    '[ "$(cat a)" = x ]',
    '[ -n "$(git status --porcelain)" ] && echo dirty',
    'for d in src lib; do ls "$d"; done',
    'for d in */; do echo "$d"; ls "$d" | wc -l; done',
    'for f in src/*.py; do echo "== $f"; head -5 "$f"; done',
    'for f in *.md; do [ -f "$f" ] && wc -l "$f"; done',
    'for f in *.json; do jq .name "$f"; done',
    'for f in $(git ls-files); do echo "$f"; done',
    'for f in $(ls); do echo "$f"; done',
    "for f in $(find . -name '*.py'); do echo \"$f\"; done",
    'git ls-files | while read -r f; do echo "$f"; done',
    'while IFS= read -r line; do echo "$line"; done < a.txt',
    'while IFS=: read -r a b; do printf \'%s %s\\n\' "$a" "$b"; done < x.csv',
    'echo "Today: $(date)"',
    "echo $(date)",
    'echo "$(wc -l < a) lines"',
    "printf 'n=%s\\n' \"$(ls | wc -l)\"",
    "find . -type f -name '*.py' -exec cat {} +",
    "find . -type f -name '*.py' -exec grep -n foo {} \\;",
    "find src -name '*.ts' -exec ls -la {} \\;",
    "find . -type f -print0 | xargs -0 wc -l",
    "find . -type f -name '*.py' -print0 | xargs -0 grep -l foo",
    "diff <(git show HEAD:a) a",
    "diff <(ls a) <(ls b)",
    "cat <(echo a) b",
    "ls | xargs -n1 basename",
    "git ls-files | xargs dirname",
    "[ -d src ] && echo yes || echo no",
    'case "$(uname)" in Linux) echo l;; *) echo o;; esac',
    "if git diff --quiet; then echo clean; fi",
    "until [ -f a ]; do sleep 1; done",
    "time find . -name x",
    "time git status",
    "command -v rg && rg foo",
    "ls -la; echo; cat a",
    "printf '%s\\n' *.py",
    "echo *",
    "for f in *.py; do cat $f; done",
    "for f in *.py; do echo $f; wc -l $f; done",
]
_OPEN = [
    'for f in /etc/passwd; do cat "$f"; done',
    'for f in ../x; do cat "$f"; done',
    "for f in a /etc/passwd; do cat $f; done",
    'for f in /etc/*; do echo "$f"; done',
    'for f in /etc/*; do cat "$f"; done',
    'for f in -o; do sort "$f" a; done',
    "for f in 'w out'; do sed -n \"$f\" a; done",
    "for f in p 'w out'; do sed -n \"$f\" a; done",
    'for f in a b; do uniq x "$f"; done',
    'for f in a b; do xxd "$f" "$f"; done',
    "for f in ls rm; do $f x; done",
    "for f in rm; do $f -rf x; done",
    "for f in -rf; do rm $f x; done",
    'for f in a b; do rm -rf "$f"; done',
    'for f in *.py; do python3 "$f"; done',
    'for f in *.sh; do sh "$f"; done',
    'for f in *.sh; do . "$f"; done',
    "for f in *.sh; do source $f; done",
    "for f in 'rm -rf x'; do sh -c \"$f\"; done",
    "for f in 'rm -rf x'; do eval $f; done",
    "for c in 'rm -rf x'; do bash <<< \"$c\"; done",
    "for c in 'ls' 'rm -rf x'; do sh -c \"$c\"; done",
    'for f in a; do while :; do cat "$f"; read -r f; done; done < l',
    'for f in a; do while :; do cat "$f"; for f in /etc/passwd; do :; done; done; done',
    'for f in a; do cat "$f"; done; cat "$f"',
    'for f in a; do f=/etc/passwd; cat "$f"; done',
    'for f in a b; do cat "${f:=/etc/x}"; done',
    'for f in a b; do cat "${!f}"; done',
    'for f in HOME b; do echo "${!f}"; done',
    'for f in a b; do echo "$SECRET"; done',
    'for f in $SECRET; do echo "$f"; done',
    'for f in "${!AWS@}"; do echo "$f"; done',
    'for f in $(env); do echo "$f"; done',
    "for f in $(printf '/root/*'); do echo \"$f\"; done",
    "echo $(cat x)",
    'echo "$(cat /etc/passwd)"',
    'echo "$(npm test)"',
    'echo "$(rm -rf x)"',
    'echo "${x@P}"',
    'printf "$(cat f)" ',
    'printf -v x "$(cat f)"',
    "read PATH < a; ls",
    "read -r path; ls",
    "while read IFS; do ls; done < a",
    "while read -r l; do $l; done < a",
    'while read -r l; do sh -c "$l"; done < a',
    'while read -r l; do cat "$l"; done < a',
    'while read -r l; do rm "$l"; done < a',
    'while read -r l; do echo "$l" | sh; done < a',
    'while read -r l; do echo "$l" > o; done < a',
    'while read -r l; do echo "$l"; done < /etc/passwd',
    'while read -r l; do [ "$l" -eq 1 ]; done < a',
    "while read -r l; do [[ $l -eq 1 ]]; done < a",
    "while read -r l; do echo $((l)); done < a",
    "while read -r l; do echo ${a[$l]}; done < a",
    "read -r 'a[$(rm -rf x)]' < f",
    "for PATH in .; do ls; done",
    "for path in /e; do ls; done",
    "for LD_PRELOAD in ./x.so; do ls; done",
    "select PATH in .; do ls; done",
    "echo {PATH}>&2; ls",
    "ls {PATH}<a",
    "find . -exec cat {} +",
    "find . -type f -exec rm {} +",
    "find / -type f -exec cat {} +",
    "find .. -exec wc -l {} +",
    "find . -type f -o -name x -exec cat {} +",
    "find . ! -type f -exec cat {} +",
    "find -L . -type f -exec cat {} +",
    "find . -type f -follow -exec cat {} +",
    "find . -type f -exec sort -o {} {} \\;",
    "find . -type f -exec sed -i s/a/b/ {} +",
    "find . -type f -exec sed -n {} a \\;",
    "find . -type f -exec awk -f {} a \\;",
    "find . -type f -exec grep -f {} /etc/passwd \\;",
    "find . -type f -exec uniq a {} \\;",
    "find . -type f -exec {} \\;",
    "find . -type f -exec sh {} \\;",
    "find . -type f -exec sh -c 'cat {}' \\;",
    "find . -type f -exec cat {} + -delete",
    "find . -type f -exec cat {} + -exec rm {} +",
    "find . -type f -exec cat {}x \\;",
    "find . -type f -execdir cat {} +",
    "find . -type f -exec file -C -m {} \\;",
    "find . -type f -exec cat {} /etc/passwd \\;",
    "find $X -type f -exec cat {} +",
    "find ~/.ssh -type f -exec cat {} +",
    "find . -type f -exec cat {} + -fprint o",
    "find . -type f -exec git -C {} log \\;",
    "find . | xargs cat",
    "find . -type f | xargs -d x cat",
    "find . -type f | xargs rm",
    "find . -type f -printf '/etc/passwd\\n' | xargs cat",
    "find . -print0 | xargs -0 cat",
    "find . -type f -print0 | xargs -0 rm",
    "find . -type f -printf '/etc/passwd\\0' -print0 | xargs -0 cat",
    "cat l | xargs -0 cat",
    "cat l | xargs cat",
    "printf '/etc/passwd' | xargs cat",
    "find / -type f -print0 | xargs -0 cat",
    "find . -type f -print0 | xargs -0 sort -o",
    "find . -type f -print0 | xargs -0 sh",
    "find . -type f -print0 | cat l - | xargs -0 cat",
    "{ find . -type f -print0; cat l; } | xargs -0 cat",
    "find . -type f -print0 | xargs -0 -a l cat",
    "find . -type f -print0 | xargs -0 cat < l",
    "cat l | xargs echo | sh",
    "cat l | xargs -n1 printf",
    "diff <(cat /etc/passwd) a",
    "cat <(rm -rf x)",
    "cat <(curl x)",
    "sort -o <(cat a) b",
    "uniq a <(cat b)",
    "sh <(cat a)",
    "cat '<(x)' /etc/passwd",
    "tee >(cat)",
    "cat >(cat)",
    "sed -f <(cat a) b",
    "awk -f <(cat a) b",
    "rg --pre <(x) foo",
    "sed <(cat a) b",
    "echo ~/.ssh/*",
    "echo /etc/*",
    "echo ../*",
    "printf '%s\\n' ~/*",
    "echo *.sh | sh",
    '[ -f "$X" ]',
    "[ $(cat a) = x ]",
    'test -v "$(cat a)"',
    '[ "$(cat a)" -eq 1 ]',
]


def _effect(command: str, world: MemoryWorld | None = None) -> str:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, _POLICY, world or MemoryWorld(), (), _NOW).effect


@pytest.mark.parametrize("command", _BOUNDED)
def test_a_word_whose_every_value_only_reads_inside_passes(command: str) -> None:
    """ours: a gate that asks for a loop over files is switched off by its users."""
    assert _effect(command) == "allow"


@pytest.mark.parametrize("command", _OPEN)
def test_a_word_that_could_be_more_never_passes(command: str) -> None:
    """spec: RT-8; options by names of files, links, lines of a file that become paths, variables that programs heed."""
    assert _effect(command) != "allow"


@pytest.mark.parametrize(
    "command", ["find . -name '*.py' | xargs wc -l", "find . -type f | xargs cat", "find src -type f | xargs -n1 head"]
)
@pytest.mark.parametrize("name", ["src/a b.py", "src/it's", "src/deep/a b", "src/a\\b"])
def test_names_that_a_find_gives_xargs_pass_where_none_below_falls_apart(command: str, name: str) -> None:
    kinds = {"/w/proj": "folder", "/w/proj/src": "folder", "/w/proj/src/deep": "folder", "/w/proj/src/a.py": "file"}
    assert _effect(command, MemoryWorld(kinds=kinds)) == "allow"
    assert _effect(command, MemoryWorld(kinds={**kinds, f"/w/proj/{name}": "file"})) == "ask"


def test_more_names_than_are_looked_at_ask() -> None:
    many = {f"/w/proj/{i}": "file" for i in range(MOST_FOUND + 1)}
    assert _effect("find . -type f | xargs cat", MemoryWorld(kinds={"/w/proj": "folder", **many})) == "ask"


def test_what_a_find_gives_xargs_is_all_that_lies_below() -> None:
    rules = '[[rule]]\nid="sec"\neffect="deny"\npath="secrets/**"\n'
    policy = with_built_in([load_layer(rules, file="p.toml", layer="user")])
    for command in (
        "find . -type f -print0 | xargs -0 cat",
        "find . -type f | xargs cat",
        "find . -type f -exec cat {} +",
    ):
        call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
        assert decide(call, policy, MemoryWorld(kinds={"/w/proj": "folder"}), (), _NOW).effect != "allow"


@pytest.mark.parametrize("name", ["a -o b.py", "x *.py", "a /etc/passwd.py"])
def test_a_name_that_falls_apart_without_quotes_asks(name: str) -> None:
    """ours: `cat $f` takes a name with a blank for several."""
    world = MemoryWorld(kinds={f"/w/proj/{name}": "file", "/w/proj/c.py": "file"})
    pattern = "*/*/*.py" if "/" in name else "*.py"
    assert _effect(f"for f in {pattern}; do cat $f; done", world) == "ask"
    assert _effect(f'for f in {pattern}; do cat "$f"; done', world) == "allow"
    assert _effect(f'for f in {pattern}; do cat "$f"; cat $f; done', world) == "ask"


def test_a_loop_over_a_link_that_leads_out_asks() -> None:
    """ours: what a pattern stands for is looked at, also through a variable."""
    world = MemoryWorld(links={"/w/proj/l.py": "/home/u/.ssh/id_rsa"}, kinds={"/home/u/.ssh/id_rsa": "file"})
    assert _effect('for f in *.py; do cat "$f"; done', world) == "ask"


def test_folders_that_a_deny_speaks_of_ask_also_through_find() -> None:
    """ours: `find -exec cat` shows what is below."""
    text = _FILE.read_text(encoding="utf-8") + '\n[[rule]]\nid = "s"\neffect = "deny"\npath = "secrets/**"\n'
    policy = with_built_in([load_layer(text, file="x.toml", layer="user")])
    call = Call(
        "bash",
        {"command": "find . -type f -exec cat {} +"},
        "/w/proj",
        ("/w/proj",),
        "/home/u",
        frozenset(("execute",)),
    )
    world = MemoryWorld(kinds={"/w/proj": "folder", "/w/proj/secrets": "folder"})
    assert decide(call, policy, world, (), _NOW).effect == "ask"
