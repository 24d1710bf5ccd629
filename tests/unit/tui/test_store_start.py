"""A store that starts keeps no key waiting: what is heavy is loaded away from the loop. (screen rules)"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

START = """
import asyncio, sys, threading
from interlock.tui.store import Store

class Seen:
    names = []

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            cls.names.append(name)

async def main():
    store = Store(lambda: None)
    sys.meta_path.insert(0, Seen)
    await store.start()
    await store.close()

asyncio.run(main())
assert "interlock.runtime.events.union" in sys.modules, "this test looks for what is loaded no more"
print([name for name in Seen.names if name.split(".")[0] in ("interlock", "pydantic", "pydantic_core")])
"""


def test_a_store_that_starts_imports_nothing_of_ours_in_the_thread_of_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CONFIG", "RUN"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    words = [sys.executable, "-P", "-c", START]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
