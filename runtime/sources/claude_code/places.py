"""Where Claude Code keeps its sessions.

Promises: listing looks at folders and sizes alone, and a folder that cannot be read hides no other; nothing is written;
names are taken for what they are, never decoded: a project's path stands in the records alone. The layout was seen in
versions 1.0.51 to 2.1.332.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from interlock.runtime.sources.foreign import shape

_META_BYTES = 256 * 1024
_AGENT = "agent-"


class Transcript(NamedTuple):
    """One log, as its folder tells of it."""

    path: Path
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class SubAgent:
    """The log of an agent that a session started."""

    path: Path
    agent_id: str
    agent_type: str = ""
    description: str = ""
    call_id: str = ""
    """Id of the call that started it; empty where the agent's description does not tell."""
    depth: int | None = None
    model: str = ""


def config_home(environ: Mapping[str, str] | None = None) -> Path:
    """Claude Code's folder: `CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    environ = os.environ if environ is None else environ
    set_to = environ.get("CLAUDE_CONFIG_DIR")
    return Path(set_to) if set_to else Path(environ.get("HOME") or Path.home()) / ".claude"


def transcripts(config: Path) -> list[Transcript]:
    """The logs of all sessions, in no order; not those of their sub-agents. A folder that is missing holds none."""
    return [log for log, agent, _ in _walk(config, agents=False) if not agent]


def all_transcripts(config: Path) -> list[tuple[Transcript, bool, str | None]]:
    """The logs of all sessions and all sub-agents: each with whether it is a sub-agent's, and then with the id of the
    session above it; None where only its records tell that.
    """
    return list(_walk(config, agents=True))


def _walk(config: Path, *, agents: bool) -> Iterator[tuple[Transcript, bool, str | None]]:
    for project in _folders(config / "projects"):
        sessions: list[Path] = []
        # early versions keep the logs of sub-agents beside those of sessions
        for log in _logs(project, sessions):
            yield log, log.path.name.startswith(_AGENT), None
        for session in sessions if agents else ():
            for folder in _agent_folders(session):
                yield from ((log, True, session.name) for log in _logs(folder) if log.path.name.startswith(_AGENT))


def sub_agents(main: Path) -> list[SubAgent]:
    """The agents that a session started, by name. `main`: its transcript."""
    folders = _agent_folders(main.with_suffix(""))
    logs = [log.path for folder in folders for log in _logs(folder) if log.path.name.startswith(_AGENT)]
    return [_sub_agent(path) for path in sorted(logs)]


def tool_results(main: Path) -> list[Path]:
    """The files in which a session kept outputs that were too long for the model, by name."""
    return sorted(file.path for file in _files(main.with_suffix("") / "tool-results", "", []))


def main_of(log: Path) -> Path | None:
    """The transcript of the session that a sub-agent's log belongs to; None for a log that is no sub-agent's."""
    parts = log.parts
    if "subagents" not in parts[:-1]:
        return None
    at = len(parts) - 1 - parts[::-1].index("subagents")
    session = Path(*parts[:at])
    return session.with_name(session.name + ".jsonl")


def _sub_agent(path: Path) -> SubAgent:
    agent_id = path.name.removeprefix(_AGENT).removesuffix(".jsonl")
    meta = shape.mapping(read_json(path.with_name(path.name.removesuffix(".jsonl") + ".meta.json"), _META_BYTES))
    return SubAgent(
        path,
        agent_id,
        agent_type=shape.text(meta.get("agentType")),
        description=shape.text(meta.get("description")),
        call_id=shape.text(meta.get("toolUseId")),
        depth=shape.count(meta.get("spawnDepth")),
        model=shape.text(meta.get("model")),
    )


def read_json(path: Path, limit: int) -> object:
    """A small JSON file of Claude Code's; None where it is none, is longer than `limit` bytes or is no plain file."""
    try:
        # a link or a pipe in the place of the file is none of Claude Code's, and opening it could wait for ever
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            return None
        try:
            data = file.read(limit + 1)
            return json.loads(data) if len(data) <= limit else None
        except (OSError, ValueError, RecursionError):
            return None


def _agent_folders(session: Path) -> list[Path]:
    agents = session / "subagents"
    return [agents, *_folders(agents / "workflows")]


def _folders(path: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir():
                    yield Path(entry.path)


def _logs(folder: Path, folders: list[Path] | None = None) -> Iterator[Transcript]:
    """The logs in a folder; the folders in it are put into `folders`."""
    return (log for log in _files(folder, ".jsonl", folders) if log.path.name != "journal.jsonl")


def _files(folder: Path, ending: str, folders: list[Path] | None) -> Iterator[Transcript]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.name.endswith(ending) and S_ISREG((stat := entry.stat()).st_mode):
                    yield Transcript(Path(entry.path), stat.st_mtime_ns, stat.st_size)
                elif folders is not None and entry.is_dir():
                    folders.append(Path(entry.path))
