"""The manifest of limits. (spec RT-12)"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from interlock.runtime.engine.manifest import Manifest, ManifestError, load_manifest, parse_manifest

TOOLS = ("read_file", "grep", "bash")


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    manifest = load_manifest(tmp_path / "interlock.toml", TOOLS)
    assert manifest == Manifest()
    assert manifest.limit("bash") == 16_384


@pytest.mark.parametrize("text", ["", "[other]\nx = 1\n", "[worker]\n", "[worker.tool_output]\n"])
def test_a_missing_section_means_the_defaults(text: str) -> None:
    assert parse_manifest(text, "m.toml", TOOLS).limit("read_file") == 16_384


def test_a_tool_has_its_own_limit() -> None:
    text = "[worker.tool_output]\ndefault_max_bytes = 100\n[worker.tool_output.per_tool]\nread_file = 32768\ngrep = 0\n"
    manifest = parse_manifest(text, "m.toml", TOOLS)
    assert [manifest.limit(tool) for tool in TOOLS] == [32768, 0, 100]
    assert manifest.limit("bash", own=7) == 7
    assert manifest.limit("grep", own=7) == 0


def test_an_unknown_tool_is_a_logged_warning(caplog: pytest.LogCaptureFixture) -> None:
    text = "[worker.tool_output.per_tool]\nread_fil = 5\n"
    with caplog.at_level(logging.WARNING):
        parse_manifest(text, "m.toml", TOOLS)
    assert "m.toml:2: there is no tool named 'read_fil'" in caplog.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[worker\n", r"m\.toml:1: no valid TOML: .*line 1"),
        (
            "[worker.tool_output]\n\ndefault_max_bytes = '1k'\n",
            r"m\.toml:3: default_max_bytes must be a whole number .*'1k'",
        ),
        ("[worker.tool_output]\ndefault_max_bytes = -1\n", r"m\.toml:2: .*0 or more, found -1"),
        ("[worker.tool_output]\ndefault_max_bytes = true\n", r"found True"),
        ("[worker.tool_output.per_tool]\ngrep = 1.5\n", r"m\.toml:2: grep must be a whole number"),
        (
            "[worker.tool_output]\nper_tool = 3\n",
            r"m\.toml:2: per_tool must be the table \[worker\.tool_output\.per_tool\]",
        ),
        ("[worker.tool_output]\nmax = 3\n", r"m\.toml:2: unknown key 'max'; expected default_max_bytes"),
        ("worker = 1\n", r"m\.toml:1: worker must be the table"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(text: str, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        parse_manifest(text, "m.toml", TOOLS)


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot be read"):
        load_manifest(tmp_path, TOOLS)
