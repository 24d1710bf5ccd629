"""What a command would run through other programs, and what the gate must refuse."""

from __future__ import annotations

import pytest

from interlock.runtime.policy.shell import is_read_only, parse_command

_REACHES_RM = [
    "echo 'rm -rf x' | sh",
    "printf 'rm -rf %s\\n' x | bash -s",
    "cat <<'EOF' | sh\nrm -rf x\nEOF",
    "sudo -u root -- env A=1 nice -n 5 timeout -k 5 10 rm -rf x",
    "find . -type f -exec rm -rf {} +",
    "find . -execdir sh -c 'rm \"$1\"' _ {} \\;",
    "echo x | xargs -I{} rm -rf {}",
    "git -c alias.x='!rm -rf x' x",
    "git -c core.sshCommand='rm -rf x' fetch",
    "git rebase -x 'rm -rf x' main",
    "git bisect run rm -rf x",
    "git submodule foreach 'rm -rf x'",
    "GIT_SSH_COMMAND='rm -rf x' git fetch",
    "ssh host 'rm -rf x'",
    "tar cf a --checkpoint-action=exec='rm -rf x' .",
    "tar xf a --to-command='rm -rf x'",
    "awk 'BEGIN { system(\"rm -rf x\") }'",
    "sed '1e rm -rf x' a",
    "su - root -c 'rm -rf x'",
    "flock /tmp/l -c 'rm -rf x'",
    "script -qc 'rm -rf x' /dev/null",
    "watch -n 1 'rm -rf x'",
    "parallel rm -rf ::: x",
    "split --filter='rm -rf x' a",
    "vim -c ':!rm -rf x'",
    "PS4='$(rm -rf x)' bash -x s.sh",
    "x=rm; $x -rf y",
    "r$@m -rf x",
    "rm${IFS}-rf${IFS}x",
    "${q:-rm} -rf x",
    "alias ls='rm -rf'\nls x",
    "trap 'rm -rf x' 0",
    "if true; then rm -rf x; fi",
    "until rm -rf x; do :; done",
    "select a in b; do rm -rf x; done",
    "a=(1 $(rm -rf x))",
    "echo ${y:=$(rm -rf x)}",
    'echo "${y:-`rm -rf x`}"',
    "[[ -f $(rm -rf x) ]]",
    "((a=$(rm -rf x)))",
    "cat <(rm -rf x)",
    "ls > $(rm -rf x)",
    "ls |& rm -rf x",
    "function f { rm -rf x; }",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x",
    "true " + "&& true " * 3000 + "; rm -rf x",
    "echo " + "A" * 200_000 + "; rm -rf x",
    "rm -rf x\n)",
    'bash -c "rm -rf $(pwd)"',
    'eval "rm -rf $x"',
    'ssh h "rm -rf $d"',
    'git -c alias.a="!rm $x" a',
]


@pytest.mark.parametrize("command", _REACHES_RM, ids=[c[:50] for c in _REACHES_RM])
def test_rm_is_seen_wherever_it_hides(command: str) -> None:
    """spec: RT-8."""
    facts = parse_command(command, home="/home/u")
    assert "rm" in {c.program.rpartition("/")[2] for c in facts.commands}
    assert not (facts.understood and all(is_read_only(c).ok for c in facts.commands))


_NOT_READING = [
    "sort -o a a", "sort --outp=a a", "sort *", "uniq a b", "sed -i s/a/b/ f", "sed --in-pl s/a/b/ f", "sed 'w M' f",
    "git diff --output=M", "git diff --ext-diff", "git grep -Oless x", "git log --textconv", "git -c a.b=c log", "git branch x",
    "git tag v1", "git stash", "git config a.b c", "git fetch", "git remote update", "rg --pre=x y", "rg --hostname-bin x y",
    "find . -fprintf M x", "find . -delete", "find . -ok rm {} +", "split a", "tree -o M", "file -C -m x", "xxd -r a b",
    "date -s now", "date 010100002030", "hostname evil", "env -S 'touch M'", "env touch M", "FOO=1 ls", "PATH=. ls", "./ls",
    "bin/ls", "ls > M", "ls >> M", "ls 2> M", "ls &> M", "echo hi > $x", "tee M", "cp a b", "python -c 1", "node -e 1", "make",
    "less +!x a", "man ./x", "curl x", "[[ -v a[$(x)] ]]", "((a))", "echo $((a))", "printf -v x y", "test -v a", "read PATH",
    "x=1",
    "export A=b", "eval ls", "source a", "exec ls", "command rm x", "awk '{print > \"M\"}' a", "awk -f p a", "jq -f a b",
    "nl -x a", "tail -b x a", "l\u200bs", "ls\u00a0-a", "cat < /dev/tcp/1.2.3.4/5", "nohup touch a", "timeout 5 touch a",
    "bash", "bash x.sh", "bash --rcfile x -c ls", "sh -c 'touch M'", "xargs touch", "coproc ls", "ls() { touch M; }; ls",
    "ls /tmp/$(touch M)", "cat `touch M`", "awk 'BEGIN{getline x < \"/etc/passwd\"}'", "sed 'r /etc/passwd' a", "git -C x -p log",
    "GIT_PAGER=x git log", "LD_PRELOAD=./x ls", "LESSOPEN='|x' cat a", "cd /tmp; cat ../etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("command", _NOT_READING)
def test_the_gate_refuses_what_may_write_or_run(command: str) -> None:
    """spec: RT-8."""
    facts = parse_command(command, home="/home/u")
    assert not (facts.understood and all(is_read_only(c).ok for c in facts.commands))


_READING = [
    "ls", "ls -la *.py", "cat -n a b", "head -n 5 a", "tail -20 a", "wc -l a", "sort -u a", "sort -k2,2 -t, a", "uniq -c a",
    "grep -rn --include=*.py foo src", "rg -n foo src", "rg -uu --type py foo", "find . -type f -name '*.py' -print0",
    "git status --short", "git log -p -3 -- a", "git show HEAD~1 --stat", "git diff --cached", "git branch -a", "git tag -l 'v*'",
    "git rev-parse --abbrev-ref HEAD", "git blame -L 1,5 a", "git ls-files", "git remote -v", "git stash list", "git -C sub log",
    "git config --get user.name", "sed -n '1,5p;10q' a", "sed 's/a/b/g' a", "awk '{print $1, $NF}' a", "cut -d: -f1 a",
    "tr a-z A-Z < a", "diff -u a b", "du -sh .", "df -h", "stat a", "file a", "which python3", "uname -a", "date +%s", "pwd",
    "ls 2>/dev/null", "ls 2>&1 | head -5", "test -f a && echo yes", "[ -d a ] || echo no", "cd src && ls", "echo hi; pwd",
    "timeout 5 ls", "nice ls", "bash -c 'ls | wc -l'", "sh -c ls", "find . -name x -exec grep -l a {} +" , "jq .a f", "xxd a",
    "sha256sum a", "basename /a/b", "printf '%s\\n' a", "python3 --version", "env", "printenv PATH", "LC_ALL=C sort a",
]  # fmt: skip
_MAY_STILL_ASK = frozenset({"find . -name x -exec grep -l a {} +"})


@pytest.mark.parametrize("command", [c for c in _READING if c not in _MAY_STILL_ASK])
def test_the_gate_lets_everyday_reading_pass(command: str) -> None:
    """ours: a gate that asks for everything is switched off by its users."""
    facts = parse_command(command, home="/home/u")
    assert facts.understood, facts
    assert [is_read_only(c).why for c in facts.commands if not is_read_only(c).ok] == []
