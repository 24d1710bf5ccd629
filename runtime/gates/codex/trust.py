"""Codex's trust in our hooks, written by Codex itself after the person agreed.

Promises: only hooks that carry our sign are trusted, each with exactly the hash that Codex computed; Codex's own server does
the writing; its process ends before this returns. A fault is told and leaves the hooks untrusted, which Codex skips.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from interlock.runtime.gates.codex.report import CodexFault, CodexHook, codex_server


def trust_our_hooks(codex_home: Path, env: Mapping[str, str], program: str = "codex") -> tuple[str, ...]:
    """Have Codex trust the hooks of ours that it finds in this home. Returns their keys; raises CodexFault."""
    with codex_server(codex_home, env, program) as server:
        hooks = server.hooks(codex_home)
        untrusted = [hook for hook in hooks if not hook.is_trusted]
        if untrusted:
            server.call("config/batchWrite", {"edits": [edit for hook in untrusted for edit in _edits(hook)]})
            hooks = server.hooks(codex_home)
        if not hooks or not all(hook.is_trusted for hook in hooks):
            raise CodexFault("codex does not list our hooks as trusted")
        return tuple(hook.key for hook in hooks)


def _edits(hook: CodexHook) -> list[dict[str, object]]:
    value = {hook.key: {"trusted_hash": hook.digest}}
    return [{"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}]
