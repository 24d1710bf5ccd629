"""Responses that stand in several logs, because a resume or a fork copied them: counted where they stand first.

Promises: over any number of logs given in the order of their beginnings, each response is counted once; identity is the
provider's own message id, never a session's or a record's. Pure; one id is kept for each response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.runtime.events.message import AssistantMessage, ModelResponse
from interlock.runtime.events.union import AnyEvent

_PROVIDERS = ("msg_", "chatcmpl-", "resp_", "gen-")
"""Beginnings of ids that are unique over all sessions; other ids are counted within their log."""


class Copies:
    """Which responses were met already, and in which session."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def marked(self, session: str, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        """The events of one session; what an earlier session has as well is marked as inherited."""
        for event in events:
            if isinstance(event, AssistantMessage | ModelResponse) and self._is_copy(session, event):
                yield event.model_copy(update={"inherited": True})
            else:
                yield event

    def _is_copy(self, session: str, event: AssistantMessage | ModelResponse) -> bool:
        message_id = event.request_id
        if not message_id or not message_id.startswith(_PROVIDERS):
            return False
        return self._first.setdefault(message_id, session) != session
