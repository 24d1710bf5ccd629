"""The public bug cases about Codex sessions, over their exact inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.tui.safe_text import escape

CASES = Path(__file__).resolve().parents[3] / "data" / "cases" / "bug-cases.jsonl"


def files(name: str, folder: Path) -> list[Path]:
    """The Codex files of a case, as it describes them."""
    cases = {case["id"]: case for case in map(json.loads, CASES.read_text().splitlines())}
    given: dict[str, Any] = cases[name]["input"]
    made = []
    for file in given.get("files", [given]):
        if file["name"].startswith("codex/"):
            path = folder / Path(file["name"]).name
            path.write_text("\n".join(file["lines"]) + ("\n" if file["final_newline"] else ""))
            made.append(path)
    return made


def test_bc_013_zeros_and_escapes_in_output_stop_nothing_and_stay_visible(tmp_path, read_path) -> None:
    (path,) = files("BC-013", tmp_path)
    found = read_path(path)
    assert (found.tally.records, found.tally.damaged) == (2, 0)
    assert found.outcome.content == "bin\x00\x00\x1b[2Jend"
    drawn = escape(found.outcome.content).text
    assert not any(ord(char) < 0x20 and char not in "\n\t" for char in drawn)


def test_bc_019_repeats_of_a_running_total_add_nothing(tmp_path, read_path) -> None:
    (path,) = files("BC-019", tmp_path)
    found = read_path(path)
    tokens = found.facts.tokens()
    assert tokens.input + tokens.output == 3300
    assert len(found.of("model.response")) == 2


def test_bc_020_a_fork_owns_what_came_after_the_copy_alone(tmp_path, read_path) -> None:
    parent, child = (read_path(path) for path in files("BC-020", tmp_path))
    totals = [f.facts.tokens().input + f.facts.tokens().output for f in (parent, child)]
    assert totals == [3300, 700]
    assert child.facts.parent == parent.facts.sessions[0] == "01970000-0000-7000-8000-000000000001"
    assert child.facts.sessions[0] == "01970000-0000-7000-8000-000000000002"
