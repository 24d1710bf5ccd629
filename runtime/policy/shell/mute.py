"""Commands that say nothing but a verdict: `true`, `false`, `:` at the end of a helper's code. Pure."""

from __future__ import annotations

from interlock.runtime.policy.syntax.syntax import Node, Sequence, Simple


def without_verdict(found: Sequence) -> Sequence:
    """The list without them; the list itself where nothing else is in it."""
    kept = [(n, o) for n, o in found.items if not _sets_verdict(n)]
    return Sequence(kept) if kept else found


def _sets_verdict(node: Node) -> bool:
    return isinstance(node, Simple) and node.text in ("true", "false", ":") and not node.redirs
