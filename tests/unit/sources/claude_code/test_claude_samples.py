"""Recorded transcripts: what they come to, counted by other means; no record lost; every command reads them."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from interlock.runtime.cli.main import build
from interlock.runtime.events.schema import json_schema
from interlock.runtime.sources.foreign.reading import all_events, facts_of, open_log
from interlock.runtime.sources.foreign.registry import detect

DATA = Path(__file__).parents[3] / "data" / "samples"
LOGS = sorted([*(DATA / "claude-code").glob("*.jsonl"), *(DATA / "iflow").glob("*.jsonl")])
MANY = pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
COUNTED = ("input", "output", "cacheRead", "cacheWrite")


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("claude_count", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def golden(log: Path) -> dict[str, Any]:
    return json.loads((log.parent / "facts.json").read_text())[log.name]


@cache
def program() -> Any:
    return build()


@cache
def validator(kind: str) -> Any:
    """Of the events of one type: the union tries all thirty, which takes a second for a sample."""
    schema = json_schema()
    part = schema["discriminator"]["mapping"][kind]
    return jsonschema.Draft202012Validator({"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": part})


@MANY
def test_the_facts_of_a_sample_are_those_that_were_checked(log: Path) -> None:
    assert facts_of(log) == golden(log)


@MANY
def test_counting_with_plain_loops_comes_to_the_same(log: Path) -> None:
    counted = module(DATA / "claude-code" / "count.py").count(log)
    facts = golden(log)
    tokens = {m: {k: u[k] for k in COUNTED} for m, u in facts["tokensByModel"].items()}
    times = {name: facts[name] and facts[name].removesuffix("Z") for name in ("firstTime", "lastTime")}
    ours = {**facts, **times, "tokensByModel": tokens}
    assert {name: ours[name] for name in counted} == counted


@MANY
def test_every_record_is_an_event_or_kept_or_unknown_and_every_other_byte_is_damage(log: Path) -> None:
    translation = open_log(log)
    events = list(all_events(translation))
    translation.close()
    tally = translation.tally
    assert tally.records == tally.eventful + tally.kept + tally.unknown
    places = {(e.origin.offset, e.origin.size) for e in events if e.origin is not None}
    covered = sum(size for _, size in places)
    data = log.read_bytes()
    blank = sum(len(raw) - len(raw.strip()) for raw in data.split(b"\n")) + data.count(b"\n")
    assert covered + blank == len(data)
    assert len(places) == tally.records + tally.damaged


@MANY
def test_no_record_of_a_recorded_session_is_unknown(log: Path) -> None:
    assert golden(log)["unknownRecords"] == 0


@MANY
def test_the_commands_read_a_sample_and_every_line_fulfils_the_schema(log: Path) -> None:
    shown = CliRunner().invoke(program(), ["show", str(log), "--facts", "--json"])
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["toolCalls"] == golden(log)["toolCalls"]
    told = CliRunner().invoke(program(), ["events", str(log), "--json"])
    assert told.exit_code == 0
    lines = [json.loads(line) for line in told.stdout.rstrip("\n").split("\n")]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    for line in lines:
        validator(line["type"]).validate(line)


@pytest.mark.parametrize("name", ["happy-perm-abort", "ja-claude-small", "ent-37995e"])
def test_the_events_are_told_to_a_person_too(name: str) -> None:
    told = CliRunner().invoke(program(), ["events", str(DATA / "claude-code" / f"{name}.jsonl")])
    assert told.exit_code == 0
    assert told.stdout.count("\n") > 3


@MANY
def test_whose_log_it_is_is_found_under_any_name(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "export.txt"
    other.write_bytes(log.read_bytes())
    assert detect(other)[0].kind == golden(log)["format"]


def test_logs_with_the_same_envelope_are_left_to_their_agents(tmp_path: Path) -> None:
    log = tmp_path / "log"
    record = {"uuid": "1", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"parts": [{"text": "x"}]}}
    log.write_text(json.dumps(record) + "\n")
    try:
        kind = detect(log)[0].kind
    except Exception as error:
        kind = type(error).__name__
    assert kind in ("qwen", "UnknownFormat")


def test_a_first_record_of_a_megabyte_does_not_hide_whose_log_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    record = {"uuid": "1", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"content": [picture]}}
    log.write_text(json.dumps(record) + "\n" + json.dumps(record) + "\n")
    assert detect(log)[0].kind == "claude_code"
