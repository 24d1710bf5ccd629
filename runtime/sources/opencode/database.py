"""opencode's database, opened so that nothing is ever written to it or beside it.

Promises: no lock file, no write-ahead log and no shared memory is made; a database that is being written to is read as
of one moment. Raises OSError for everything that goes wrong.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

TIMEOUT_SECONDS = 2.0


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for one look. Raises OSError."""
    try:
        connection = sqlite3.connect(_address(path), uri=True, timeout=TIMEOUT_SECONDS, check_same_thread=False)
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be opened: {error}") from None
    try:
        connection.text_factory = _decoded
        yield connection
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be read: {error}") from None
    finally:
        connection.close()


def _address(path: Path) -> str:
    path.stat()
    log = path.with_name(path.name + "-wal")
    # without a write-ahead log nobody is writing, and only `immutable` keeps SQLite from making its files beside it
    how = "mode=ro&readonly_shm=1" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    return f"file:{quote(str(path))}?{how}"


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Names of the tables and of their columns."""
    names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    return {
        name: {row[0] for row in connection.execute("select name from pragma_table_info(?)", (name,))} for name in names
    }
