"""Paths that are guarded although they may lie in the workspace: whoever writes them makes something else run or trust.

Promises: compared component by component, in lower case, so that no spelling passes on a file system that ignores
case; says in words what the path decides. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from interlock.runtime.policy.programs.option import names

AGENT_FILES = {
    ".claude": "Claude Code",
    ".claude.json": "Claude Code",
    "claude.md": "Claude Code",
    "claude.local.md": "Claude Code",
    ".codex": "Codex",
    ".gemini": "Gemini CLI",
    "gemini.md": "Gemini CLI",
    ".geminiignore": "Gemini CLI",
    ".cursor": "Cursor",
    ".cursorrules": "Cursor",
    ".cursorignore": "Cursor",
    ".windsurf": "Windsurf",
    ".windsurfrules": "Windsurf",
    ".vscode": "VS Code",
    ".idea": "JetBrains IDEs",
    ".mcp.json": "MCP clients",
    "mcp.json": "MCP clients",
    "opencode.json": "opencode",
    "opencode.jsonc": "opencode",
    ".opencode": "opencode",
    ".agents": "agents that read .agents",
    ".aider.conf.yml": "Aider",
    ".clinerules": "Cline",
    ".roo": "Roo Code",
    ".roorules": "Roo Code",
    ".continue": "Continue",
    ".amazonq": "Amazon Q",
    ".kiro": "Kiro",
    ".zed": "Zed",
    "copilot-instructions.md": "GitHub Copilot",
    "agents.md": "every agent that reads AGENTS.md",
    "agents.override.md": "every agent that reads AGENTS.md",
    "interlock.toml": "Interlock",
    "interlock-policy.toml": "Interlock",
    ".interlock": "Interlock",
}
"""Guarded component (lower case) -> the agent whose rules would change."""
_AGENT_PAIRS = {
    (".config", "opencode"): "opencode",
    (".config", "zed"): "Zed",
    (".config", "interlock"): "Interlock",
    ("application support", "interlock"): "Interlock",
    ("state", "interlock"): "Interlock",
}
OWN_FILES = frozenset(("interlock.toml", "interlock-policy.toml", ".interlock"))
"""Components (lower case) of a project's own rules and limits for Interlock."""
_SHELL_FILES = names(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin "
    ".zlogout .kshrc .cshrc .tcshrc .login .inputrc .envrc .xprofile .xinitrc .xsession .pam_environment "
    ".tmux.conf .vimrc .exrc .nvimrc .emacs .gdbinit .lldbinit .pdbrc .pythonrc .pythonstartup .irbrc .pryrc "
    ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .wgetrc .curlrc .screenrc .mailcap .direnvrc .tool-versions "
    ".mise.toml"
)
_SHELL_PAIRS = (
    (".config", "fish"), (".config", "environment.d"), (".config", "autostart"), (".config", "systemd"), ("etc", "profile.d"),
    (".local", "bin"), ("library", "launchagents"), ("library", "launchdaemons"), (".vim", "plugin"), (".config", "nvim"),
    ("etc", "cron.d"), ("var", "spool"), (".config", "direnv"),
)  # fmt: skip
_GIT_FILES = frozenset(
    (".gitconfig", ".gitmodules", ".gitattributes", ".lfsconfig", ".husky", ".pre-commit-config.yaml")
)
SECRET_NAMES = names(
    ".env .ssh .aws .gnupg .kube .netrc _netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf .azure .boto .s3cfg "
    ".vault-token .terraformrc .terraform.d .password-store .htpasswd .authinfo id_rsa id_ed25519 id_ecdsa "
    "id_dsa credentials.json .credentials.json service-account.json keyring keyrings .mozilla .bitcoin "
    ".dockercfg"
)
_SECRET_PAIRS = (
    (".docker", "config.json"), (".config", "gh"), (".config", "gcloud"), (".config", "op"), (".config", "rclone"),
    (".cargo", "credentials"), (".cargo", "credentials.toml"), (".gem", "credentials"), (".config", "git"),
    (".codex", "auth.json"),
    ("etc", "shadow"), ("etc", "gshadow"), ("etc", "sudoers"), ("etc", "sudoers.d"), ("library", "keychains"),
    (".local", "keyrings"), ("share", "keyrings"), ("google-chrome", "default"),
    (".m2", "settings.xml"), (".gradle", "gradle.properties"),
)  # fmt: skip
_ENV_SAMPLES = frozenset((".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"))
_CI = (
    (".github", "workflows"), (".github", "actions"), (".gitlab-ci.yml",), (".gitlab",), (".circleci",), ("jenkinsfile",),
    (".ci",), (".travis.yml",), ("azure-pipelines.yml",), (".azure-pipelines",), ("bitbucket-pipelines.yml",),
    (".buildkite",), (".drone.yml",), (".woodpecker",), (".woodpecker.yml",), ("appveyor.yml",), (".appveyor.yml",),
    (".forgejo", "workflows"), (".gitea", "workflows"), (".teamcity",), ("cloudbuild.yaml",), (".cirrus.yml",),
)  # fmt: skip
_CI_NAMES = frozenset(run[0] for run in _CI)


def is_own_rule_file(path: str) -> bool:
    """Whether this path holds a project's rules for Interlock: what the agent itself is bound by."""
    return any(part in OWN_FILES for part in path.lower().split("/"))


@lru_cache(maxsize=4_096)
def guard_of(path: str, use: Literal["read", "write"]) -> str:
    """Why this real path is guarded against this use, "" when it is not."""
    parts = [part.lower() for part in path.split("/") if part]
    if why := _always(path, parts):
        return why
    return _on_write(parts) if use == "write" else ""


def _always(path: str, parts: Sequence[str]) -> str:
    if path.startswith(("/proc/", "/dev/fd", "/dev/std")) or path == "/proc":
        return "a path of a process, not of a file"
    if any(part in SECRET_NAMES or _is_env(part) for part in parts) or _has_pair(parts, _SECRET_PAIRS):
        return "credentials"
    return ""


def _is_env(part: str) -> bool:
    return (part == ".env" or part.startswith(".env.")) and part not in _ENV_SAMPLES


def _on_write(parts: Sequence[str]) -> str:
    if _runs_in_git(parts):
        return "version control runs what stands here"
    for pair, agent in _AGENT_PAIRS.items():
        if _has_pair(parts, (pair,)):
            return f"changes the rules of {agent}"
    for part in parts:
        if part in AGENT_FILES:
            return f"changes the rules of {AGENT_FILES[part]}"
    if any(part in _SHELL_FILES for part in parts[-1:]) or _has_pair(parts, _SHELL_PAIRS):
        return "a shell or program of yours runs it when it starts"
    if not _CI_NAMES.isdisjoint(parts) and any(_has_run(parts, run) for run in _CI):
        return "continuous integration runs what stands here"
    return ""


def _runs_in_git(parts: Sequence[str]) -> bool:
    if any(part in _GIT_FILES for part in parts):
        return True
    if ".git" not in parts:
        return False
    rest = parts[parts.index(".git") + 1 :]
    return (
        not rest
        or rest[0] in ("hooks", "config", "config.worktree", "modules", "info", "commondir")
        or bool({"hooks", "config"} & {rest[-1], *rest[:-1]})
    )


def _has_pair(parts: Sequence[str], pairs: Sequence[tuple[str, str]]) -> bool:
    return any(pair in pairs for pair in pairwise(parts))


def _has_run(parts: Sequence[str], run: tuple[str, ...]) -> bool:
    return any(tuple(parts[i : i + len(run)]) == run for i in range(len(parts)))
