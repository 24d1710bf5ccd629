"""`interlock` without a command: the screen."""

from __future__ import annotations

import typer

from interlock.runtime.cli.opening import show_screen


def register(app: typer.Typer) -> None:
    """Make the screen what happens when no command is given."""

    @app.callback(invoke_without_command=True)
    def screen(
        context: typer.Context,
        session: str = typer.Option(
            None, "--session", "-s", help="Open this session at once (its id, or how it begins)."
        ),
        version: bool = typer.Option(False, "--version", "-V", help="Print the version and leave."),
    ) -> None:
        """Watch every coding agent live, approve or deny what it asks, browse all that was done.

        Without a command: opens the screen.
        """
        if version:
            from interlock.runtime.version import __version__

            print(f"interlock {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            raise typer.Exit(show_screen(session))
