"""Recorded traffic of the Agent Client Protocol: of both directions or of the agent alone."""

from interlock.runtime.sources.acp.adapter import FORMAT, AcpAdapter

__all__ = ["FORMAT", "AcpAdapter"]
