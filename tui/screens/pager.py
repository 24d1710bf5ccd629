"""An artifact, whole, on top: text or bytes, with search."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from textual.app import ComposeResult

from interlock.tui.model.inked import ink
from interlock.tui.paged_file import PagedFile
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.pager import Pager


class PagerScreen(Overlay[None]):
    """Shows one file. Raises OSError when it cannot be opened."""

    DEFAULT_CSS = """
    PagerScreen > InkedLines { padding: 0 1; }
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file = PagedFile(path)

    def compose(self) -> ComposeResult:
        yield Pager(self._file)
        keys = (
            ("Esc", "back"),
            ("/", "find"),
            ("n N", "next, previous"),
            ("w", "wrap"),
            ("H", "bytes"),
            ("y", "copy"),
            ("E", "editor"),
        )
        pieces = [piece for key, words in keys for piece in ((f"{key} ", "bold"), (f"{words}   ", "quiet"))]
        yield InkedLines([ink(*pieces)])

    def on_pager_copy_asked(self, event: Pager.CopyAsked) -> None:
        """To the terminal's clipboard."""
        self.interlock.copy(event.text)

    def on_pager_editor_asked(self, event: Pager.EditorAsked) -> None:
        """In the person's own editor; the screen comes back after it."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            self.notify("EDITOR is not set: export EDITOR=vim, for example.", markup=False)
            return
        try:
            with self.app.suspend():
                subprocess.run([*shlex.split(editor), str(self._path)], check=False)
        except (OSError, ValueError) as error:
            self.notify(f"{editor!r} cannot be started: {error}", severity="error", markup=False)
