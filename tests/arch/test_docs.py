"""Pages that are made from the code are what the code would make now. (ours)"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_keys_is_the_one_that_the_commands_make() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "interlock.tui.commands"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert (ROOT / "docs/keys.md").read_text() == made


def test_every_command_of_the_readme_exists() -> None:
    import re

    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`(?:interlock )?([a-z]+)(?: [^`]*)?`", readme))
    listed = subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    commands = set(re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE))
    assert {"demo", "asks", "answer", "call", "sessions", "show", "replay", "verify", "schema"} <= commands & named


def test_the_published_schema_names_every_event() -> None:
    from interlock.runtime.events.union import EVENT_CLASSES

    made = subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", "schema"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    text = json.dumps(json.loads(made))
    assert [name for name in EVENT_CLASSES if f'"{name}"' not in text] == []
