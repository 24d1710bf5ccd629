"""Kimi: the wire log of the agent, of the newer protocol and of the older command line."""

from interlock.runtime.sources.kimi.adapter import FORMAT, KimiAdapter

__all__ = ["FORMAT", "KimiAdapter"]
