"""`interlock events FILE`: any log that can be read, as our events."""

from __future__ import annotations

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def events(
        file: Path = typer.Argument(help="Log of an agent, or a journal of ours."),
        as_json: bool = typer.Option(False, "--json", help="One event a line, as a journal has them."),
        part: str | None = typer.Option(None, "--part", help="Of a database with several sessions: the id of one."),
    ) -> None:
        """Read the log of any agent as events."""
        from interlock.runtime.cli.foreign_reading import opened, own_journal

        if own_journal(file):
            _own(file, as_json)
            return
        with opened(file, part) as log:
            from interlock.runtime.sources.foreign.reading import all_events

            if as_json:
                import sys

                for event in all_events(log):
                    for line in log.encode(event):
                        sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
            else:
                _tell(all_events(log))


def _own(file: Path, as_json: bool) -> None:
    from interlock.runtime.cli.reading import Reading

    reading = Reading(file)
    if as_json:
        for line, _ in reading.decoded():
            typer.echo(line.raw)
    else:
        _tell(event for _, event in reading.decoded())
    reading.close()


def _tell(events: object) -> None:
    from interlock.runtime.cli.asks_command import plain
    from interlock.runtime.state.story import story

    for ts, sentence in story(events):  # pyright: ignore[reportArgumentType] - both kinds of reading give decoded events
        print(f"{ts[11:19] or '--:--:--'}  {plain(sentence)}")
