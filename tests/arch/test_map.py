"""docs/architecture.md is the map of the house as it stands: its rooms, its floors, its files, its words of the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from interlock.runtime.policy.programs.catalogue import programs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
WORDS = set(re.findall(r"`([^`\n]+)`", PAGE))
ROOMS = sorted(
    folder.relative_to(ROOT).as_posix()
    for top in ("runtime", "tui")
    for folder in (ROOT / top).rglob("*")
    if folder.is_dir() and folder.name != "__pycache__" and any(p.is_file() for p in folder.iterdir())
)
BESIDE = (
    "",
    "runtime",
    "runtime/gates",
    "runtime/sources",
    "runtime/sources/foreign",
    "runtime/tools",
    "runtime/cli",
    "tui",
)
"""Folders that a path of the page may begin in."""


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_on_the_map(room: str) -> None:
    assert room in WORDS


def test_every_path_on_the_map_is_there() -> None:
    paths = [word for word in WORDS if "NAME" not in word and re.fullmatch(r"[\w.-]+(/[\w.-]+)+|\w+\.(py|md)", word)]
    lost = [path for path in paths if not any((ROOT / start / path).exists() for start in (*BESIDE, "runtime/policy"))]
    inside = {path for path in lost if (ROOT / "runtime/policy" / f"{path}.py").exists()}
    assert sorted(set(lost) - inside - {"gate.py", "settings.py", "switches.py"}) == []
    assert len(paths) >= 60


def test_every_link_of_the_map_leads_somewhere() -> None:
    for page in (
        ROOT / "docs/architecture.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "README.md",
        ROOT / "docs/adding-a-program.md",
    ):
        links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_floors_of_the_map_are_those_that_imports_are_held_to() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(c["layers"] for c in contracts if c["name"].startswith("Floors of the runtime"))
    held = {
        (len(layers) - at, name.strip().replace("interlock.", "", 1).replace(".", "/"))
        for at, layer in enumerate(layers)
        for name in layer.split("|")
    }
    drawn = {(int(floor), room) for floor, room in re.findall(r"^\| (\d) \| `([\w/]+)` \|", PAGE, re.M)}
    assert drawn == held


def test_the_readme_promises_no_more_programs_than_the_catalogue_has() -> None:
    promised = re.search(r"knows of (\d+) programs", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert promised is not None
    assert int(promised[1]) <= len([entry for entry in programs() if " " not in entry.name])
