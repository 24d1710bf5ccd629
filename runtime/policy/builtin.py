"""The policy that holds where nothing else was said."""

from __future__ import annotations

from interlock.runtime.policy.rule import Policy


def default_policy() -> Policy:
    """Tools that only read pass inside the workspace; everything else asks; a short list is denied."""
    return Policy()
