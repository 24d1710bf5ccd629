"""Step 2: can the intent be a call at all (RT-4): its shape, then the world it needs.

Promises: both layers are through before anybody is asked; every refusal names the field.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from interlock.runtime.engine.intent import Call
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.tool import FieldError
from interlock.runtime.tools.definition import Concurrency, Prepared, ToolDefinition, ToolInput
from interlock.runtime.tools.refusal import Refusal


def check_shape(call: Call) -> ToolInput:
    """The input by its schema. Raises Stop `schema_invalid`."""
    assert call.tool is not None
    try:
        text_fault = _broken_text(call.raw_input, "")
        if text_fault is not None:
            raise _invalid(call.tool, (FieldError(field=text_fault, message="is no valid Unicode (half a character)"),))
        return call.tool.input_model.model_validate(call.raw_input)
    except ValidationError as error:
        errors = tuple(
            FieldError(field=".".join(str(part) for part in item["loc"]) or "input", message=item["msg"])
            for item in error.errors(include_url=False, include_context=False, include_input=False)
        )
        raise _invalid(call.tool, errors) from None
    except RecursionError:
        raise _invalid(call.tool, (FieldError(field="input", message="is nested too deeply"),)) from None


def _invalid(tool: ToolDefinition, errors: tuple[FieldError, ...]) -> Stop:
    said = "; ".join(f"{error.field}: {error.message}" for error in errors[:8])
    fields = ", ".join(tool.input_model.model_fields)
    return Stop(
        "validate",
        "schema_invalid",
        said,
        retryable=True,
        next_step=f"{tool.name} takes: {fields}.",
        errors=errors,
    )


def _broken_text(value: Any, at: str) -> str | None:
    """The field that holds half a surrogate pair, if any does."""
    if isinstance(value, str):
        return None if value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value) else at or "input"
    if isinstance(value, dict):
        pairs = [(str(key), item) for key, item in value.items()]
        found = (_broken_text(item, f"{at}.{key}" if at else key) for key, item in pairs)
        return next((field for field in found if field), None)
    if isinstance(value, list):
        return next((field for field in (_broken_text(item, at) for item in value) if field), None)
    return None


def concurrency_of(setting: Setting, call: Call) -> Concurrency:
    """How the call gets on with others. Raises Stop when not even its place can be told."""
    assert call.tool is not None
    assert call.input is not None
    try:
        return call.tool.concurrency(call.input, setting.context)
    except Refusal as refusal:
        raise Stop.of("validate", refusal) from None


async def check_world(setting: Setting, call: Call, *, accept_current: bool = False) -> Prepared:
    """The preconditions. `accept_current`: a person will see a diff against what the file holds now. Raises Stop."""
    assert call.tool is not None
    assert call.input is not None
    context = replace(setting.context, accept_current=accept_current)
    try:
        return await asyncio.to_thread(call.tool.prepare, call.input, context)
    except Refusal as refusal:
        raise Stop.of("validate", refusal) from None
    except Exception as error:
        raise Stop("validate", "tool_fault", f"{call.tool.name} failed while it looked: {_named(error)}") from error


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
