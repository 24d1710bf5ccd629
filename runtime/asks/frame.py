"""Lines of bytes to JSON values and back.

Promises: a frame is cut at byte 0x0A alone; nothing doubtful is accepted (invalid UTF-8, a key given twice, NaN, nesting
beyond the parser, a line over the limit); what is written is always valid UTF-8 and valid JSON on one line.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from interlock.runtime.asks.protocol import ERROR_CODES, MAX_FRAME_BYTES, ErrorName, Fault

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Frames:
    """Collects bytes and gives out whole lines. After `FRAME_TOO_LARGE` the stream cannot be used any more."""

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._rest = bytearray()

    @property
    def pending_bytes(self) -> int:
        """Length of the unfinished line."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Lines that are complete now, without line ends. Raises `Fault` when one is longer than the limit."""
        if b"\n" not in data:
            self._rest += data
            self._check(len(self._rest))
            return []
        head, *lines = data.split(b"\n")
        lines.insert(0, bytes(self._rest) + head)
        self._rest = bytearray(lines.pop())
        for size in (*map(len, lines), len(self._rest)):
            self._check(size)
        return lines

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise Fault(
                ErrorName.FRAME_TOO_LARGE,
                f"the line is longer than {self._limit} bytes; the connection is closed",
                limitBytes=self._limit,
            )


def parse(line: bytes) -> Any:
    """The JSON value of a line. Raises `Fault` saying what is wrong with it."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(ErrorName.INVALID_UTF8, f"invalid UTF-8 at byte {error.start}", offset=error.start) from None
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Fault(ErrorName.PARSE, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise Fault(ErrorName.PARSE, f"not valid JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        # two readers of such a line could each believe another of the two values
        raise ValueError("a key stands twice in one object")
    return made


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# made once: json.dumps and json.loads with options build a new coder at every call
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def text_of(value: Any) -> str:
    """JSON text of a value: lone surrogates become U+FFFD and non-finite numbers null, as in the journal."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def line_of(value: Any) -> bytes:
    """One frame, its line end included."""
    return text_of(value).encode() + b"\n"


def result_line(request_id: str | int, result: dict[str, Any]) -> bytes:
    """A reply."""
    return line_of({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_line(request_id: str | int | None, fault: Fault) -> bytes:
    """A refusal."""
    data = {"name": fault.name.value, **fault.data}
    error = {"code": ERROR_CODES[fault.name], "message": fault.message, "data": data}
    return line_of({"jsonrpc": "2.0", "id": request_id, "error": error})


def notice_line(method: str, params: dict[str, Any]) -> bytes:
    """A notification."""
    return line_of({"jsonrpc": "2.0", "method": method, "params": params})
