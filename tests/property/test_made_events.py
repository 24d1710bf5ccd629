"""Events that are made without checks are those that the checks would have made."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlock.runtime.events.foreign import ForeignRecord as RecordEvent
from interlock.runtime.events.union import EVENT, EVENT_CLASSES
from interlock.runtime.sources.foreign.made import made
from interlock.runtime.sources.foreign.narrator import Narrator, first_line
from interlock.runtime.sources.foreign.reading import all_events, open_log
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.registry import by_kind, detect

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
STREAMS = Path(__file__).parents[1] / "data" / "streams"
LOGS = sorted(p for p in SAMPLES.glob("*/*") if p.suffix in (".jsonl", ".traj", ".eval") and ".rows" not in p.name)
LOGS += sorted(STREAMS.glob("*.jsonl"))
ODD = [None, 0, -1, 1.5, 10**30, True, "", "x", "\ud83d", [], [None], {}, {"type": 1}, [{"type": "text", "text": 5}]]


def checked(event: Any) -> None:
    again = EVENT.validate_python(event.model_dump(by_alias=True))
    assert type(again) is type(event)
    assert again.model_dump(by_alias=True) == event.model_dump(by_alias=True)


@pytest.mark.parametrize("log", LOGS, ids=[f"{log.parent.name}-{log.stem}" for log in LOGS])
def test_every_event_of_a_sample_is_what_the_checks_make_of_it(log: Path) -> None:
    translation = open_log(log)
    for number, event in enumerate(all_events(translation)):
        if number % 5 == 0 or number < 200:
            checked(event)
    translation.close()


@cache
def records(kind: str) -> list[Any]:
    logs = [log for log in LOGS if log.stat().st_size < 400_000 and detect(log)[0].kind == kind]
    values: list[Any] = []
    for log in logs:
        for line in log.read_text().split("\n")[:120]:
            try:
                values.append(json.loads(line))
            except ValueError:
                continue
    return values


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))] if len(path) < 7 else [path]


@pytest.mark.parametrize("kind", ["claude_code", "codex"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_records_with_odd_fields_give_events_that_the_checks_take(kind: str, data: st.DataObject) -> None:
    known = records(kind)
    start = data.draw(st.integers(0, len(known) - 1))
    adapter = by_kind(kind).adapter()
    for number, value in enumerate(known[start : start + 8]):
        changed = copy.deepcopy(value)
        path = data.draw(st.sampled_from(places(changed)))
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        if path:
            holder[path[-1]] = data.draw(st.sampled_from(ODD))
        for event in adapter.take(ForeignRecord(changed, number * 100, 100)):
            checked(event)
    for event in adapter.end():
        checked(event)


def test_what_a_narrator_makes_equals_what_the_class_makes() -> None:
    say = Narrator()
    say.at(ForeignRecord({}, 5, 7), "2026-01-10T09:00:00.000Z")
    for event in (say.user("hi"), say.record("x"), *say.intent("c1", "Bash", {"a": 1}), say.boundary("error", "x")):
        given_values = {name: getattr(event, name) for name in type(event).model_fields}
        assert event == type(event)(**given_values)
        assert event.model_copy(update={"seq": 4}).seq == 4


def test_no_default_of_an_event_can_change_under_another() -> None:
    for kind in EVENT_CLASSES.values():
        for name, field in kind.model_fields.items():
            default = field.get_default(call_default_factory=True)
            assert not isinstance(default, list | dict | set), (kind, name)
    assert made(RecordEvent, record="x") == RecordEvent(record="x")


@example("a" * 300 + " " * 900, "and more")
@given(st.text(max_size=50), st.text(alphabet=" \t\n\r a\u2003b", max_size=3000))
def test_the_first_line_is_the_first_that_says_something(before: str, text: str) -> None:
    whole = before + text
    lines = [line for line in whole[:20_000].split("\n") if line.strip()]
    expected = " ".join(lines[0].split()) if lines else ""
    assert first_line(whole) == (expected if len(expected) <= 300 else expected[:299] + "…")
