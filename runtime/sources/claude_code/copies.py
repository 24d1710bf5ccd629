"""Responses that stand in several logs, because a resume or a fork copied them: counted where they stand first.

Promises: over any number of logs given in the order of their beginnings, each response and each prompt is counted once;
identity is the provider's own message id, of a prompt the record's, which a fork keeps. Pure; one id is kept for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interlock.runtime.events.message import AssistantMessage, ModelResponse, UserMessage
from interlock.runtime.events.union import AnyEvent

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A fork keeps the ids of the records that it copies."""
_PROVIDERS = ("msg_", "chatcmpl-", "resp_", "gen-")
"""Beginnings of ids that are unique over all sessions; other ids are counted within their log."""


class Copies:
    """Which responses were met already, and in which session."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def marked(self, session: str, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        """The events of one session; what an earlier session has as well is marked as inherited."""
        for event in events:
            if isinstance(event, AssistantMessage | ModelResponse | UserMessage) and self._is_copy(session, event):
                yield event.model_copy(update={"inherited": True})
            else:
                yield event

    def _is_copy(self, session: str, event: AssistantMessage | ModelResponse | UserMessage) -> bool:
        message_id = event.message_id if isinstance(event, UserMessage) else event.request_id
        if not message_id or not (message_id.startswith(_PROVIDERS) or _UUID.fullmatch(message_id)):
            return False
        return self._first.setdefault(message_id, session) != session
