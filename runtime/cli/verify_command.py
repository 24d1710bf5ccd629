"""`interlock verify ID`: whether the record of a session is as it was written."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def verify(
        session: str = typer.Argument(help="Id of the session, or how it begins."),
        as_json: bool = typer.Option(False, "--json", help="One JSON object."),
    ) -> None:
        """Check the chain, the artifacts and the sealed head of a session's journal."""
        from interlock.runtime.cli.lookup import session_folder
        from interlock.runtime.cli.reading import unreadable
        from interlock.runtime.journal.chain import verify as check

        folder = session_folder(session)
        try:
            report = check(folder)
        except OSError as error:
            raise unreadable(folder / "events.jsonl", error) from None
        if as_json:
            print(json.dumps({"session": folder.name, **asdict(report)}))
        else:
            print(f"{folder.name}: {'whole' if report.ok else 'NOT whole'}, {report.lines} lines")
            if report.first_bad is not None:
                bad = report.first_bad
                print(f"first bad record: line {bad.line}, byte {bad.offset}: {bad.why}")
            for note in report.notes:
                print(f"note: {note}")
            print(f"anchor: {report.anchor}")
        raise typer.Exit(0 if report.ok else 1)
