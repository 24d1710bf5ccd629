"""Events of values whose types are known, made without checking them again: the cost of reading a log is in the checks.

Promises: the same event that the class itself would make of these values, given by their names in Python. For values that
an adapter read with `shape` alone; `tests/property/test_made_events.py` holds every event of every sample, also of
samples with fields replaced, against the schema.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from interlock.runtime.events.base import Record

R = TypeVar("R", bound=Record)
_put = object.__setattr__  # records are frozen


@cache
def _defaults(kind: type[Record]) -> dict[str, Any]:
    """Name -> default, in the order of the fields; those without one are to be given."""
    return {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in kind.model_fields.items()
    }


def made(kind: type[R], /, **values: Any) -> R:
    """One record. Every field without a default has to be among the values; no default may be a thing that changes."""
    record = kind.__new__(kind)
    fields = _defaults(kind).copy()
    fields.update(values)
    _put(record, "__dict__", fields)
    _put(record, "__pydantic_fields_set__", set(values))
    _put(record, "__pydantic_extra__", {})
    _put(record, "__pydantic_private__", None)
    return record
