"""The public bug cases about Codex sessions, over their exact inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tui.safe_text import shown_line  # noqa: F401  (placeholder, replaced below)
