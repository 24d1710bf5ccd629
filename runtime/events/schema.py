"""The published JSON Schema of a journal line."""

from __future__ import annotations

from typing import Any

from interlock.runtime.events.base import SCHEMA_VERSION
from interlock.runtime.events.union import EVENT


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that every line of a journal of ours fulfils, by its wire names."""
    schema = EVENT.json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"Interlock journal line, version {SCHEMA_VERSION}"
    return schema
