"""Large evidence, kept as files beside the journal.

Promises: an artifact is whole or not there: it is written under another name, flushed to disk, then renamed; its
reference carries the size and the SHA-256 of exactly these bytes; a path in a reference never leaves the folder.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import BinaryIO

from interlock.runtime.events.ids import ARTIFACT, Ids
from interlock.runtime.events.tool import ArtifactRef

_ENDINGS = {"text/x-diff": "diff", "application/json": "json", "application/octet-stream": "bin"}


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class ArtifactError(Exception):
    """An artifact cannot be written or found; the message says which and why."""


class ArtifactStore:
    """The artifacts of one session, below `folder/artifacts/`."""

    def __init__(self, folder: Path, ids: Ids) -> None:
        self._folder = folder
        self._ids = ids

    def put_bytes(
        self, data: bytes, kind: str, media_type: str = "text/plain", name: str | None = None, *, durable: bool = True
    ) -> ArtifactRef:
        """Keep these bytes. `name` goes into the file's name. Raises ArtifactError where the disk refuses."""
        with self.create(kind, media_type, name) as growing:
            growing.write(data)
            return growing.seal(durable=durable)

    def create(self, kind: str, media_type: str = "text/plain", name: str | None = None) -> GrowingArtifact:
        """A file that can grow while a call runs. Raises ArtifactError where it cannot be made."""
        label = _UNSAFE.sub("-", name or kind)[:48]
        name = f"{self._ids.new(ARTIFACT)}-{label}.{_ENDINGS.get(media_type, 'txt')}"
        try:
            (self._folder / "artifacts").mkdir(mode=0o700, parents=True, exist_ok=True)
            return GrowingArtifact(self._folder, f"artifacts/{name}", name.split("-", 1)[0], kind, media_type)
        except OSError as error:
            raise ArtifactError(f"cannot make {name} in {self._folder}: {error.strerror}") from None

    def path(self, ref: ArtifactRef) -> Path:
        """Where the bytes of a reference are. Raises ArtifactError for a path outside the session's folder."""
        return inside(self._folder, ref.path)


def inside(folder: Path, relative: str) -> Path:
    """The path of an artifact. Raises ArtifactError if it would leave the folder, also through a link."""
    path = folder / relative
    if os.path.isabs(relative) or not path.resolve().is_relative_to(folder.resolve()):
        raise ArtifactError(f"the artifact path {relative!r} leads out of {folder}")
    return path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


class GrowingArtifact:
    """An artifact while it is written. Readers may look at `path` meanwhile; `seal` gives it its final name."""

    def __init__(self, folder: Path, relative: str, ref_id: str, kind: str, media_type: str) -> None:
        self._final = folder / relative
        self.path = self._final.with_name(self._final.name + ".part")
        self._relative, self._id, self._kind, self._media_type = relative, ref_id, kind, media_type
        self._digest = hashlib.sha256()
        self.size = 0
        """Bytes written so far."""
        self._file: BinaryIO = open(self.path, "xb", buffering=0, opener=_private)  # noqa: SIM115 - closed by seal or discard

    def __enter__(self) -> GrowingArtifact:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._file.closed:
            self.discard()

    def write(self, data: bytes) -> None:
        """Append. Raises ArtifactError where the disk refuses; what was written before stays."""
        view = memoryview(data)
        try:
            while view:
                written = self._file.write(view) or 0
                self._digest.update(view[:written])
                self.size += written
                view = view[written:]
        except OSError as error:
            raise ArtifactError(f"cannot write {self.path}: {error.strerror}") from None

    def seal(self, *, durable: bool = True) -> ArtifactRef:
        """Close it under its final name and return its reference."""
        try:
            if durable:
                os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self.path, self._final)
        except OSError as error:
            raise ArtifactError(f"cannot finish {self._final}: {error.strerror}") from None
        return ArtifactRef(
            id=self._id,
            kind=self._kind,
            path=self._relative,
            bytes=self.size,
            sha256=self._digest.hexdigest(),
            media_type=self._media_type,
        )

    def discard(self) -> None:
        """Drop it, as if it had never been begun."""
        self._file.close()
        self.path.unlink(missing_ok=True)
