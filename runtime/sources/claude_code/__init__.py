"""Claude Code: its transcripts, where it keeps them, and which of its sessions run now."""

from interlock.runtime.sources.claude_code.adapter import FORMAT, ClaudeAdapter

__all__ = ["FORMAT", "ClaudeAdapter"]
