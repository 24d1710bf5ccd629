"""One session out of opencode's database, row by row.

Promises: reads the ordered event log where it holds the session from its beginning, else the tables; a row that changed
is given again; rows that are no JSON are given as damaged. Nothing is ever written to the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.runtime.journal.codec import loads
from interlock.runtime.sources.foreign.record import DamagedRecord, ForeignRecord, Framed
from interlock.runtime.sources.opencode.database import opened, tables


class OpencodeRows:
    """Reads one session of a database; the newest where none is named."""

    def __init__(self, path: Path, part: str | None) -> None:
        self.path = path
        self.session = part
        self.more = False
        """Whether the last read stopped at its limit."""
        self._seq = -1
        self._by_events: bool | None = None
        self._seen: dict[tuple[str, str], tuple[int, int]] = {}
        """(table, id) -> (time of its change, its length), of rows that were given."""

    def read(self, limit_bytes: int) -> list[Framed]:
        """Rows that are new or changed since the last read, oldest first. Raises OSError."""
        self.more = False
        with opened(self.path) as connection:
            known = tables(connection)
            if not {"session", "message", "part"} <= known.keys():
                raise OSError(f"{self.path} is no database of opencode: it has no tables session, message and part")
            if self.session is None:
                self.session = _newest(connection)
            if self.session is None:
                return []
            if self._by_events is None:
                self._by_events = "event" in known and self._complete(connection)
            found = self._events(connection) if self._by_events else self._tables(connection, known)
            return list(self._limited(found, limit_bytes))

    def close(self) -> None:
        """Nothing is kept open between two reads."""

    def _limited(self, found: Iterator[tuple[Framed, Any]], limit_bytes: int) -> Iterator[Framed]:
        taken = 0
        for framed, mark in found:
            if taken and taken + framed.size > limit_bytes:
                self.more = True
                return
            taken += framed.size
            if isinstance(mark, int):
                self._seq = mark
            else:
                self._seen[mark[0]] = mark[1]
            yield framed

    def _complete(self, connection: sqlite3.Connection) -> bool:
        """Whether the event log tells of the session from its beginning."""
        row = connection.execute(
            "select type from event where aggregate_id = ? order by seq limit 1", (self.session,)
        ).fetchone()
        return row is not None and str(row[0]).startswith("session.created")

    def _events(self, connection: sqlite3.Connection) -> Iterator[tuple[Framed, int]]:
        rows = connection.execute(
            "select seq, type, data from event where aggregate_id = ? and seq > ? order by seq",
            (self.session, self._seq),
        )
        for seq, kind, data in rows:
            raw = _raw(data)
            value, reason = loads(raw)
            if reason:
                yield DamagedRecord(seq, len(raw), reason, raw[:200].decode("utf-8", "replace")), seq
            else:
                yield ForeignRecord({"type": str(kind), "data": value}, seq, len(raw)), seq

    def _tables(self, connection: sqlite3.Connection, known: dict[str, set[str]]) -> Iterator[tuple[Framed, Any]]:
        yield from self._session_row(connection, known["session"])
        stored: list[tuple[Any, ...]] = []
        for table, owner in (("message", "id"), ("part", "message_id")):
            stored += connection.execute(
                f"select '{table}', rowid, id, {owner}, time_created, time_updated, data from {table} where session_id = ?",
                (self.session,),
            )
        # ids of messages and parts rise with time, and so a message stands before its parts
        for table, rowid, own, owner, _, updated, data in sorted(stored, key=_order):
            raw = _raw(data)
            mark = ((table, str(own)), (_int(updated), len(raw)))
            if self._seen.get(mark[0]) == mark[1]:
                continue
            value, reason = loads(raw)
            if reason or not isinstance(value, dict):
                yield (
                    DamagedRecord(rowid, len(raw), reason or "not an object", raw[:200].decode("utf-8", "replace")),
                    mark,
                )
                continue
            extra = {"id": own, "sessionID": self.session} | ({"messageID": owner} if table == "part" else {})
            yield ForeignRecord({"table": table, "row": {**value, **extra}}, rowid, len(raw)), mark

    def _session_row(self, connection: sqlite3.Connection, columns: set[str]) -> Iterator[tuple[Framed, Any]]:
        wanted = [c for c in ("parent_id", "directory", "title", "version", "revert", "time_updated") if c in columns]
        row = connection.execute(
            f"select rowid, time_created, {', '.join(wanted)} from session where id = ?", (self.session,)
        ).fetchone()
        if row is None:
            return
        told = dict(zip(wanted, row[2:], strict=True))
        mark = (("session", str(self.session)), (_int(told.get("time_updated")), hash(str(told))))
        if self._seen.get(mark[0]) == mark[1]:
            return
        value = {
            "id": self.session,
            "parentID": told.get("parent_id"),
            "directory": told.get("directory"),
            "title": told.get("title"),
            "version": told.get("version"),
            "revert": loads(_raw(told["revert"]))[0] if told.get("revert") else None,
            "time": {"created": row[1], "updated": told.get("time_updated")},
        }
        yield ForeignRecord({"table": "session", "row": value}, row[0], len(str(value))), mark


def _newest(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("select id from session order by time_updated desc, id desc limit 1").fetchone()
    return str(row[0]) if row else None


def _order(row: tuple[Any, ...]) -> tuple[str, int, str]:
    table, own, owner = row[0], str(row[2]), str(row[3])
    return (owner, 0, "") if table == "message" else (owner, 1, own)


def _raw(data: Any) -> bytes:
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")


def _int(value: Any) -> int:
    return value if isinstance(value, int) else 0
