"""pi and its kin: session files of every version, and the events of a run."""

from interlock.runtime.sources.pi.adapter import FORMAT, PiAdapter

__all__ = ["FORMAT", "PiAdapter"]
