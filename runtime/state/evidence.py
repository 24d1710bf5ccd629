"""Claims against facts: which runs were checks, and what they are worth now.

Promises: a check counts for the files as they were when it ran; a pass that files changed after is stale, never
passed; a masked exit code is no pass. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from interlock.runtime.events.message import Evidence
from interlock.runtime.events.tool import ToolObservation, Verification
from interlock.runtime.events.union import AnyEvent

_GOALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "tests",
        re.compile(
            r"^(python[\d.]* -m (pytest|unittest|nose2|tox)|pytest|py\.test|tox|nox|nose2|cargo (test|nextest)|go test|"
            r"(npm|pnpm|yarn|bun)( run)? (test|t)\b|npx (jest|vitest|mocha)|jest|vitest|mocha|make (test|tests)\b|ctest|"
            r"mvn.* (test|verify)|gradlew? .*test|\./gradlew .*test|dotnet test|rspec|bundle exec rspec|phpunit|mix test|"
            r"swift test|deno test|uv run (-\S+ )*(pytest|python -m pytest)|just test)"
        ),
    ),
    (
        "build",
        re.compile(
            r"^(make( all| build)?$|cargo build|go build|(npm|pnpm|yarn|bun)( run)? build\b|tsc\b|cmake --build|ninja|"
            r"mvn.* (package|compile)|gradlew? .*build|\./gradlew .*build|dotnet build|swift build|python[\d.]* -m build)"
        ),
    ),
    (
        "lint",
        re.compile(
            r"^(ruff( check)?\b|flake8|pylint|eslint|npx eslint|(npm|pnpm|yarn|bun)( run)? lint\b|cargo clippy|go vet|"
            r"golangci-lint|shellcheck|make (lint|check)\b|black --check|prettier --check)"
        ),
    ),
    ("types", re.compile(r"^(mypy|pyright|ty check|npx tsc --noEmit|python[\d.]* -m mypy)\b")),
)
_SPLIT = re.compile(r"&&|\|\||;|\||\n")
_PREFIX = re.compile(r"^(\w+=\S*\s+|cd \S+\s*$|env\s+|time\s+|timeout \S+\s+)*")


def goal_of(command: str) -> str | None:
    """What a shell command checks (`tests`, `build`, `lint`, `types`), or None."""
    for part in _SPLIT.split(command):
        words = _PREFIX.sub("", part.strip())
        for goal, pattern in _GOALS:
            if pattern.match(words):
                return goal
    return None


def exit_is_masked(command: str) -> bool:
    """Whether the exit code of the command may be that of another part: a pipe, `;`, `||` or `&` behind the check."""
    return bool(re.search(r"\||;|&(?!&|>)|\n\s*\S", re.sub(r"&&|[0-9]?>&[0-9]", " ", command.strip())))


@dataclass(slots=True)
class EvidenceFold:
    """The checks of a session and what has changed since."""

    last: dict[str, Verification] = field(default_factory=dict)
    """Goal -> its last check."""
    stale: set[str] = field(default_factory=set)
    """Goals whose last check is older than the last change of a file."""

    def add(self, event: AnyEvent) -> None:
        """Take one event."""
        if isinstance(event, Verification):
            self.last[event.goal] = event
            self.stale.discard(event.goal)
        elif isinstance(event, ToolObservation) and any(e.kind.startswith("file.") for e in event.side_effects):
            self.stale.update(self.last)

    def evidence(self, workspace_digest: str = "") -> Evidence:
        """The verdict now. `workspace_digest`: the files as they are; "" if that was not looked at."""
        if not self.last:
            return Evidence(verdict="none")
        checks = list(self.last.values())
        ids = tuple(check.observation_id for check in checks)
        if not all(check.passed for check in checks):
            return Evidence(verdict="failed", observation_ids=ids)
        moved = workspace_digest and any(check.workspace_digest != workspace_digest for check in checks)
        return Evidence(verdict="stale" if self.stale or moved else "passed", observation_ids=ids)


def verdict(events: Iterable[AnyEvent], workspace_digest: str = "") -> Evidence:
    """The evidence that a whole journal holds."""
    fold = EvidenceFold()
    for event in events:
        fold.add(event)
    return fold.evidence(workspace_digest)
