"""`interlock replay ID`: the story of a session, from its events alone. Runs, writes and asks nothing."""

from __future__ import annotations

import json

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def replay(
        session: str = typer.Argument(help="Id of the session, or how it begins; or the path of a log."),
        as_json: bool = typer.Option(False, "--json", help="One JSON object a line."),
    ) -> None:
        """Tell what happened in a session, one line an event that matters."""
        from interlock.runtime.cli.asks_command import plain
        from interlock.runtime.cli.foreign_reading import session_reading
        from interlock.runtime.state.story import story

        reading, _ = session_reading(session)
        for ts, sentence in story(event for _, event in reading.decoded()):
            if as_json:
                print(json.dumps({"ts": ts, "text": sentence}, ensure_ascii=False))
            else:
                print(f"{ts[11:19] or '--:--:--'}  {plain(sentence)}")
        reading.close()
