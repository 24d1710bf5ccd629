"""What holds for every test: the sessions that other agents of this machine's user left are nobody's business here."""

from __future__ import annotations

import os

os.environ["INTERLOCK_AGENTS"] = "none"
