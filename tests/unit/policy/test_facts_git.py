"""What is said of a git command, held against what git does in real repositories. (spec PO-1, PO-2, PO-8, RT-7)

The oracle: every file holds words of its own, so that a file's content in the output shows that it was read; the files
before and after tell what was written, and what of it was in no commit tells what was lost.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.path import PathFact, is_below
from interlock.runtime.policy.facts.subject import command_subject
from interlock.runtime.policy.programs.catalogue import program_of, programs, subcommand_of
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.verdict.decide import Decision, decide
from interlock.runtime.tools.world import PosixWorld

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READS = '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n'
DENY = READS + '[[rule]]\nid = "sec"\neffect = "deny"\npath = ["secrets/**", "**/*.pem"]\n'
ONE = DENY.replace(', "**/*.pem"', "")
GIT = 'allow = ["git *"]\n'
FILES = ("a.txt", "src/b.py", "src/deep/c.py", "secrets/key", "keep/b", "x.pem", "dir with blank/d.txt")


def run_git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    own = {
        "PATH": os.environ["PATH"], "HOME": str(folder.parent / "home"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file",
    }  # fmt: skip
    return subprocess.run(
        ["git", *words], cwd=folder, env=own, capture_output=True, timeout=60, stdin=subprocess.DEVNULL
    )


def made(folder: Path, *words: str) -> None:
    done = run_git(folder, *words)
    assert done.returncode == 0, (words, done.stderr)


def marker(name: str) -> str:
    return "holds" + re.sub(r"\W", "", name).upper()


def build(top: Path) -> Path:
    """A repository with two commits, another branch, a tag, changes on top, and files that no commit has."""
    top.mkdir(parents=True)
    made(top, "init", "-q", "-b", "main")
    for at, text in enumerate(("one", "two")):
        for name in FILES:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(f"{marker(name)}\n{text}\n")
        made(top, "add", "-A")
        made(top, "commit", "-qm", f"step {at}")
    made(top, "tag", "v1", "HEAD~1")
    made(top, "branch", "other", "HEAD~1")
    for name in ("a.txt", "src/b.py", "secrets/key", "keep/b"):
        (top / name).write_text(f"{marker(name)}\ntwo\nunsaved {name}\n")
    (top / "new.txt").write_text("unsaved new\n")
    (top / "junk").mkdir()
    (top / "junk/u.txt").write_text("unsaved junk\n")
    (top / "list").write_text("a.txt\n")
    (top / "p.patch").write_text(
        "--- a/src/deep/c.py\n+++ b/src/deep/c.py\n@@ -1,2 +1,2 @@\n holdsSRCDEEPCPY\n-two\n+three\n"
    )
    return top


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(Path(os.path.realpath(tmp_path_factory.mktemp("git"))) / "w")


@pytest.fixture
def top(original: Path, tmp_path: Path) -> Path:
    found = Path(os.path.realpath(tmp_path)) / "w"
    shutil.copytree(original, found, symlinks=True)
    return found


def judged(
    top: Path, command: str, rules: str = READS, cwd: Path | None = None, home: str = "/home/nobody"
) -> Decision:
    place = str(cwd or top)
    call = Call("bash", {"command": command}, place, (str(top),), home, frozenset(("execute",)))
    return decide(call, with_built_in([load_layer(rules, file="u.toml", layer="user")]), PosixWorld(), (), NOW)


def facts(top: Path, command: str) -> tuple[tuple[PathFact, ...], bool]:
    simple = parse_command(command).commands[0]
    call = Call("bash", {"command": command}, str(top), (str(top),), "/home/nobody", frozenset(("execute",)))
    subject = command_subject(call, simple, PosixWorld())
    return subject.paths, subject.read_only


def contents(top: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(top).parts
    }


def covers(fact: PathFact, path: str, uses: tuple[str, ...]) -> bool:
    if fact.use not in uses:
        return False
    return fact.resolved == path or fact.kind == "unknown" or (fact.below and is_below(path, fact.resolved))


# -- the oracle

PRINTING = [
    "git diff", "git diff HEAD", "git diff HEAD~1 HEAD", "git diff --cached", "git diff -- secrets", "git diff secrets",
    "git diff -- 's*'", "git diff -- ':(top)secrets'", "git diff -- ':/secrets'", "git diff -- ':!a.txt'", "git diff -- .",
    "git diff -- ':(glob)**/key'", "git diff -- ':(icase)SECRETS/KEY'", "git diff -- ':(literal)secrets/key'",
    "git diff ':(glob)**/*.py'", "git diff 'sr*'", "git diff a.txt src", "git diff v1 -- x.pem", "git diff v1..main -- keep",
    "git diff v1:secrets/key main:secrets/key", "git diff v1:secrets/key..main:secrets/key", "git diff --stat",
    "git diff --name-only", "git diff --stat -p", "git diff --stat -U1", "git diff --numstat --patch",
    "git diff --no-index a.txt keep/b",
    "git show", "git show HEAD", "git show HEAD:secrets/key", "git show :secrets/key", "git show :0:secrets/key",
    "git show :./a.txt",
    "git show HEAD:./src/b.py", "git show v1:x.pem", "git show HEAD -- secrets", "git show HEAD -- 'sec*'",
    "git show --stat HEAD",
    "git show ':/step 1'", "git show HEAD^{/step}", "git show HEAD:src", "git show -s HEAD", "git show HEAD~1 HEAD:a.txt",
    "git log", "git log -p", "git log -p -1 -- src", "git log --oneline -- secrets", "git log --patch -- '*.pem'",
    "git log --stat",
    "git log -L1,2:src/b.py", "git log -S two", "git log -G two -p", "git log -1 -u", "git log --cc -1", "git log --format=%s",
    "git grep holds", "git grep -n holds -- secrets", "git grep holds HEAD", "git grep holds v1 -- x.pem", "git grep -l holds",
    "git grep holds '*.py'", "git grep --cached holds", "git grep --untracked unsaved", "git grep -e holds -- src",
    "git blame a.txt", "git blame HEAD -- keep/b", "git annotate secrets/key", "git blame -L1,1 v1 -- x.pem",
    "git cat-file -p HEAD:secrets/key", "git cat-file blob HEAD:a.txt", "git cat-file -p HEAD", "git cat-file -t HEAD:a.txt",
    "git archive HEAD", "git archive HEAD secrets", "git archive --format=tar HEAD:src", "git diff-index -p HEAD",
    "git diff-files -p",
    "git diff-tree -p HEAD", "git diff-index HEAD", "git diff-tree -r HEAD", "git whatchanged -p -1", "git stash show -p",
    "git range-diff v1 main main",
    "git status", "git status -s", "git status -v", "git status -vv", "git ls-files", "git ls-files secrets",
    "git ls-tree -r HEAD",
    "git rev-list HEAD", "git rev-parse HEAD:a.txt", "git shortlog HEAD", "git describe --always --dirty",
    "git check-ignore a.txt",
    "git format-patch --stdout -1", "git reflog", "git reflog -p -1", "git stash list -p", "git branch -vv", "git tag -n",
    "git log -p -- ':(exclude)src'",
    "git --literal-pathspecs diff -- 'src'", "git --icase-pathspecs diff -- 'SECRETS'", "git -C src diff -- ../keep",
    "git -C src diff", "git -C src show HEAD:./b.py",
    "git -C src grep holds", "git -C src log -p", "git fast-export HEAD", "git bundle create - HEAD",
    "git hash-object a.txt", "git difftool -y -x cat HEAD -- a.txt",
    "git diff HEAD~1 a.txt", "git diff --merge-base v1", "git show v1^{commit}", "git show @{0}:a.txt",
    "git show 'HEAD@{0}:secrets/key'",
]  # fmt: skip

CHANGING = [
    "git checkout -- a.txt", "git checkout a.txt", "git checkout .", "git checkout HEAD~1 -- secrets", "git checkout v1 src",
    "git checkout 's*'",
    "git checkout -f other", "git checkout -f", "git checkout -b fresh", "git checkout -q --ours -- a.txt",
    "git checkout other -- ':(glob)**/key'",
    "git checkout --pathspec-from-file=list", "git restore a.txt", "git restore .", "git restore --source=v1 keep",
    "git restore -s v1 -SW src",
    "git restore --staged a.txt", "git restore ':/'", "git restore --pathspec-from-file=list", "git -C src restore b.py",
    "git reset --hard",
    "git reset --hard HEAD~1", "git reset HEAD~1", "git reset --soft HEAD~1", "git reset -- a.txt", "git reset --merge",
    "git clean -fd", "git clean -f",
    "git clean -n", "git clean -fdx", "git clean -fd junk", "git -C src clean -fd ..", "git stash", "git stash -u",
    "git stash push -- a.txt",
    "git stash push -m x -- secrets", "git stash -k", "git stash save x", "git rm -f a.txt", "git rm -rf secrets",
    "git rm -r --cached src", "git rm -f '*.pem'",
    "git mv src/deep moved", "git mv x.pem y.pem", "git mv x.pem keep", "git switch -f other",
    "git switch --discard-changes other", "git switch -c fresh",
    "git apply p.patch", "git apply --check p.patch", "git apply --stat p.patch", "git apply --directory=. p.patch",
    "git archive -o out.tar HEAD", "git archive --output=o/x.tar HEAD",
    "git bundle create b.bundle HEAD", "git format-patch -1", "git format-patch -o patches -1",
    "git format-patch -1 --output-directory=p2", "git diff --output=d.diff", "git log -p --output=l.diff",
    "git show --output=keep/b", "git init sub", "git init", "git clone . copy", "git clone -q ./ ../elsewhere",
    "git worktree add ../wt", "git worktree add -q -b n tree",
    "git add -A", "git add secrets", "git commit -qam x", "git commit -q -m x -- a.txt", "git branch -D other",
    "git branch n", "git tag n", "git tag -d v1", "git update-ref -d refs/tags/v1",
    "git read-tree -u --reset v1", "git checkout-index -f a.txt", "git checkout-index -a -f",
    "git checkout-index --prefix=out/ a.txt", "git config user.name x", "git config --file=c.ini a.b c",
    "git merge-file a.txt keep/b src/b.py", "git submodule add ./. mod", "git gc -q", "git reflog expire --all --expire=now",
    "git notes add -m x", "git commit --allow-empty -qm x",
    "git rebase -q --autostash other", "git cherry-pick --abort", "git revert --no-edit HEAD~1", "git bisect start",
    "git sparse-checkout set src", "git unpack-file HEAD:a.txt",
    "git fast-export --export-marks=m HEAD", "git mailsplit -omail p.patch", "git blame --contents a.txt keep/b",
    "git pull -q . other", "git fetch -q . other", "git push -q ./ main:refs/heads/z",
]  # fmt: skip


OVERWRITING = ("git show --output=keep/b", "git merge-file a.txt keep/b src/b.py")
"""Their output goes where a file stands: that is a write, as it is for every program."""


@pytest.mark.parametrize("command", PRINTING)
def test_a_file_whose_content_is_shown_is_among_the_reads(top: Path, command: str) -> None:
    if "stash" in command:
        made(top, "stash", "-q")
    found, reads = facts(top, command)
    words = list(parse_command(command).commands[0].argv[1:])
    before = contents(top)
    done = run_git(top, *words)
    shown = done.stdout.decode("utf-8", "replace")
    for name in FILES:
        path = str(top / name)
        if marker(name) in shown or f"unsaved {name}" in shown:
            assert any(covers(fact, path, ("read", "write", "delete")) for fact in found), (name, found)
    for name in ("new.txt", "junk/u.txt"):
        if f"unsaved {name.partition('.')[0].partition('/')[0]}" in shown:
            assert any(covers(fact, str(top / name), ("read",)) for fact in found), (name, found)
    if reads:
        assert contents(top) == before


@pytest.mark.parametrize("command", CHANGING)
def test_what_git_writes_and_loses_is_said(top: Path, command: str) -> None:
    found, reads = facts(top, command)
    words = list(parse_command(command).commands[0].argv[1:])
    around = top.parent
    before, kept = (
        contents(around),
        {(top / n).read_bytes() for n in FILES if not (top / n).read_text().count("unsaved")},
    )
    refs = {path for path in (top / ".git").rglob("*") if path.is_file()}
    run_git(top, *words)
    after = contents(around)
    changed = [
        p
        for p in {**before, **after}
        if before.get(p) != after.get(p) and "/.git/" not in p and not p.endswith("/.git")
    ]
    for path in changed:
        assert any(covers(fact, path, ("write", "delete")) for fact in found), (path, found)
        if path in before and before[path] not in kept and command not in OVERWRITING:
            assert any(covers(fact, path, ("delete",)) for fact in found), ("lost", path, found)
    gone = {
        path
        for path in refs
        if not path.exists() and "/logs/" not in str(path) and re.search("/refs/(tags|heads)", str(path))
    }
    for path in gone if words[0] in ("branch", "tag", "update-ref") else ():
        assert any(covers(fact, str(path), ("delete",)) for fact in found), (path, found)
    if reads:
        assert not changed


@pytest.mark.parametrize(
    "command", [c for c in CHANGING if " -n" not in c and "--check" not in c and "--stat" not in c]
)
def test_what_changes_something_is_never_allowed_as_reading(original: Path, command: str) -> None:
    assert judged(original, command).effect == "ask" or command == "git blame --contents a.txt keep/b"


# -- deny rules for files


@pytest.mark.parametrize(
    "command",
    [
        "git show :0:secrets/key", "git show :secrets/key", "git show HEAD:secrets/key", "git show HEAD -- secrets",
        "git show HEAD -- 'sec*'",
        "git show HEAD -- ':/secrets'", "git show HEAD -- ':(glob)**/key'", "git show HEAD -- ':!a.txt'", "git diff",
        "git diff HEAD", "git diff -- 's*'",
        "git log -p", "git show", "git diff-index -p HEAD", "git blame se*/key", "git blame secrets/key", "git diff ?ecrets",
        "git grep holds", "git grep holds -- se*",
        "git cat-file -p HEAD:secrets/key", "git cat-file -p HEAD", "git archive HEAD", "git archive HEAD secrets",
        "git diff -- ':(icase)SECRETS'", "git show HEAD:x.pem",
        "git log -L1,2:secrets/key", "git diff v1:secrets/key..main:secrets/key", "git -C secrets diff",
        "git -C src diff -- ../secrets", "git -C secrets show HEAD:./key",
        "cd secrets && git log -p", "git stash show -p", "git diff --stat -p", "git log -S two", "git whatchanged -p",
        "git reflog -p", "git show ':/step 1'", "git diff ':/secrets'",
        "git --icase-pathspecs diff -- SECRETS", "git diff -- ':(top,glob)**/*.pem'", "git diff -- ':(attr:x)'",
        "git diff -- 'secret\\s/key'", "git checkout HEAD -- secrets/key",
        "git restore .", "git show 'HEAD@{0}:secrets/key'", "git show -1 --format=%s -p",
        "git diff --no-index a.txt secrets/key", "git diff -W", "git log --cc",
    ],
)  # fmt: skip
def test_a_denied_file_is_not_reached_by_any_spelling(original: Path, command: str) -> None:
    assert judged(original, command, DENY).effect in ("ask", "deny")
    assert judged(original, command, GIT + DENY).effect in ("ask", "deny")


@pytest.mark.parametrize(
    "command",
    ["git show :0:secrets/key", "git show HEAD:secrets/key", "git blame secrets/key", "git diff -- secrets/key",
    "git show HEAD -- ':/secrets/key'",
     "git cat-file -p HEAD:x.pem", "git log -p -- secrets/key", "git -C src show HEAD:./../secrets/key",
     "git checkout -- secrets/key", "git rm -f x.pem",
     "git diff --output=secrets/o", "git archive -o secrets/o HEAD", "git grep holds -- secrets/key",
     "git log -L1,2:secrets/key"],
)  # fmt: skip
def test_an_operand_that_names_a_denied_file_denies(original: Path, command: str) -> None:
    assert judged(original, command, GIT + DENY).effect == "deny"


@pytest.mark.parametrize(
    "command",
    ["git status", "git log --oneline -5", "git diff --stat", "git diff --name-only", "git ls-files", "git log --format=%s",
    "git show --stat HEAD", "git branch -vv",
     "git diff -- src", "git show HEAD:a.txt", "git blame a.txt", "git grep holds -- src", "git diff a.txt",
     "git log -p -- src", "git rev-parse HEAD", "git reflog",
     "PAGER=cat git log -3", "GIT_PAGER=cat git log -3", "git --no-pager log", "git -c core.pager=cat log",
     "git -c color.ui=false status", "git -C src status",
     "git remote -v", "git stash list", "git worktree list", "git config --get user.name", "git tag",
     "git describe --always", "git -P diff --stat"],
)  # fmt: skip
def test_what_shows_names_or_other_files_passes_beside_a_deny(original: Path, command: str) -> None:
    seen = judged(original, command, ONE)
    assert seen.effect == "allow", seen.reason


@pytest.mark.parametrize("command", ["git show :0:.env", "git log -p -- '*.env'", "git show HEAD -- '.e*'",
                                     "git diff -- ':(glob)**/.env'",
                                     "git cat-file -p HEAD:.env", "git grep x -- '*.pem'", "git show HEAD -- '.n*'",
                                     "git blame .env"])  # fmt: skip
def test_credentials_ask_as_they_do_for_cat(original: Path, command: str) -> None:
    assert judged(original, command, READS).effect == "ask"
    assert judged(original, command, GIT).effect == "ask"


# -- what git would run


@pytest.mark.parametrize(
    ("hook", "command"),
    [
        ("post-index-change", "git status"), ("post-index-change", "git diff"), ("post-index-change", "git add a.txt"),
        ("pre-commit", "git commit -m x"),
        ("commit-msg", "git commit -m x"), ("post-checkout", "git checkout other"), ("post-checkout", "git switch other"),
        ("post-checkout", "git worktree add ../w2"),
        ("pre-push", "git push ./x"), ("post-merge", "git merge other"), ("pre-rebase", "git rebase other"),
        ("reference-transaction", "git branch n"),
        ("reference-transaction", "git tag n"), ("post-rewrite", "git commit --amend"), ("applypatch-msg", "git am p.patch"),
        ("pre-auto-gc", "git gc --auto"),
        ("post-merge", "git pull"), ("post-index-change", "git stash"), ("reference-transaction", "git fetch"),
        ("pre-commit", "git hook run pre-commit"),
        ("sendemail-validate", "git send-email p.patch"), ("prepare-commit-msg", "git revert HEAD"), ("post-index-change",
        "git reset"), ("post-index-change", "git rm a.txt"),
    ],
)  # fmt: skip
def test_a_hook_that_the_command_can_fire_asks_and_is_named(top: Path, hook: str, command: str) -> None:
    (top / f".git/hooks/{hook}").write_text("#!/bin/sh\n")
    assert hook not in judged(top, command, GIT + READS).reason
    (top / f".git/hooks/{hook}").chmod(0o755)
    seen = judged(top, command, GIT + READS)
    assert (seen.effect, f".git/hooks/{hook}" in " ".join((seen.reason, *seen.risks))) == ("ask", True)


@pytest.mark.parametrize(
    ("hook", "command"),
    [
        ("pre-commit", "git status"),
        ("pre-push", "git log"),
        ("post-index-change", "git log -3"),
        ("commit-msg", "git diff"),
    ],
)
def test_a_hook_that_the_command_cannot_fire_is_passed_over(top: Path, hook: str, command: str) -> None:
    (top / f".git/hooks/{hook}").write_text("#!/bin/sh\n")
    (top / f".git/hooks/{hook}").chmod(0o755)
    assert judged(top, command).effect == "allow"


def test_the_hooks_that_a_status_really_fires_are_in_its_entry(top: Path) -> None:
    """The table of hooks against git: each hook writes its name when it is fired."""
    for name in (
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "reference-transaction",
        "pre-push",
        "commit-msg",
        "post-commit",
        "prepare-commit-msg",
    ):
        (top / f".git/hooks/{name}").write_text(f"#!/bin/sh\necho {name} >> '{top.parent}/fired'\nexit 0\n")
        (top / f".git/hooks/{name}").chmod(0o755)
    root = program_of("git")
    assert root is not None
    missed: dict[str, set[str]] = {}
    for command in ("status", "diff", "add a.txt", "commit -qm x", "checkout -q other", "checkout -q main", "branch n",
                    "tag t", "stash", "stash pop", "reset -q",
                    "rm -q --cached x.pem", "restore --staged x.pem", "mv a.txt z.txt", "switch -q -c k",
                    "worktree add -q ../w3", "update-index --refresh", "describe --dirty --always"):  # fmt: skip
        (top.parent / "fired").write_text("")
        os.utime(top / "src/deep/c.py")
        words = command.split()
        run_git(top, *words)
        fired = set((top.parent / "fired").read_text().split())
        entry = subcommand_of(root, words[0])
        inner = subcommand_of(entry, words[1]) if entry is not None and len(words) > 1 else None
        assert entry is not None
        if rest := fired - (inner or entry).hooks:
            missed[command] = rest
    assert missed == {}


def test_settings_and_hooks_of_a_submodule_ask(top: Path) -> None:
    inner = build(top.parent / "inner")
    made(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    assert judged(top, "git status").effect == "allow"
    made(top / "sub", "config", "core.fsmonitor", "./x")
    assert judged(top, "git status").effect == "ask"
    made(top / "sub", "config", "--unset", "core.fsmonitor")
    hook = top / ".git/modules/sub/hooks/post-index-change"
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    assert judged(top, "git status").effect == "ask"


@pytest.mark.parametrize(
    ("key", "value", "command"),
    [
        ("core.hooksPath", "h", "git commit -m x"), ("core.fsmonitor", "./f", "git status"), ("diff.external", "./d",
        "git diff"), ("diff.x.textconv", "./t", "git show"),
        ("filter.x.clean", "./c", "git add a.txt"), ("filter.x.smudge", "./c", "git checkout other"), ("core.pager", "./p",
        "git log"), ("core.sshCommand", "./s", "git fetch"),
        ("credential.helper", "!./c", "git push"), ("merge.x.driver", "./m %A", "git merge other"), ("alias.co", "!rm x",
        "git co"), ("alias.l", "log -p", "git l"),
        ("core.worktree", "/etc", "git status"), ("include.path", "../x", "git status"), ("sequence.editor", "./e",
        "git rebase -i v1"),
    ],
)  # fmt: skip
def test_a_setting_that_runs_a_program_asks_under_an_allow_for_git(
    top: Path, key: str, value: str, command: str
) -> None:
    made(top, "config", key, value)
    assert judged(top, command, GIT + READS).effect == "ask"


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("git rebase -x 'make t' main", ["git", "make"]), ("git bisect run make t", ["git", "make"]),
        ("git submodule foreach 'ls x'", ["git", "ls"]),
        ("git filter-branch --tree-filter 'ls x' HEAD", ["git", "ls"]), ("git -c core.pager='ls x' log", ["git", "ls"]),
        ("git difftool -x 'ls x'", ["git", "ls"]),
        ("git grep -O'ls x' y", ["git", "ls"]), ("git grep --open-files-in-pager=ls y", ["git", "ls"]),
        ("git fetch --upload-pack='ls x' .", ["git", "ls"]),
        ("git push --receive-pack='ls x' .", ["git", "ls"]), ("git -c alias.x='!ls y' x", ["git", "ls"]),
        ("git clone -u 'ls x' . y", ["git", "ls"]),
        ("git archive --remote=. --exec='ls x' HEAD", ["git", "ls"]), ("git ls-remote --upload-pack='ls x' .", ["git",
        "ls"]), ("git clone 'ext::ls x' y", ["git", "ls"]),
    ],
)  # fmt: skip
def test_programs_that_options_carry_are_listed(command: str, programs: list[str]) -> None:
    assert sorted({c.program for c in parse_command(command).commands}) == sorted(programs)


# -- work trees and folders


def test_a_linked_worktree_belongs_to_its_repository(top: Path) -> None:
    tree = top.parent / "wt"
    made(top, "worktree", "add", "-q", str(tree))
    for command in ("git status", "git diff", "git log -p -1", "git show HEAD:a.txt", "git blame a.txt"):
        assert judged(tree, command).effect == "allow", command
    assert judged(tree, "git commit -m x", 'allow = ["git commit *"]\n').effect == "allow"
    assert judged(tree, "git config core.pager x", GIT).effect == "ask"
    assert judged(tree, "git show HEAD:secrets/key", DENY).effect == "deny"
    spoof = top.parent / "spoof"
    spoof.mkdir()
    (spoof / ".git").write_text((tree / ".git").read_text())
    assert judged(spoof, "git status").effect == "ask"


def test_a_worktree_in_an_agents_folder_is_read(top: Path) -> None:
    made(top, "worktree", "add", "-q", ".claude/worktrees/x")
    place = top / ".claude/worktrees/x"
    for command in ("git status", "git diff --stat", "git log -3"):
        assert judged(top, command, cwd=place).effect == "allow"
        assert judged(top, command.replace("git", "git -C .claude/worktrees/x", 1)).effect == "allow"
        assert judged(place, command).effect == "allow"


def test_a_folder_in_front_of_the_words_is_no_reason_to_ask(top: Path) -> None:
    rule = 'allow = ["git commit *"]\n'
    for command in (
        "git commit -m x",
        "git -C src commit -m x",
        "git -C . -C src commit -m x",
        "git --no-pager commit -m x",
    ):
        assert judged(top, command, rule).effect == "allow", command
    for command in (
        "git -C .. commit -m x",
        "git -C /etc commit -m x",
        "git -c core.editor=x commit -m x",
        "git -C src push",
        "git --git-dir=x commit -m x",
    ):
        assert judged(top, command, rule).effect == "ask", command
    build(top / "nested")
    hook = top / "nested/.git/hooks/pre-commit"
    assert judged(top, "git -C nested commit -m x", rule).effect == "allow"
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    assert judged(top, "git -C nested commit -m x", rule).effect == "ask"


def test_a_pattern_is_offered_without_the_folder(original: Path) -> None:
    seen = judged(original, "git -C src commit -m x")
    assert "git commit *" in [offer.value for offer in seen.suggestions]


# -- hosts


def test_a_remote_in_a_folder_is_told_as_that_folder(top: Path) -> None:
    made(top, "remote", "add", "near", str(top.parent / "elsewhere"))
    for command, use in (("git push near", "write"), ("git fetch near", "read"), ("git pull", "read")):
        assert any(f.use == use and f.resolved.endswith("/elsewhere") and not f.inside for f in facts(top, command)[0])
    assert judged(top, "git push near", GIT).effect == "ask"


def hosts(top: Path, command: str) -> tuple[str, ...]:
    call = Call("bash", {"command": command}, str(top), (str(top),), "/home/nobody", frozenset(("execute",)))
    return command_subject(call, parse_command(command).commands[0], PosixWorld()).hosts


def test_the_host_of_a_remote_is_that_of_its_address(top: Path) -> None:
    assert hosts(top, "git fetch origin") == ("*unknown*",)
    made(top, "remote", "add", "origin", "https://good.example/x.git")
    for command in (
        "git fetch",
        "git push",
        "git pull origin main",
        "git fetch origin",
        "git ls-remote origin",
        "git push -f origin HEAD:x",
    ):
        assert hosts(top, command) == ("good.example",), command
    made(top, "config", "remote.origin.pushurl", "git@evil.example:x")
    assert set(hosts(top, "git push origin")) == {"good.example", "evil.example"}
    assert hosts(top, "git push git@other.example:x") == ("other.example",)
    assert hosts(top, "git fetch --all") == ("*unknown*",)
    made(top, "config", "url.https://evil.example/.insteadOf", "https://good.example/")
    assert hosts(top, "git fetch origin") == ("*unknown*",)


@pytest.mark.parametrize(
    ("command", "host"),
    [("git clone https://u@h.example:8/x", "h.example"), ("git clone git@h.example:x/y", "h.example"),
     ("git clone -b x ssh://h.example/x y", "h.example"),
     ("git clone --depth 1 h.example:x", "h.example"), ("git remote add o https://h.example/x", "h.example"),
     ("git archive --remote=git@h.example:x HEAD", "h.example"),
     ("git submodule add https://h.example/x", "h.example"), ("git push -o ./x https://h.example/x", "h.example")],
)  # fmt: skip
def test_a_host_that_an_address_names_is_certain(original: Path, command: str, host: str) -> None:
    assert hosts(original, command) == (host,)


# -- the catalogue


def test_every_command_of_git_has_an_entry() -> None:
    listed = subprocess.run(["git", "help", "-a"], capture_output=True, text=True, timeout=60, check=True).stdout
    sections = listed.split("User-facing repository")[0]
    names = re.findall(r"^   ([a-z][a-z0-9-]*) ", sections, re.MULTILINE)
    root = program_of("git")
    assert root is not None
    assert len(names) > 100
    assert [name for name in names if subcommand_of(root, name) is None] == []


@pytest.mark.parametrize(
    "name",
    [
        "diff",
        "show",
        "log",
        "commit",
        "fetch",
        "grep",
        "clone",
        "checkout",
        "restore",
        "reset",
        "archive",
        "stash",
        "add",
        "status",
        "branch",
    ],
)
def test_every_option_that_git_tells_of_is_listed(name: str) -> None:
    done = subprocess.run(["git", name, "-h"], capture_output=True, text=True, timeout=60, check=False)
    told = re.findall(r"^ {4}(?:-\w, )?(--[a-z][a-z0-9-]+)( <|=<)?", done.stdout + done.stderr, re.MULTILINE)
    root = program_of("git")
    entry = subcommand_of(root, name) if root is not None else None
    assert entry is not None
    assert [option for option, _ in told if option not in entry.options] == []
    values = {f"--{long}" for long in entry.spec.long_values}
    # of `git branch` such values may be missing, and are operands without an effect
    assert name == "branch" or [option for option, value in told if value and option not in values] == []


def test_hooks_of_entries_are_hooks_of_git() -> None:
    known = {
        "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
        "commit-msg", "post-commit", "pre-rebase",
        "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
        "reference-transaction", "push-to-checkout",
        "pre-auto-gc", "post-rewrite", "sendemail-validate", "post-index-change", "*",
    }  # fmt: skip
    assert {hook for entry in programs() for hook in entry.hooks} <= known
