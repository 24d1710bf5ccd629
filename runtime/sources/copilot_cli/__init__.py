"""GitHub Copilot CLI: its event log."""

from interlock.runtime.sources.copilot_cli.adapter import FORMAT, CopilotAdapter

__all__ = ["FORMAT", "CopilotAdapter"]
