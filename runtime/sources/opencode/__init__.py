"""opencode: its database, its exports, its event streams."""

from interlock.runtime.sources.opencode.format import FORMAT

__all__ = ["FORMAT"]
