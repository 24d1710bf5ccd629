"""What a process wrote: every byte to an artifact, both ends in memory.

Promises: memory stays bounded whatever is written; the two streams are kept apart in the artifacts and together, in
the order of arrival, in the text; the counts are exact. An artifact holds at most `MAX_ARTIFACT` bytes of a stream, and
`dropped` says how many more there were.
"""

from __future__ import annotations

from typing import Literal

from interlock.runtime.events.tool import ArtifactRef
from interlock.runtime.journal.artifacts import ArtifactError, ArtifactStore, GrowingArtifact
from interlock.runtime.tools.output import Decoded, Excerpt, decode, without_terminal_codes

END_BYTES = 128 * 1024
"""Kept in memory of either end of the text."""
MAX_ARTIFACT = 256 * 1024 * 1024
"""A command that prints for ever must not fill the disk."""

Stream = Literal["stdout", "stderr"]


class Window:
    """The first and the last bytes of something that may be very long."""

    def __init__(self, size: int = END_BYTES) -> None:
        self._size = size
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Append."""
        self.total += len(data)
        room = self._size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._size:
            del self._tail[: -self._size]

    @property
    def last(self) -> int:
        """The last byte, -1 when there is none."""
        end = self._tail or self._head
        return end[-1] if end else -1

    def ends(self) -> tuple[bytes, bytes, int]:
        """Head, tail, and how many bytes lie between; no character is cut in two."""
        omitted = self.total - len(self._head) - len(self._tail)
        if not omitted:
            return bytes(self._head + self._tail), b"", 0
        head = _whole_end(bytes(self._head))
        tail = _whole_start(bytes(self._tail))
        return head, tail, self.total - len(head) - len(tail)


def _whole_end(data: bytes) -> bytes:
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        need = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data if need <= back else data[:-back]
    return data


def _whole_start(data: bytes) -> bytes:
    skip = 0
    while skip < min(3, len(data)) and data[skip] & 0xC0 == 0x80:
        skip += 1
    return data[skip:]


class Capture:
    """Both streams of one process."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts
        self._growing: dict[Stream, GrowingArtifact] = {}
        self._text = Window()
        self._last: Stream = "stdout"
        self.sizes: dict[Stream, int] = {"stdout": 0, "stderr": 0}
        """Bytes of each stream."""
        self.fault: str | None = None
        """Why an artifact is not whole."""

    def take(self, stream: Stream, data: bytes) -> None:
        """Keep what has arrived."""
        self.sizes[stream] += len(data)
        if stream != self._last:
            self._label(stream)
        self._text.add(data)
        self._keep(stream, data)

    def _label(self, stream: Stream) -> None:
        self._last = stream
        self._text.add((b"" if self._text.last in (-1, 0x0A) else b"\n") + f"[{stream}]\n".encode())

    def _keep(self, stream: Stream, data: bytes) -> None:
        if self.fault:
            return
        try:
            growing = self._growing.get(stream)
            if growing is None:
                growing = self._growing[stream] = self._artifacts.create(stream)
            growing.write(data[: MAX_ARTIFACT - growing.size])
        except ArtifactError as error:
            self.fault = str(error)

    @property
    def dropped(self) -> int:
        """Bytes that the artifacts do not hold."""
        return sum(self.sizes.values()) - sum(growing.size for growing in self._growing.values())

    def seal(self) -> tuple[ArtifactRef, ...]:
        """The artifacts, stdout first."""
        refs: list[ArtifactRef] = []
        for stream in ("stdout", "stderr"):
            growing = self._growing.get(stream)
            if growing is not None:
                try:
                    refs.append(growing.seal(durable=False))
                except ArtifactError as error:
                    self.fault = str(error)
        return tuple(refs)

    def text(self) -> tuple[str | Excerpt, int]:
        """The text in order of arrival, and how many bytes of it were not UTF-8."""
        head, tail, omitted = self._text.ends()
        first, last = _clean(head), _clean(tail)
        replaced = first.replaced + last.replaced
        if omitted:
            return Excerpt(first.text, last.text, omitted), replaced
        return first.text, replaced


def _clean(data: bytes) -> Decoded:
    text, replaced = decode(data)
    return Decoded(without_terminal_codes(text), replaced)
