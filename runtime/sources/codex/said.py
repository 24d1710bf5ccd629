"""What was said in a rollout: by the person, by the model, by the agent in the person's place.

Promises: a text that stands in the log as an event, as an item of the response and as a completed item is one message;
what the agent put in the person's place is marked so; where a log has no events for what the person said, the items of
the response count that are no context of the agent's. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.base import Origin
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.mirror import Mirror, plain, plans_in
from interlock.runtime.sources.foreign.narrator import Narrator, text_of
from interlock.runtime.sources.foreign.shape import items, mapping, name_of, text

_CONTEXT = re.compile(
    r"\s*(?:# AGENTS\.md instructions\b|<(?:environment_context|user_instructions|INSTRUCTIONS|turn_aborted"
    r"|user_action|permissions instructions|subagent_notification|user_shell_command|model_switch|skill)>"
    r"|Warning: (?:apply_patch was requested|The maximum number|Your account))"
)
"""What Codex itself puts in the person's place."""
_TAGGED = re.compile(r"\s*<(?P<tag>[a-z][a-z0-9_-]*)(?:\s[^>]{0,400})?>.*</(?P=tag)>\s*$", re.DOTALL)
"""What looks like it, and could have been typed."""
_KEPT_IMAGES = ("input_image", "image", "local_image")


@dataclass(slots=True)
class _Held:
    """A message in the person's place of which it is not known yet whether a person wrote it."""

    text: str
    message_id: str
    key: str
    tagged: bool
    ts: str
    origin: Origin


class Said:
    """The messages of one session."""

    def __init__(self, say: Narrator) -> None:
        self._say = say
        self._users, self._replies, self._thoughts = Mirror(), Mirror(), Mirror()
        self._ids: dict[str, set[str]] = {}
        """Message id -> channels that have it."""
        self._used: set[str] = set()
        self._held: list[_Held] = []
        self._events_for_users = False

    def user_event(self, channel: str, words: str, message_id: str = "") -> Iterator[AnyEvent]:
        """A person said something: an event or a completed item says so."""
        self._events_for_users = True
        key, same = plain(words), None
        for held in self._take_held():
            if same is None and _same(held.key, key):
                same = held
            else:
                yield self._told(held, injected=True)
        known = self._known(channel, message_id)
        if self._users.fresh(channel, key) and not known:
            yield self._say.user(words, self._free(same.message_id if same and same.message_id else message_id))

    def user_item(self, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        """A message with the role of the user in what the model was given."""
        parts = [text_of(part) for part in items(payload.get("content"))] or [text_of(payload.get("content"))]
        words, message_id = "\n".join(part for part in parts if part), name_of(payload.get("id"))
        self._known("item", message_id)
        content = payload.get("content")
        spoken = [part for part in content if not _is_image(part)] if isinstance(content, list) else [content]
        said = [said for said in map(text_of, spoken) if said.strip() and not _CONTEXT.match(said)]
        key = plain("".join(said))
        if not said and not any(map(_is_image, items(payload.get("content")))):
            yield self._say.user(words, self._free(message_id), injected=True)
        elif self._users.ahead("item", key):
            tagged = bool(said) and all(_TAGGED.match(one) for one in said)
            self._held.append(_Held(words, message_id, key, tagged, self._say.ts, self._say.origin))

    def injected(self, payload: dict[str, Any], who: str = "") -> Iterator[AnyEvent]:
        """A message that the agent or another agent put in the person's place."""
        words = text_of(payload.get("content"))
        yield self._say.user(f"{who}{words}", self._free(name_of(payload.get("id"))), injected=True)

    def released(self) -> Iterator[AnyEvent]:
        """The model goes on: what was held back is what it is by now."""
        for held in self._take_held():
            injected = self._events_for_users or held.tagged
            if not injected:
                self._users.tell("item", held.key)
            yield self._told(held, injected=injected)

    def reply_event(self, channel: str, words: str, message_id: str = "") -> Iterator[AnyEvent]:
        """The model said something to the person: an event or a completed item says so."""
        known = self._known(channel, message_id)
        if self._replies.fresh(channel, plain(words)) and not known:
            yield self._say.assistant(words, self._free(message_id))

    def reply_item(self, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        """A message of the model in the response."""
        message_id = name_of(payload.get("id"))
        known = self._known("item", message_id)
        parts = [text_of(part) for part in items(payload.get("content")) if not _is_image(part)]
        parts = [part for part in parts if part] or [text_of(payload.get("content"))]
        plans = [self._replies.fresh("item", f"plan\0{plan}") for part in parts for plan in plans_in(part)]
        if not any(part.strip() for part in parts):
            return
        keys = [plain(part) for part in parts]
        if plans and not any(keys):
            # nothing but a plan, which a completed item may have told
            new = plans
        else:
            new = [self._replies.fresh("item", key) for key in keys]
        if len(parts) > 1 and any(new) and not self._replies.fresh("item", plain("\n".join(parts))):
            return
        if any(new) and not known:
            yield self._say.assistant("\n".join(part for part in parts if part), self._free(message_id))

    def plan(self, words: str, message_id: str) -> Iterator[AnyEvent]:
        """A completed item is a plan."""
        if self._replies.fresh("plan", f"plan\0{words.strip()}"):
            yield self._say.assistant(words, self._free(message_id))

    def thought_event(self, channel: str, parts: list[str]) -> Iterator[AnyEvent]:
        """The model thought, as an event or a completed item tells."""
        for part in parts:
            if part and self._thoughts.fresh(channel, part.strip()):
                yield self._say.reasoning(part)

    def thought_item(self, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        """The model thought, as the response tells."""
        message_id, closed = name_of(payload.get("id")), bool(payload.get("encrypted_content"))
        parts = [text_of(part) for name in ("summary", "content") for part in items(payload.get(name))]
        new = [part for part in parts if part and self._thoughts.fresh("item", part.strip())]
        if new or not any(parts):
            yield self._say.reasoning("\n".join(new), message_id, encrypted=closed and not any(parts))

    def _take_held(self) -> list[_Held]:
        held, self._held = self._held, []
        return held

    def _told(self, held: _Held, *, injected: bool) -> AnyEvent:
        event = self._say.user(held.text, self._free(held.message_id), injected=injected)
        return event.model_copy(update={"ts": held.ts, "origin": held.origin})

    def _known(self, channel: str, message_id: str) -> bool:
        """Whether another channel told this message; one channel can use an id for several (a review does)."""
        if not message_id:
            return False
        channels = self._ids.setdefault(message_id, set())
        known = bool(channels) and channel not in channels
        channels.add(channel)
        return known

    def _free(self, message_id: str) -> str:
        """The id if no event has it yet, else an empty one."""
        if not message_id or message_id in self._used:
            return ""
        self._used.add(message_id)
        return message_id


def is_context(words: str) -> bool:
    """Whether Codex put this in the person's place."""
    return _CONTEXT.match(words) is not None or _TAGGED.match(words) is not None


def _is_image(part: Any) -> bool:
    return text(mapping(part).get("type")) in _KEPT_IMAGES


def _same(one: str, two: str) -> bool:
    return one == two or bool(one and two and len(two) > 8 and (two in one or one in two))
