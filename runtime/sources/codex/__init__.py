"""Codex CLI, Codex Desktop and what else writes rollout files: `rollout-*.jsonl` of versions 0.40 to 0.171."""

from interlock.runtime.sources.codex.format import FORMAT
from interlock.runtime.sources.codex.places import CodexHome

__all__ = ["FORMAT", "CodexHome"]
