"""Make the pictures of the README from the real screen on the real demo.

    .venv/bin/python docs/pictures/make.py [FOLDER]

Starts the demo's agents, opens the screen without a terminal at 140x40, waits until each view shows what it should, and
saves it as SVG.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZE = (140, 40)


async def until(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise SystemExit(f"not seen within {seconds} s: {what}") from None


async def pictures(folder: Path) -> None:
    from interlock.tui.app import InterlockApp
    from interlock.tui.screens.allow_for import AllowForScreen

    app = InterlockApp(bell=False)
    async with app.run_test(size=SIZE) as pilot:

        def asks(tool: str) -> bool:
            return any(ask.is_open and ask.tool == tool for ask in app.store.asks)

        def save(name: str) -> None:
            svg = re.sub(r"@font-face \{.*?\}", "", app.export_screenshot(title="Interlock"), flags=re.DOTALL)
            svg = svg.replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            print(folder / f"{name}.svg")

        async def allow() -> None:
            await pilot.pause(1.0)
            await pilot.press("a")
            await app.settled()

        await until(lambda: asks("bash"), "the first ask")
        await app.settled()
        await pilot.pause(1.0)
        save("shell-ask")
        while not asks("edit_file"):
            if any(ask.is_open for ask in app.store.asks):
                await allow()
            await pilot.pause(0.2)
        while app.screen.card.ask is None or app.screen.card.ask.tool != "edit_file":
            await pilot.press("n")
            await pilot.pause(0.2)
        await pilot.pause(1.0)
        save("edit-ask")
        await pilot.press("A")
        await until(lambda: isinstance(app.screen, AllowForScreen) and app.screen.preview is not None, "the preview")
        await pilot.press("j")
        await until(lambda: app.screen.preview is not None, "the other preview")
        await pilot.pause(1.0)
        save("allow-for")
        await pilot.press("escape")
        await until(lambda: hasattr(app.screen, "card"), "the card again")
        while sum(row.status in ("done", "failed") for row in app.store.sessions) < 2:
            if any(ask.is_open for ask in app.store.asks):
                await allow()
            await pilot.pause(0.2)
        await pilot.press("2")
        await app.settled()
        await pilot.pause(0.5)
        save("sessions")
        await pilot.press("enter")
        await app.settled()
        await pilot.pause(0.5)
        save("session")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"INTERLOCK_STATE_DIR": f"{home}/state", "INTERLOCK_RUN_DIR": f"{home}/run", "TMPDIR": home}
        os.environ["COLORTERM"] = "truecolor"
        os.environ.pop("NO_COLOR", None)
        host = subprocess.Popen(
            [sys.executable, "-m", "interlock.runtime.cli", "demo", "--host"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert host.stdout is not None
            assert "ready" in json.loads(host.stdout.readline())
            asyncio.run(pictures(folder))
        finally:
            host.terminate()
            host.wait()


if __name__ == "__main__":
    main()
