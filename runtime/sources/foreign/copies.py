"""Responses that stand in several logs, because a resume or a fork copied them: counted where they stand first.

Promises: over any number of logs given in the order of their beginnings, each response, each of its calls and each
prompt is counted once; identity is the provider's own id of the message or the call, of a prompt the record's, which a
fork keeps. Pure; one id is kept for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interlock.runtime.events.foreign import Reasoning
from interlock.runtime.events.message import AssistantMessage, ModelResponse, UserMessage
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.events.union import AnyEvent

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A fork keeps the ids of the records that it copies."""
_OF_PROVIDERS = re.compile(
    r"(?:msg_|resp_|gen-|chatcmpl-)[0-9A-Za-z_-]+|(?:toolu_|srvtoolu_|fc_|call_)[0-9A-Za-z_-]{16,}"
)
"""Ids that are unique over all sessions; other ids are counted within their log."""
_OF_OURS = re.compile(r"msg_\d{1,9}")
"""Ids that the narrator counts, where a log has none: `msg_1` of two logs are two messages."""


class Copies:
    """Which responses were met already, and in which session."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def marked(self, session: str, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        """The events of one session; what an earlier session has as well is marked as inherited."""
        for event in events:
            copies = [self._is_copy(session, name) for name in _ids(event)]
            if any(copies):
                yield event.model_copy(update={"inherited": True})
            else:
                yield event

    def _is_copy(self, session: str, name: str) -> bool:
        return self._first.setdefault(name, session) != session


def _ids(event: AnyEvent) -> Iterator[str]:
    """Ids by which the event would be known in another log."""
    match event:
        case UserMessage():
            found = (_given(event.message_id),)
        case AssistantMessage():
            found = (event.request_id or _given(event.message_id),)
        case ModelResponse() | Reasoning():
            found = (event.request_id,)
        case ToolIntent():
            found = (event.request_id, event.call_id)
        case _:
            found = ()
    for name in found:
        if name and (_OF_PROVIDERS.fullmatch(name) or _UUID.fullmatch(name)):
            yield name


def _given(message_id: str) -> str:
    return "" if _OF_OURS.fullmatch(message_id) else message_id
