"""Guards hold for folders and kinds, and for what walks a folder; worktrees are ordinary. (spec RT-5, RT-7, PO-2, PO-8)"""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts import guard_table
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import ANY
from interlock.runtime.policy.facts.guard import guard_of
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.policy.verdict.decision import Decision
from interlock.runtime.tools.world import PosixWorld

NOW = datetime(2026, 1, 10, tzinfo=UTC)
READS = '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n'
COMMIT = 'allow = ["git commit *"]\n'


def judge(
    root: Path, tool: str, given: dict[str, Any], *, rules: str = READS, agent: str = "", mode: str = ""
) -> Decision:
    top = f'mode = "{mode}"\n' if mode else ""
    layer = load_layer(top + rules, file="p.toml", layer="user")
    assert not layer.problems, layer.problems
    call = made(root, tool, given, agent)
    return decide(call, with_built_in([layer]), PosixWorld(), (), NOW)


def made(root: Path, tool: str, given: dict[str, Any], agent: str = "") -> Call:
    form = "" if agent else ANY
    return make_call(agent, tool, given, cwd=str(root), workspace=(str(root),), home="/home/u", form=form)


def run(root: Path, command: str, **more: Any) -> Decision:
    return judge(root, "bash", {"command": command}, **more)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with credentials, in a repository."""
    root = tmp_path / "w"
    for name in ("a.py", "src/b.py", "secrets/key", "node_modules/x/server.key"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    git(root, "init", "-q")
    return root


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.email=a@b.c", "-c", "user.name=a")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


GUARDED = [
    ".git", ".git/HEAD", ".git/index", ".git/refs/heads/main", ".git/worktrees/x/HEAD", "sub/.git/objects/aa", "sub/.git",
    "bare.git/hooks/pre-commit", ".hg/hgrc", ".gitmodules", "lefthook.yml", "lefthook.toml", ".lefthook.yaml",
    "lefthook-local.yml", ".config/lefthook.json", ".lefthook/pre-commit/x.sh", "mise.toml", ".mise.toml", "mise.local.toml",
    ".mise/tasks/x", ".config/mise/config.toml", ".config/mise.toml", ".devcontainer/devcontainer.json", ".devcontainer.json",
    ".devcontainer/x/devcontainer.json", ".cargo/config.toml", ".cargo/config", "crate/.cargo/config.toml", ".husky/pre-push",
    ".tool-versions", ".vscode/tasks.json", "x.code-workspace", ".envrc", ".pre-commit-config.yaml", ".mcp.json",
    ".claude/settings.json", ".claude/worktrees", ".codex/config.toml", ".gemini/settings.json", "opencode.json",
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases/yarn.cjs", "pip.conf", ".gitpod.yml", "simple-git-hooks.json",
    ".lintstagedrc.json", ".dir-locals.el", ".nvim.lua", ".exrc", "sitecustomize.py", "x.pth", "rust-toolchain.toml",
    ".mvn/extensions.xml", "gradle/wrapper/gradle-wrapper.properties", ".bazelrc", "devenv.nix", "bunfig.toml",
    ".github/workflows/x.yml", ".github/copilot-instructions.md", ".LEFTHOOK.yml", ".Git/HEAD",
]  # fmt: skip
ORDINARY = [
    "src/a.py", ".claude/worktrees/f/src/a.py", ".claude/worktrees/f", ".codex/worktrees/x/README.md", "package.json", "Makefile",
    "conftest.py", ".github/CODEOWNERS", "docs/lefthook.md", "cargo/config.toml", "x.git", "githooks.md", ".gitignore",
]  # fmt: skip
WORKTREE_GUARDED = [
    ".claude/worktrees/f/.git", ".claude/worktrees/f/.claude/settings.json", ".claude/worktrees/f/CLAUDE.md",
    ".claude/worktrees/f/lefthook.yml", ".claude/worktrees/f/.claude/worktrees/g/.vscode/tasks.json",
]  # fmt: skip


@pytest.mark.parametrize("path", [*GUARDED, *WORKTREE_GUARDED])
def test_what_starts_programs_later_is_never_written_unasked(root: Path, path: str) -> None:
    for tool, agent, given in (
        ("write_file", "", {"path": path, "content": ""}),
        ("Write", "claude", {"file_path": path, "content": ""}),
        ("apply_patch", "codex", {"input": f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch"}),
    ):
        assert judge(root, tool, given, agent=agent, mode="accept-edits").effect == "ask", (tool, path)


@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_files_and_those_of_worktrees_are(root: Path, path: str) -> None:
    decision = judge(root, "edit_file", {"path": path, "old_string": "a", "new_string": "b"}, mode="accept-edits")
    assert decision.effect == "allow", decision.reason


def test_a_repository_of_another_name_is_guarded_too(root: Path) -> None:
    subprocess.run(["git", "init", "-q", "--separate-git-dir", str(root / "apart"), str(root / "sub")], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(root / "store")], check=True)
    for path in ("apart/hooks/pre-commit", "apart/config", "store/hooks/post-receive", "sub/.git"):
        assert judge(root, "write_file", {"path": path, "content": ""}, mode="accept-edits").effect == "ask", path
    assert judge(root, "write_file", {"path": "sub/a.py", "content": ""}, mode="accept-edits").effect == "allow"


SECRET = [".env", ".env.local", ".env.production", "x/.ENV", "prod.env", "id_rsa", "id_ed25519_work", "deploy.pem", "ca-key.pem",
          "tls.key", "store.p12", ".netrc", ".aws/credentials", ".npmrc", ".ssh/config", "auth.json", ".git-credentials",
          "service-account-x.json", ".bash_history"]  # fmt: skip
OPEN = [".env.example", ".env.local.example", ".env.sample", "example.env", "id_rsa.pub", "cacert.pem", "fullchain.pem",
        "public.pem", "id_map.py", "environment.py", "keys.py", ".envrc", ".npmignore"]  # fmt: skip


@pytest.mark.parametrize(("path", "is_secret"), [*[(p, True) for p in SECRET], *[(p, False) for p in OPEN]])
def test_credentials_are_known_by_kind(root: Path, path: str, is_secret: bool) -> None:
    assert bool(guard_of(f"/w/{path}", "read")) is is_secret
    assert judge(root, "read_file", {"path": path}).effect == ("ask" if is_secret else "allow")


WALKS = ["grep -rn KEY .", "rg --hidden KEY", "rg -uu KEY .", "find . -type f -name '.e*' -exec cat {} +"]


@pytest.mark.parametrize("command", [*WALKS, "git show :0:.env", "cat .env"])
def test_a_walk_over_credentials_asks_as_reading_them_does(root: Path, command: str) -> None:
    (root / ".env").write_text("KEY=1\n")
    decision = run(root, command)
    assert (decision.effect, "credentials" in decision.reason) == ("ask", True), decision.reason


@pytest.mark.parametrize("command", [*WALKS, "rg KEY", "grep -rn KEY src"])
def test_a_walk_without_credentials_passes(root: Path, command: str) -> None:
    assert run(root, command).effect == "allow"


def test_hidden_credentials_do_not_trouble_a_program_that_passes_over_them(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    assert run(root, "rg KEY").effect == "allow"
    (root / "tls.key").write_text("x")
    assert run(root, "rg KEY").effect == "ask"


@pytest.mark.parametrize(
    ("agent", "tool"), [("claude", "Grep"), ("opencode", "grep"), ("gemini", "search_file_content")]
)
def test_another_agents_search_asks_where_credentials_lie(root: Path, agent: str, tool: str) -> None:
    given = {"pattern": "KEY", "path": "."}
    assert judge(root, tool, given, agent=agent).effect == "allow"
    (root / ".env").write_text("KEY=1\n")
    assert judge(root, tool, given, agent=agent).effect == "ask"
    # our own leaves them out, so there is nothing to ask about
    assert judge(root, "grep", given).effect == "allow"
    assert made(root, "grep", given).leaves_out
    assert not made(root, tool, given, agent).leaves_out


def test_more_files_than_are_looked_at_ask(root: Path) -> None:
    world = PosixWorld()
    assert world.find_secret(str(root), True, 10_000) == ""
    assert world.find_secret(str(root), True, 2) is None


DENY = READS + '[[rule]]\nid = "no"\neffect = "deny"\npath = "secrets/**"\n'


@pytest.mark.parametrize(
    ("tool", "given", "want"),
    [
        ("grep", {"pattern": "x", "path": "secrets"}, "deny"),
        ("grep", {"pattern": "x", "path": "./src/../secrets/"}, "deny"),
        ("glob", {"pattern": "secrets/*"}, "deny"),
        ("glob", {"pattern": "*", "path": "secrets"}, "deny"),
        ("grep", {"pattern": "x"}, "allow"),
        ("glob", {"pattern": "**/*"}, "allow"),
        ("grep", {"pattern": "x", "path": "secrets/key"}, "deny"),
    ],
)
def test_a_deny_holds_where_a_walk_begins(root: Path, tool: str, given: dict[str, Any], want: str) -> None:
    assert judge(root, tool, given, rules=DENY).effect == want


def test_a_folder_that_a_deny_covers_whole_is_denied_and_an_allow_stays_narrow(root: Path) -> None:
    assert run(root, "ls secrets", rules=DENY).effect == "deny"
    assert run(root, "grep -r x secrets", rules=DENY).effect == "deny"
    assert run(root, "grep -r x .", rules=DENY).effect == "ask"
    narrow = '[[rule]]\nid = "a"\neffect = "allow"\nprogram = "rm"\npath = "secrets/**"\n'
    assert run(root, "rm -r secrets", rules=narrow).effect == "ask"


def test_a_linked_worktree_belongs_to_its_repository(root: Path) -> None:
    git(root, "add", "a.py")
    git(root, "commit", "-q", "-m", "x")
    tree = root.parent / "tree"
    git(root, "worktree", "add", "-q", str(tree))
    rules = COMMIT + DENY
    assert run(tree, "git status", rules=rules).effect == "allow"
    assert run(tree, "git commit -m x", rules=rules).effect == "allow"
    assert run(tree, "git show HEAD:secrets/key", rules=rules).effect == "deny"
    # a folder that only says so is none: the repository does not know of it
    other = root.parent / "other"
    other.mkdir()
    (other / ".git").write_text((tree / ".git").read_text())
    assert run(other, "git status", rules=rules).effect == "ask"
    assert judge(tree, "write_file", {"path": ".git", "content": ""}, mode="accept-edits").effect == "ask"


def test_a_submodule_belongs_to_its_project(root: Path) -> None:
    git(root, "add", "a.py")
    git(root, "commit", "-q", "-m", "x")
    whole = root.parent / "whole"
    whole.mkdir()
    git(whole, "init", "-q")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "sub")
    assert run(whole / "sub", "git status", rules=DENY).effect == "allow"
    assert run(whole / "sub", "git show HEAD:secrets/key", rules=DENY).effect == "deny"
    (whole / ".git/modules/sub/config").write_text("[core]\n\tworktree = /elsewhere\n")
    assert run(whole / "sub", "git status", rules=DENY).effect == "ask"


def test_every_word_of_the_tables_stands_there_once_and_in_lower_case() -> None:
    for text in (guard_table._AGENTS + guard_table._STARTS, guard_table._CREDENTIALS, guard_table._NO_CREDENTIALS):
        words = [word for _, row in guard_table._words(text) for word in row]
        assert sorted(set(words)) == sorted(words)
        assert all(word == word.lower() for word in words)
