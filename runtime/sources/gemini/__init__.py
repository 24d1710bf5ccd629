"""Gemini CLI: its patch log of lines, and the older form that was one document, rewritten whole."""

from interlock.runtime.sources.gemini.adapter import FORMAT, GeminiAdapter

__all__ = ["FORMAT", "GeminiAdapter"]
