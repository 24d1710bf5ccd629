"""What the model is told, projected from the journal and from nothing else.

Promises: every tool result is marked as untrusted output with its format; a pruned result keeps its summary; the
projection of the same events is always the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from interlock.runtime.events.message import AssistantMessage, ContextPruned, UserMessage
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.events.union import AnyEvent


@dataclass(frozen=True, slots=True)
class CallInHistory:
    """A call as the model made it."""

    call_id: str
    tool: str
    input: Any


@dataclass(frozen=True, slots=True)
class Message:
    """One item of the model's history."""

    role: Literal["user", "assistant", "tool"]
    text: str
    message_id: str | None = None
    calls: tuple[CallInHistory, ...] = ()
    """Of an assistant message: the calls it made."""
    call_id: str | None = None
    """Of a tool result: the call it answers."""
    summary: str | None = None
    content: str | None = None
    trust: str | None = None
    """`tool_output_untrusted` for every tool result."""
    format: str | None = None
    is_error: bool = False


def model_text(observation: ToolObservation, *, pruned: bool = False) -> str:
    """What the model reads of an observation: summary and content joined by a line end, or the summary alone.

    A refusal begins with its code, so that the model need not guess which kind it met. A refusal and a cut result
    carry what can be done next behind the summary.
    """
    head = observation.summary
    if not observation.ok and observation.code not in head:
        head = f"{observation.code}: {head}"
    if observation.next_step and (observation.truncated or not observation.ok):
        head = f"{head}\n{observation.next_step}"
    if pruned or not observation.content:
        return head
    return f"{head}\n{observation.content}"


@dataclass(slots=True)
class ContextFold:
    """The messages of one session, event by event."""

    messages: list[Message] = field(default_factory=list)
    _calls: dict[str, CallInHistory] = field(default_factory=dict)
    _results: dict[str, int] = field(default_factory=dict)

    def add(self, event: AnyEvent) -> None:
        """Take one event; kinds that the model is not told of change nothing."""
        match event:
            case UserMessage():
                self.messages.append(Message("user", event.text, event.message_id))
            case AssistantMessage():
                self.messages.append(Message("assistant", event.text, event.message_id))
            case ToolIntent():
                self._add_call(event)
            case ToolObservation():
                self._add_result(event)
            case ContextPruned():
                for observation_id in event.observation_ids:
                    self._prune(observation_id)
            case _:
                pass

    def _add_call(self, event: ToolIntent) -> None:
        call = CallInHistory(event.call_id or event.intent_id, event.tool, event.raw_input)
        self._calls[event.intent_id] = call
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].role == "assistant":
                old = self.messages[index]
                self.messages[index] = replace(old, calls=(*old.calls, call))
                return
        self.messages.append(Message("assistant", "", calls=(call,)))

    def _add_result(self, event: ToolObservation) -> None:
        call = self._calls.get(event.intent_id)
        self._results[event.observation_id] = len(self.messages)
        self.messages.append(
            Message(
                "tool",
                model_text(event),
                event.observation_id,
                call_id=call.call_id if call else event.intent_id,
                summary=event.summary,
                content=event.content,
                trust=event.trust,
                format=event.format,
                is_error=not event.ok,
            )
        )

    def _prune(self, observation_id: str) -> None:
        index = self._results.get(observation_id)
        if index is not None and self.messages[index].content is not None:
            old = self.messages[index]
            text = old.text.removesuffix(f"\n{old.content}")
            self.messages[index] = replace(old, content=None, text=text)


def build(events: Iterable[AnyEvent]) -> list[Message]:
    """The messages of a whole journal."""
    fold = ContextFold()
    for event in events:
        fold.add(event)
    return fold.messages


def tokens_freed(contents: Iterable[str]) -> int:
    """The estimate of what pruning these contents frees: bytes / 4."""
    return sum(len(content.encode()) for content in contents) // 4


def prunable(messages: Sequence[Message], *, keep_turns: int) -> list[Message]:
    """Tool results with content that are older than the last `keep_turns` assistant messages."""
    turns = [i for i, m in enumerate(messages) if m.role == "assistant"]
    edge = turns[-keep_turns] if 0 < keep_turns <= len(turns) else (0 if keep_turns else len(messages))
    return [m for m in messages[:edge] if m.role == "tool" and m.content]


def tool_results_since_last_turn(messages: Sequence[Message]) -> Mapping[str, str]:
    """Call id -> text of the tool results behind the last assistant message."""
    results: dict[str, str] = {}
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if message.role == "tool" and message.call_id:
            results[message.call_id] = message.text
    return results
