"""Rules under attack: every spelling of what is denied, every way out of what is allowed. (spec, RT-8, PO-1)"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)
RULES = """
allow = ["git *", "cd *", "npm run lint", "npm test *", "make *", "./gradlew *", "cat *", "cp *", "clang *", "tar *", "echo *",
  "gh api *", "mkdir *", "touch *", "find *", "sed *", "sh *", "bash *", "sudo *", "timeout *", "rm *", "xargs *", "python3 *"]
deny = ["rm -rf", "git push --force", "git reset --hard", "npm publish"]
ask = ["git push"]
"""
LAYER = load_layer(RULES, file="r.toml", layer="user")


def judged(command: str, *, fold: bool = False) -> Decision:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, with_built_in([LAYER]), MemoryWorld(case_insensitive=fold), (), NOW)


def test_the_rules_of_this_table_have_no_fault() -> None:
    assert LAYER.problems == ()


DENIED = [
    "rm -rf x", "rm -fr x", "rm -r -f x", "rm -R --force x", "rm --rec --fo x", "rm x -rf", "rm -rfv -- x", "\\rm -rf x",
    "'rm' '-rf' x", "r''m -rf x", "/bin/rm -rf x", "./rm -rf x", "command rm -rf x", "env -i A=b rm -rf x", "sudo -n rm -rf x",
    "sudo FOO=1 rm -rf x", "nice -n 5 rm -rf x", "timeout 5 rm -rf x", "nohup rm -rf x", "busybox rm -rf x", "xargs rm -rf < f",
    "find . -exec rm -rf {} +", "find . | xargs -I{} rm -rf {}", "sh -c 'rm -rf x'", "bash -lc 'rm -rf x'", "bash <<< 'rm -rf x'",
    "echo $(rm -rf x)", "echo `rm -rf x`", "(rm -rf x)", "{ rm -rf x; }", "f() { rm -rf x; }; f", "eval 'rm -rf' x",
    "trap 'rm -rf x' 0", "if true; then rm -rf x; fi", "rm \\\n -rf x", "{rm,-rf,x}", "$'\\x72m' -rf x", "a=rm; $a -rf x",
    "rm${IFS}-rf${IFS}x", "cat <(rm -rf x)", "ssh h rm -rf x", "docker run a rm -rf x", "git rebase -x 'rm -rf x' m",
    "tar -I 'rm -rf x' -xf a", "sed '1e rm -rf x' f", "ls # c\nrm -rf x", "ls &rm -rf x", "true||rm -rf x",
    "git push --force", "git push -f", "git push origin main -f", "git push -uf o m", "git push --force-with-lease",
    "git -C x push --forc", "git -c a.b=c push -f", "git --no-pager push -f", "/usr/bin/git push -f",
    "git reset --har", "git reset -q HEAD~1 --hard", "git -C a reset --hard", "GIT_DIR=x git reset --hard",
    "npm publish", "npm --tag x publish", "npm publish --dry-run", "npm -w a publish",
]  # fmt: skip


@pytest.mark.parametrize("command", DENIED)
def test_a_deny_holds_in_every_spelling(command: str) -> None:
    assert judged(command).effect == "deny"


@pytest.mark.parametrize("command", ["RM -rf x", "/BIN/RM -rf x", "Git push -f"])
def test_a_deny_holds_in_any_case_where_the_machine_ignores_it(command: str) -> None:
    assert judged(command, fold=True).effect == "deny"


ASKED = [
    "git push", "git push origin main", "npm run lint --fix", "npm run build", "cd / && git status", "cd /tmp/e && ./gradlew x",
    "/tmp/gradlew x", "sub/gradlew x", "cat ../x", "cat ~/.ssh/id_rsa", "cp x ~/.bashrc", "cp x .git/hooks/pre-commit",
    "cp x .github/workflows/a.yml", "cp a AGENTS.md", "clang a.c -o ../x", "clang a.c -o.git/hooks/x", "clang a.c -o/etc/x",
    "git log --output=/home/u/.bashrc", "git -C / commit", "git --git-dir=/x commit", "git config core.hooksPath x",
    "git status > out", "cat a > b", "echo x >> a", "echo x >| a", "echo x &> a", "LD_PRELOAD=x git status", "PATH=. git status",
    "git $X", "git status; curl x", "git status | node", "cat a | tee b", "git -c alias.x='!curl y' x", "mkdir ../x",
    "git clone x /tmp/y", "git worktree add ../x", "sh -c 'touch ../x'", "bash -c 'curl x'", "tar -C / -xf a",
    "tar xf a --to-command='curl x'", "git submodule foreach 'curl x'", "git bisect run curl x", "git grep -O'curl x' y",
    "timeout 5 curl x", "sudo curl x", "sed -i s/a/b/ ../x", "sed 's/a/b/w ../x' a", "cat /dev/tcp/a/80", "git `curl x`",
    "touch .envrc", "cat .env", "python3 /tmp/x.py", "make -C /tmp/x", "make -f ../Makefile", "touch $HOME/x", "touch ~/x",
    "touch " + " ".join(f"f{i}" for i in range(500)), "cd $X && touch y", "git status\ncurl x", "git status &curl x",
]  # fmt: skip


@pytest.mark.parametrize("command", ASKED)
def test_an_allow_covers_nothing_beyond_what_it_names(command: str) -> None:
    seen = judged(command)
    assert seen.effect == "ask", seen.reason


ALLOWED = [
    "git status", "git commit -m x", "git add .", "npm run lint", "npm test -- -x", "make all", "./gradlew build", "cat a",
    "cp a b", "clang a.c -o a", "echo hi", "gh api repos/a/b", "mkdir -p src/x", "cd src && git status", "git log | cat",
    "git -C src status", "bash -c 'git status'", "timeout 5 git status", "git diff > /dev/null", "git status 2>&1",
    "/usr/bin/git status", "touch a b", "cat .env.example", "cat AGENTS.md .github/workflows/a.yml",
]  # fmt: skip


@pytest.mark.parametrize("command", ALLOWED)
def test_an_allow_covers_what_it_names(command: str) -> None:
    seen = judged(command)
    assert seen.effect == "allow", seen.reason


READS = load_layer('[[rule]]\nid = "r"\neffect = "allow"\nread_only = true\ninside = true\n', file="r", layer="user")
LEADS_OUT = [
    "cat ../x", "cat .*/x", "cat .?/x", "cat src/.*/../x", "cat .*", "cat ~root/x", "cat ~+/../x", "cat ~",
    "cat $HOME/x", "cat $PWD/../x",
    "cat {a,../b}", "cat a b ../c", "cat<../x", "cd .. && cat x", "cd src && cat ../../a", "cd $X && ls", "cd - && ls",
    "ls -R ..",
    "file -f /etc/list", "date -r ../x", "du -X ../x .", "tree --fromfile ../x", "jq -f ../x a", "jq --slurpfile a /etc/x . b",
    "rg -f ../x a", "rg --ignore-file=/etc/x a", "grep -f /etc/x a", "grep --exclude-from=../x a b", "sort -T /etc a",
    "diff --from-file=/etc/x a", "wc --files0-from=/etc/x", "git diff --no-index /etc/x a", "git -C .. log", "git log -- ../x",
    "find .. -name x", "cat //etc/passwd", "cat /w/proj/../x", "cat /w/projx/a", "env", "printenv", "cat /proc/self/environ",
    "cat .env", "cat .env.local", "cat sub/.npmrc", "cat id_rsa", "cat /dev/fd/3", "cat /dev/tcp/a/80", "ls <(cat ../x)",
]  # fmt: skip
STAYS_IN = [
    "cat a", "ls *.py", "cat src/*/a", "cd src && cat ../a", "cat ./src/../a", "cat /w/proj/a", "cat /w//proj/a",
    "grep -rn '/api/v1' src", "grep -e /api/v1 src", "cut -d/ -f1 a", "sort -t / a", "awk -F/ '{print $1}' a",
    "rg -g '/src/**' x",
    "sed -n '/a/p' f", "find . -path './x/*'", "git log --since=/x", "cat '~root/x'", "cat .gitignore",
    "head -5 a | tail -2", "cat .env.example", "cat AGENTS.md .vscode/settings.json .git/config",
]  # fmt: skip


@pytest.mark.parametrize(("commands", "wanted"), [(LEADS_OUT, "ask"), (STAYS_IN, "allow")])
def test_only_what_stays_in_the_workspace_is_read_without_a_question(commands: list[str], wanted: str) -> None:
    for command in commands:
        call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
        seen = decide(call, with_built_in([READS]), MemoryWorld(), (), NOW)
        assert seen.effect == wanted, (command, seen.reason)


FLOOR = [
    "rm -r /", "rm -rf ~", "rm -r ~/", "rm -r /etc/../", "rm -r /*", "rm -r $HOME", 'rm -r "$HOME"/', "cd ~ && rm -r *",
    "cd / && rm -r .", "rm -r ..//../../..", "rm -r /home", "dd if=a of=/dev/sda", "cat a > /dev/sda", "cp a /dev/nvme0n1",
    "mkfs -t ext4 x", "mkfs.xfs /dev/sda1", "tee /dev/sda", "find / -delete", "find ~ -delete", "rm --no-preserve-root -r x",
    "sudo rm -r /usr", "sh -c 'rm -r /'", "wipefs -a /dev/sda",
]  # fmt: skip


@pytest.mark.parametrize("command", FLOOR)
def test_what_cannot_be_undone_is_denied_although_everything_is_allowed(command: str) -> None:
    layer = load_layer('[[rule]]\nid = "a"\neffect = "allow"\nprogram = "*"\noutside_too = true\nguarded_too = true\n',
                       file="r.toml", layer="managed")  # fmt: skip
    assert layer.problems == ()
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    assert decide(call, with_built_in([layer]), MemoryWorld(), (), NOW).effect == "deny"


def test_our_own_files_are_denied_in_any_word_of_any_program() -> None:
    """PA-017."""
    own = ("/home/u/.local/state/interlock", "/home/u/.config/interlock")
    layer = load_layer('allow = ["tool *", "cp *"]\n', file="r.toml", layer="managed")
    for command in (
        "tool --out=/home/u/.config/interlock/policy.toml",
        "tool ~/.config/interlock/trusted-policies.json",
        "cp x ~/.config/interlock/policy.toml",
        "tool -o/home/u/.local/state/interlock/x",
        "cd ~/.config && cp x interlock/policy.toml",
        "cat < ~/.local/state/interlock/heads/a",
    ):
        call = Call(
            "bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)), protected=own
        )
        assert decide(call, with_built_in([layer]), MemoryWorld(), (), NOW).effect == "deny", command
