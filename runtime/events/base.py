"""The envelope and the manner of all records on the wire.

Promises: field names are camelCase on the wire and snake_case in Python; records are frozen; fields that this version
does not know are kept and written back as they came.
Does not promise: that a record read from a file was written by us (see `interlock.runtime.journal`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

SCHEMA_VERSION = 1
"""Value of `v` in every event that this version writes."""


class Record(BaseModel):
    """A frozen, tolerant record: the base of everything that stands in a journal."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_inf_nan="null",
    )


class Origin(Record):
    """Where the foreign record stands that an event was made from."""

    offset: int
    """Byte offset of the record in the log; of a database, its row."""
    size: int = 0
    """Bytes of the record."""
    log: str | None = None
    """Path of the log, where it is not the session's main one."""


class Event(Record):
    """One fact in a journal. The envelope fields are given by the writer, never by the caller.

    Every class adds `type`, the tag of the union, with its wire name as the default.
    """

    v: int = SCHEMA_VERSION
    """Schema version."""
    seq: int = -1
    """Position in the journal, from 0, without gaps. -1: not written yet."""
    ts: str = ""
    """When it was recorded: UTC, RFC 3339 with microseconds, for example `2026-01-10T09:00:00.000001Z`."""
    session: str = ""
    """Id of the session, the name of its folder."""
    prev: str = ""
    """SHA-256 in hex of the bytes of the line before, its line end included; 64 zeros for the first line."""
    origin: Origin | None = None
    """Of an event that was made from a foreign log."""
