"""Bytes <-> events. orjson is known here alone.

Promises: `encode` gives one physical line; `decode_line` never raises and never changes what a line says;
numbers of any size survive. Half surrogates, which UTF-8 cannot carry, become U+FFFD and the line says `repairedText`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import orjson
from pydantic import ValidationError

from interlock.runtime.events.union import EVENT, EVENT_CLASSES, AnyEvent, DamagedLine, Decoded, UnknownEvent

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes. A longer line is shown by size and digest and not decoded."""
RAW_KEPT = 4096
"""Bytes of a damaged line that are kept for showing."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPE_HINT = re.compile(rb'"type"\s*:\s*"([^"\\]{1,80})"')


def encode(event: AnyEvent, *, session: str, seq: int, ts: str, prev: str) -> bytes:
    """The line of an event, its envelope filled in, `\\n` included.

    Raises ValueError for values that JSON cannot carry, and for a line that readers would refuse for its size.
    """
    try:
        body = event.model_dump(by_alias=True, exclude_none=True)
        body |= {"seq": seq, "ts": ts, "session": session, "prev": prev}
        line = dumps(body)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"{event.type}: {error}") from None
    if len(line) > LINE_LIMIT:
        raise ValueError(f"{event.type}: a line of {len(line):,} bytes is over the limit of {LINE_LIMIT:,}")
    return line + b"\n"


def dumps(value: dict[str, Any]) -> bytes:
    """One JSON object without a raw line end in it."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, TypeError):
        # orjson refuses half surrogates and integers over 64 bits; both are rare, so the slow road is walked for them alone
        text = _slow_dumps(value)
        if _SURROGATE.search(text):
            text = _SURROGATE.sub("\ufffd", _slow_dumps({**value, "repairedText": True}))
        return text.encode()


def _slow_dumps(value: dict[str, Any]) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    # the quick road writes null for NaN and the infinities; both roads must say the same
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def decode_line(line: bytes) -> Decoded:
    """What one line says, without its line end. Never raises."""
    if len(line) > LINE_LIMIT:
        digest = hashlib.sha256(line).hexdigest()
        return _damaged(line, f"line of {len(line):,} bytes is over the limit of {LINE_LIMIT:,}; sha256 {digest}")
    value, reason = loads(line)
    if not isinstance(value, dict):
        return _damaged(line, reason or "not a JSON object")
    return _typed(value, line)


def _typed(value: dict[str, Any], line: bytes) -> Decoded:
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in EVENT_CLASSES:
        return UnknownEvent(str(kind), value, line)
    try:
        return EVENT.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "line"
        return UnknownEvent(kind, value, line, f"{where}: {first['msg']}")
    except RecursionError:
        return _damaged(line, "nested too deeply")


def loads(line: bytes) -> tuple[Any, str]:
    """(value, "") or (None, why not). Never raises."""
    line = line.removesuffix(b"\r")
    try:
        if b"\x00" in line or line.startswith(b"\xef\xbb\xbf"):
            return _slow_loads(line)
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _slow_loads(line)
    # orjson turns integers over 64 bits into floats; the standard library keeps them
    return _slow_loads(line) if _has_huge_integer(line) else (value, "")


def _slow_loads(line: bytes) -> tuple[Any, str]:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(0) > len(line) // 3:
        return None, "not UTF-8 (it looks like UTF-16)"
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        return None, f"not UTF-8 at byte {error.start}"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        hint = " (two records on one line?)" if error.msg == "Extra data" else ""
        return None, f"not JSON at byte {len(text[: error.pos].encode())}: {error.msg}{hint}"
    except (RecursionError, ValueError) as error:
        return None, "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
    return mended(value), ""


def mended(value: Any) -> Any:
    """The value with half surrogates replaced by U+FFFD, so that it can be shown, copied and written."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value


_DIGITS = re.compile(rb"[:\[,\s]-?[0-9]{19,}")


# every digit a zero, all else a space: translating and searching is ten times as fast as a pattern over the whole line
_ZEROS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_MANY = b"0" * 19


def _has_huge_integer(line: bytes) -> bool:
    return _MANY in line.translate(_ZEROS) and _DIGITS.search(line) is not None


def _damaged(line: bytes, reason: str) -> DamagedLine:
    return DamagedLine(reason, line[:RAW_KEPT], len(line))


def split_glued(line: bytes) -> list[bytes]:
    """The JSON objects that can be found on one physical line, in order; the line itself where it is a single one.

    A record that was cut and a whole one behind it: the whole one is found. Used for showing; a glued line of our own
    journal is never acted on.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return [line]
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find('{"', at)) >= 0:
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        found.append(text[at:end].encode("utf-8", "surrogatepass"))
        at = end
    return found or [line]
