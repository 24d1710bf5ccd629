"""Where Gemini CLI keeps its sessions, and what the ends of one tell.

Promises: listing thousands costs a look at each folder and the first bytes of each log, and those only once; nothing is
written. `GEMINI_CLI_HOME` stands for the home folder where it is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.events.moment import micros
from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.foreign.framing import frame_document, frame_line
from interlock.runtime.sources.foreign.home import LogSummary
from interlock.runtime.sources.foreign.narrator import first_line, stamp, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, mapping, objects, text
from interlock.runtime.sources.gemini.outcome import OPEN

HEAD_BYTES = 1024
ENDS_BYTES = 64 * 1024
DOCUMENT_BYTES = 4 * 1024 * 1024
"""A document of the older form that is longer than this is not read for a summary."""
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_CONTEXT = ("<session_context>", "This is the Gemini CLI. We are setting up")


def config_home() -> Path:
    """The folder `.gemini` of this user."""
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"


@dataclass(frozen=True, slots=True)
class Chat:
    """One log, as its folders name it."""

    path: Path
    mtime_ns: int
    size: int
    parent: str | None
    """Id of the session that started this one: sub-agents lie in a folder of its name."""


def chats(config: Path) -> list[Chat]:
    """All logs below a configuration folder, sub-agents too. Raises OSError where the folder cannot be looked at."""
    found: list[Chat] = []
    root = config / "tmp"
    if not root.is_dir():
        return found
    for project in os.scandir(root):
        folder = Path(project.path) / "chats"
        if project.is_dir() and folder.is_dir():
            found += _in_folder(folder, None)
    names = {chat.path.name for chat in found}
    # a session of the older form goes on in a file with one letter more, and the old file stays
    return [chat for chat in found if chat.path.suffix != ".json" or f"{chat.path.name}l" not in names]


def _in_folder(folder: Path, parent: str | None) -> Iterator[Chat]:
    for entry in os.scandir(folder):
        if entry.name.endswith((".json", ".jsonl")) and entry.is_file():
            seen = entry.stat()
            yield Chat(Path(entry.path), seen.st_mtime_ns, seen.st_size, parent)
        elif parent is None and entry.is_dir():
            yield from _in_folder(Path(entry.path), entry.name)


def session_of(path: Path) -> str:
    """The agent's id of the session, from the first bytes of its log; else the name of the file. Raises OSError."""
    with open(path, "rb") as file:
        found = _SESSION.search(file.read(HEAD_BYTES))
    return found[1].decode("utf-8", "replace") if found else path.stem


def folder_of(path: Path) -> str:
    """The working directory that the project's folder tells; empty where it tells none."""
    for above in path.parents:
        mark = above / ".project_root"
        if mark.is_file():
            try:
                return mark.read_text(encoding="utf-8", errors="replace").strip()
            except OSError:
                return ""
        if above.name == "tmp":
            break
    return ""


def summary(path: Path) -> LogSummary:
    """What the ends of the log tell. Never raises: a fault stands in the summary."""
    try:
        rows = list(_ends(path))
    except OSError as error:
        return LogSummary(fault=str(error))
    messages = [m for row in rows for m in _messages(row)]
    heads = [mapping(row.get("$set")) or row for row in rows]
    times = [micros(t) for t in (stamp(text(m.get("timestamp"))) for m in messages) if t]
    times += [micros(t) for h in heads for t in (stamp(h.get("startTime")), stamp(h.get("lastUpdated"))) if t]
    calls = [call for m in messages for call in objects(m.get("toolCalls"))]
    last = calls[-1] if calls else {}
    return LogSummary(
        title=_title(heads, messages),
        cwd=folder_of(path),
        started_at=min(times, default=0),
        last_at=max(times, default=0),
        last_action=text(last.get("name")),
        open_call=text(last.get("name")) if text(last.get("status")) in OPEN else "",
    )


def at_rest(path: Path) -> bool:
    """Whether the last message in the log is an answer without calls. Raises OSError."""
    messages = [m for row in _ends(path) for m in _messages(row)]
    return bool(messages) and text(messages[-1].get("type")) == "gemini" and not messages[-1].get("toolCalls")


def _title(heads: list[dict[str, Any]], messages: list[dict[str, Any]]) -> str:
    told = [text(head.get("summary")) for head in heads if text(head.get("summary"))]
    if told:
        return told[-1]
    for message in messages:
        said = text_of(message.get("content"))
        if text(message.get("type")) == "user" and said and not said.lstrip().startswith(_CONTEXT):
            return first_line(said)
    return ""


def _messages(row: dict[str, Any]) -> list[dict[str, Any]]:
    if "type" in row and "timestamp" in row:
        return [row]
    return objects(at(row, "$set", "messages")) or objects(row.get("messages"))


def _ends(path: Path) -> Iterator[dict[str, Any]]:
    """Records of the first and the last bytes of a log of lines; the whole of a document."""
    with open(path, "rb") as file:
        head = file.read(ENDS_BYTES)
        size = file.seek(0, os.SEEK_END)
        if head.startswith(b"{\n") or head.startswith(b"{\r\n"):
            if size <= DOCUMENT_BYTES:
                yield from _dicts(frame_document(path.read_bytes()))
            return
        file.seek(max(len(head), size - ENDS_BYTES))
        tail = file.read(ENDS_BYTES)
    whole = size <= len(head) + len(tail)
    parts = [head + tail] if whole else [head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]]
    for part in parts:
        for raw in part.split(b"\n"):
            if raw.strip():
                yield from _dicts(frame_line(Line(0, raw, len(raw))))


def _dicts(framed: Any) -> Iterator[dict[str, Any]]:
    yield from (one.value for one in framed if isinstance(one, ForeignRecord) and isinstance(one.value, dict))
