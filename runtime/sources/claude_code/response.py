"""The model's responses: several records of one message are one response, and its usage counts once.

Promises: identity by the message's id; of repeated usage the largest counts; what the client wrote in the model's place
is no response. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.calls import Calls
from interlock.runtime.sources.claude_code.identity import copied_from
from interlock.runtime.sources.claude_code.prompt import INTERRUPT, flat
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.narrator import Narrator
from interlock.runtime.sources.foreign.tokens import added, less

SYNTHETIC = "<synthetic>"
"""The model's name on messages that the client wrote itself."""
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_COST_STEPS = 1e-9


class Responses:
    """The responses of one session."""

    def __init__(self, say: Narrator) -> None:
        self._say = say
        self._model = ""
        self._costs: dict[str, float] = {}
        self._cost_records = 0
        self._told: dict[str, Usage] = {}
        """Model -> what was told of it, since the last result where results say what came since then."""
        self._copied = False
        """Responses of another session stand in this log."""

    def told(self, value: dict[str, Any], calls: Calls) -> Iterator[AnyEvent]:
        """What one record of the model's tells."""
        message = value.get("message")
        message = message if isinstance(message, dict) else {"content": message}
        model = shape.text(message.get("model"))
        if model == SYNTHETIC or value.get("isApiErrorMessage") is True:
            yield from self._by_client(value, message)
            return
        uuid = shape.text(value.get("uuid"))
        message_id = shape.name_of(message.get("id")) or uuid or f"@{self._say.origin.offset}"
        inherited = bool(copied_from(value))
        self._copied |= inherited
        yield from self._changed(model, value)
        for place, block in enumerate(_blocks(message.get("content"))):
            yield from self._block(block, place, value, message_id, calls, inherited=inherited)
        yield from self._usage(message, message_id, model, inherited=inherited)

    def _by_client(self, value: dict[str, Any], message: dict[str, Any]) -> Iterator[AnyEvent]:
        words = flat(message.get("content"))
        if words.startswith(INTERRUPT):
            yield self._say.boundary("interrupted", words)
        elif value.get("isApiErrorMessage") is True or shape.text(value.get("error")):
            yield self._say.boundary("error", words or shape.text(value.get("error")))
        else:
            yield self._say.record(f"assistant/{SYNTHETIC}")

    def _changed(self, model: str, value: dict[str, Any]) -> Iterator[AnyEvent]:
        if not model or (value.get("isSidechain") is True and self._model):
            return
        if self._model and model != self._model:
            yield self._say.boundary("model_changed", f"{self._model[:200]} to {model[:200]}")
        self._model = model

    def _block(
        self, block: Any, place: int, value: dict[str, Any], message_id: str, calls: Calls, *, inherited: bool
    ) -> Iterator[AnyEvent]:
        kind = shape.text(shape.at(block, "type"))
        if isinstance(block, str) or kind == "text":
            words = flat(block)
            if words:
                yield self._say.assistant(words, message_id, message_id, inherited=inherited)
        elif kind in ("thinking", "redacted_thinking"):
            words = shape.text(block.get("thinking"))
            yield self._say.reasoning(words, message_id, message_id, encrypted=not words, inherited=inherited)
        elif kind in _CALLS:
            yield from calls.asked(value, block, place, message_id, inherited=inherited)
        elif kind.endswith("_tool_result"):
            failed = kind != "mcp_tool_result" and shape.text(shape.at(block, "content", "type")).endswith("_error")
            failed |= block.get("is_error") is True
            yield from calls.result(value, block, flat(block.get("content")), None, failed=failed)
        else:
            yield self._say.unknown(f"assistant/{kind or type(block).__name__}", "unknown block")

    def _usage(self, message: dict[str, Any], message_id: str, model: str, *, inherited: bool) -> Iterator[AnyEvent]:
        told = message.get("usage")
        if not isinstance(told, dict) or not told:
            return
        stop = shape.text(message.get("stop_reason"))
        used, name = usage_of(told), model or None
        for event in self._say.usage(message_id, used, model=name, stop_reason=stop, inherited=inherited):
            if not inherited:
                self._told[model] = added(self._told.get(model, Usage()), event.usage)
            yield event

    def result(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        """The end of a run in a stream: its responses stand there as they began, with most of their tokens to come."""
        new = shape.mapping(value.get("model_usage_since_last_result"))
        sums = {m.removesuffix("[1m]"): u for m, u in (new or shape.mapping(value.get("modelUsage"))).items()}
        if self._told.keys() <= sums.keys():
            for model, told in sums.items():
                rest = less(_summed(told), self._told.get(model, Usage()))
                if rest != Usage():
                    yield from self._say.usage(f"result {self._cost_records} {model}", rest, model=model)
                    self._told[model] = added(self._told.get(model, Usage()), rest)
        if new:
            self._told.clear()
        yield from self.cost(value)

    def cost(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        """The client's own running sum of what the session has cost."""
        self._cost_records += 1
        models = shape.mapping(value.get("modelUsage"))
        sums = {m: c for m, u in models.items() if (c := shape.number(shape.at(u, "costUSD"))) is not None}
        if not sums:
            total = shape.number(value.get("totalCostUSD", value.get("total_cost_usd")))
            sums = {} if total is None else {"": total}
        for model, total in sums.items():
            grown = total - self._costs.get(model, 0.0)
            if grown <= _COST_STEPS:
                continue
            self._costs[model] = total
            if self._copied and self._cost_records == 1:
                # the sum of a fork begins with what the copied part had cost, and says not how much that was
                continue
            name = f"cost {self._cost_records} {model}"
            yield from self._say.usage(name, Usage(), model=model or None, cost_usd=grown)


def _summed(told: Any) -> Usage:
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    given, made, read, written = (shape.count(shape.at(told, name)) or 0 for name in names)
    return Usage(input=given, output=made, cache_read=read, cache_write=written)


def usage_of(told: dict[str, Any]) -> Usage:
    """Tokens of one response. `reasoning` is a part of `output`, as the provider counts it."""
    written = shape.count(told.get("cache_creation_input_tokens"))
    if written is None:
        parts = shape.mapping(told.get("cache_creation")).values()
        written = sum(shape.count(part) or 0 for part in parts)
    return Usage(
        input=shape.count(told.get("input_tokens")) or 0,
        output=shape.count(told.get("output_tokens")) or 0,
        cache_read=shape.count(told.get("cache_read_input_tokens")) or 0,
        cache_write=written,
        reasoning=shape.count(shape.at(told, "output_tokens_details", "thinking_tokens")) or 0,
    )


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [content] if content not in (None, "") else []
