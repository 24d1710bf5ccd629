"""Logs of the other agents, made by hand and recorded, read into events and facts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.reading import all_events, open_log
from interlock.runtime.sources.foreign.translation import RecordTally, Translation

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SCHEMA = """
create table session (id text primary key, parent_id text, directory text, title text, version text, revert text,
                      project_id text, slug text, time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer,
                   data text);
create table event (id text primary key, aggregate_id text, seq integer, type text, data text);
"""


@dataclass(slots=True)
class Read:
    """One log, read."""

    kind: str
    events: list[AnyEvent]
    facts: SessionFacts
    tally: RecordTally

    def of(self, kind: str) -> list[Any]:
        """Events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    @property
    def outcome(self) -> Any:
        """The one observation."""
        (found,) = self.of("tool.observation")
        return found


def summed(translation: Translation, events: list[AnyEvent]) -> Read:
    facts = SessionFacts()
    for event in events:
        facts.add(event)
    return Read(translation.format.kind, events, facts, translation.tally)


@pytest.fixture
def read_path() -> Callable[..., Read]:
    def run(path: Path, part: str | None = None) -> Read:
        translation = open_log(path, session="s", part=part)
        events = list(all_events(translation))
        translation.close()
        return summed(translation, events)

    return run


@pytest.fixture
def read(tmp_path: Path, read_path) -> Callable[[Any], Read]:
    """A list of records is a log of lines, anything else a document."""

    def run(log: Any) -> Read:
        path = tmp_path / "full.log"
        lines = isinstance(log, list)
        path.write_text("".join(json.dumps(row) + "\n" for row in log) if lines else json.dumps(log, indent=2))
        return read_path(path)

    return run


def database(path: Path, rows: Iterable[dict[str, Any]], *, leave: tuple[str, ...] = ()) -> sqlite3.Connection:
    """A database of opencode's with these rows, still open, in the mode that its own writer uses."""
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = off")
    connection.executescript(SCHEMA)
    for row in rows:
        if row["table"] not in leave:
            put(connection, row["table"], row["row"])
    connection.commit()
    return connection


def put(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    known = {r[1] for r in connection.execute(f"pragma table_info({table})")}
    kept = {k: v for k, v in row.items() if k in known}
    marks = ", ".join("?" * len(kept))
    connection.execute(f"insert or replace into {table} ({', '.join(kept)}) values ({marks})", list(kept.values()))


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / "opencode" / name).read_text().splitlines()]


@pytest.fixture
def make_database() -> Callable[..., sqlite3.Connection]:
    return database


@pytest.fixture
def put_row() -> Callable[..., None]:
    return put


@pytest.fixture
def sample_rows() -> Callable[[str], list[dict[str, Any]]]:
    return rows_of
