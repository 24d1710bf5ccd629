"""A file beside the journal, in the pager: of any size, with search, never run."""

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
from interlock.tui.widgets.key_footer import KeyFooter
from interlock.tui.widgets.message_box import MessageBox
from interlock.tui.widgets.pager import Pager


class ArtifactScreen(Overlay[None]):
    """Opens a path below a session's folder; says so when it cannot."""

    DEFAULT_CSS = """
    ArtifactScreen > InkedLines { padding: 0 1; }
    """

    def __init__(self, folder: Path, relative: str) -> None:
        super().__init__()
        self._folder, self._relative = folder, relative
        self._path: Path | None = None

    def compose(self) -> ComposeResult:
        yield InkedLines([ink(("artifact ", "quiet"), (self._relative, "bold"))])
        yield MessageBox(id="trouble")
        yield from self._pager()
        yield KeyFooter()

    def _pager(self) -> ComposeResult:
        from interlock.runtime.journal.artifacts import ArtifactError, inside

        try:
            self._path = inside(self._folder, self._relative)
            yield Pager(PagedFile(self._path))
        except (OSError, ArtifactError) as error:
            self._fault = str(getattr(error, "strerror", "") or error)

    _fault = ""

    def on_mount(self) -> None:
        if self._fault:
            self.query_one(MessageBox).say(
                f"{self._relative} cannot be read: {self._fault}",
                kept="The journal still has its size and digest.",
                todo="`interlock verify` says whether the session is whole.",
            )
        else:
            self.query_one(Pager).focus()

    def on_pager_copy_asked(self, event: Pager.CopyAsked) -> None:
        self.interlock.copy(event.text)

    def on_pager_editor_asked(self) -> None:
        """$EDITOR on the file; the screen comes back behind it."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor or self._path is None:
            self.query_one(KeyFooter).say("EDITOR is not set")
            return
        with self.app.suspend():
            try:
                subprocess.run([*shlex.split(editor), str(self._path)], check=False)
            except (OSError, ValueError) as error:
                self.query_one(KeyFooter).say(f"the editor cannot be started: {error}")
