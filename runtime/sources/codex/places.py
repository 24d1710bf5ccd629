"""Where Codex keeps its sessions: `CODEX_HOME`, else `~/.codex`.

Promises: listing costs one look at each folder and file; the ends of a rollout are read once for each size of it; the
names that a person gave to sessions come from `session_index.jsonl`. Nothing else in the folder is opened.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from interlock.runtime.journal.codec import loads
from interlock.runtime.sources.codex.ends import Ends, ends_of
from interlock.runtime.sources.codex.names import AGENT, KIND
from interlock.runtime.sources.codex.status import RECENT, judged
from interlock.runtime.sources.codex.writers import open_rollouts
from interlock.runtime.sources.foreign.home import Judged, LogRef, LogSummary
from interlock.runtime.sources.foreign.shape import name_of, text
from interlock.runtime.state.session import SessionState

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_DEPTH = 4
"""Folders below `sessions`: year, month, day."""
_INDEX_LIMIT = 16 * 1024 * 1024


def codex_home() -> Path:
    """The folder that Codex uses in this environment."""
    named = os.environ.get("CODEX_HOME")
    return Path(named) if named else Path.home() / ".codex"


class CodexHome:
    """The Codex sessions of this user. See `interlock.runtime.sources.foreign.home.AgentHome`."""

    kind = KIND
    agent = AGENT
    limits = (
        "A rollout does not say that a call waits for an answer: such a call looks like one that runs.",
        "A rollout does not say who allowed a call.",
        "Commands that a script of code mode runs are told with the script.",
        "Sessions that Codex has compressed (.jsonl.zst) are not read.",
    )

    def __init__(self, home: Path | None = None) -> None:
        self.home = home if home is not None else codex_home()
        self._open: frozenset[str] | None = None
        self._open_names: frozenset[str] = frozenset()
        self._refs: dict[str, LogRef] = {}
        """Path -> what was last found there."""
        self._ends: dict[str, tuple[tuple[int, int], Ends]] = {}
        self._names: dict[str, str] = {}
        self._names_seen: tuple[int, int] | None = None

    def roots(self) -> Sequence[Path]:
        """Folders in which something changes when a session does."""
        return (self.home / "sessions", self.home / "archived_sessions")

    def state_roots(self) -> Sequence[Path]:
        """Folders that say only which sessions run."""
        return ()

    def logs(self) -> list[LogRef]:
        """All sessions, in no order; of two rollouts with one id the one that was written last."""
        found: dict[str, LogRef] = {}
        for root in self.roots():
            for entry in _rollouts(str(root), _DEPTH):
                with contextlib.suppress(OSError):
                    ref = self._ref(entry)
                    known = found.get(ref.session)
                    if known is None or known.mtime_ns < ref.mtime_ns:
                        found[ref.session] = ref
        self._refs = {str(ref.path): ref for ref in found.values()}
        for path in self._ends.keys() - self._refs.keys():
            del self._ends[path]
        return list(found.values())

    def _ref(self, entry: os.DirEntry[str]) -> LogRef:
        seen = entry.stat()
        known = self._refs.get(entry.path)
        if known is not None and (known.mtime_ns, known.size) == (seen.st_mtime_ns, seen.st_size):
            return known
        return LogRef(KIND, _session_of(entry.name), Path(entry.path), seen.st_mtime_ns, seen.st_size)

    def refresh(self) -> None:
        """Look again which rollouts a process has open."""
        self._open = open_rollouts(tuple(self.roots()))
        self._open_names = frozenset(os.path.basename(path) for path in self._open or ())

    def summary(self, ref: LogRef) -> LogSummary:
        """What the ends of its rollout tell, and the name that a person gave it."""
        found = self._read(ref.path, (ref.mtime_ns, ref.size))
        name = self._name_of(found.session or ref.session)
        return replace(found.summary, title=name) if name else found.summary

    def judge(self, ref: LogRef, summary: LogSummary | None, state: SessionState | None, now: int) -> Judged:
        """What it is doing. An old session that was never looked at is judged by its age alone."""
        path, key = ref.path, (ref.mtime_ns, ref.size)
        # the real path costs a look at every folder above it
        live = None if self._open is None else path.name in self._open_names and os.path.realpath(path) in self._open
        if live or state is not None:
            with contextlib.suppress(OSError):
                seen = os.stat(path)
                key = (seen.st_mtime_ns, seen.st_size)
        quiet = now - key[0] // 1000 if now else RECENT + 1
        kept = self._ends.get(str(path))
        if kept is not None and kept[0] == key:
            found = kept[1]
        elif live or state is not None or quiet <= RECENT:
            found = self._read(path, key)
        else:
            return Judged("done", "no process was seen to have its log open, and it was not looked into", guessed=True)
        return judged(live, found.turn, found.summary.open_call, max(quiet, 0))

    def _read(self, path: Path, key: tuple[int, int]) -> Ends:
        kept = self._ends.get(str(path))
        if kept is not None and kept[0] == key:
            return kept[1]
        found = ends_of(path)
        self._ends[str(path)] = (key, found)
        return found

    def _name_of(self, session: str) -> str:
        index = self.home / "session_index.jsonl"
        try:
            seen = os.stat(index)
            key = (seen.st_mtime_ns, seen.st_size)
            if key != self._names_seen:
                with open(index, "rb") as file:
                    file.seek(max(0, seen.st_size - _INDEX_LIMIT))
                    self._names = dict(_named(file.read(_INDEX_LIMIT)))
                self._names_seen = key
        except OSError:
            return ""
        return self._names.get(session, "")


def _rollouts(folder: str, depth: int) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".jsonl"):
                if entry.name.startswith("rollout-"):
                    yield entry
            elif depth > 0 and entry.is_dir(follow_symlinks=False):
                yield from _rollouts(entry.path, depth - 1)


def _session_of(name: str) -> str:
    stem = name.removesuffix(".jsonl")
    found = _ID.search(stem)
    return found[0] if found else stem


def _named(data: bytes) -> Iterator[tuple[str, str]]:
    for line in data.split(b"\n"):
        value, _ = loads(line) if line.strip() else (None, "")
        if isinstance(value, dict):
            session, name = name_of(value.get("id")), text(value.get("thread_name")).strip()
            if session and name:
                yield session, name
