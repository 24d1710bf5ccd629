"""`interlock opencode [ARGS…]`: opencode's own screen, with its questions in the inbox too."""

from __future__ import annotations

import typer

from interlock.runtime.cli.own_screen import register_launch


def register(app: typer.Typer) -> None:
    """Add the command."""
    register_launch(app, "opencode", "opencode")
