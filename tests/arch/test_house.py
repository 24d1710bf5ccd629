"""The shape of the house holds: floors, sizes, names, what an import brings with it. (ours, architecture.md)"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(p for top in ("runtime", "tui") for p in (ROOT / top).rglob("*.py"))
HEADLESS = ("events", "journal", "state", "policy", "tools", "engine", "asks", "sources", "library", "agents", "cli")


def in_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_under(package: str) -> list[str]:
    folder = ROOT / "runtime" / package
    names = []
    for path in sorted(folder.rglob("*.py")):
        parts = ["interlock", *path.relative_to(ROOT).with_suffix("").parts]
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [n for n in names if not n.endswith("__main__")]


@pytest.mark.parametrize("package", HEADLESS)
def test_a_headless_room_never_loads_the_screen(package: str) -> None:
    """The import contract cannot see deferred imports at module level behind a condition; a fresh process can."""
    code = "import importlib, sys\n"
    code += "".join(f"importlib.import_module({name!r})\n" for name in modules_under(package))
    code += "print([m for m in sys.modules if m == 'textual' or m.startswith(('textual.', 'interlock.tui'))])"
    assert in_fresh_process(code).strip() == "[]"


def test_models_and_store_of_the_screen_load_no_widget_library() -> None:
    names = ["interlock.tui.store", *(f"interlock.tui.model.{p.stem}" for p in (ROOT / "tui/model").glob("[a-z]*.py"))]
    code = "import importlib, sys\n"
    code += "".join(f"importlib.import_module({name!r})\n" for name in names)
    code += "print([m for m in sys.modules if m.startswith('textual')])"
    assert in_fresh_process(code).strip() == "[]"


def test_no_module_is_longer_than_500_lines() -> None:
    long = {str(p.relative_to(ROOT)): n for p in SOURCES if (n := len(p.read_text().split("\n"))) > 500}
    assert long == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > 60:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} {length}")
    assert long == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "manager", "common", "core", "misc"}
    assert [str(p.relative_to(ROOT)) for p in SOURCES if p.stem in empty] == []


def test_every_module_says_what_it_promises() -> None:
    silent = [
        str(p.relative_to(ROOT))
        for p in SOURCES
        if p.read_text().strip() and not ast.get_docstring(ast.parse(p.read_text()))
    ]
    assert silent == []


def test_version_costs_little_and_needs_no_library() -> None:
    code = (
        "import sys; sys.argv = ['interlock', '--version']\n"
        "from interlock.runtime.cli.main import main; main()\n"
        "heavy = {'typer', 'click', 'pydantic', 'textual', 'orjson', 'asyncio', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert in_fresh_process(code).splitlines()[-1] == "[]"


def test_the_version_stands_in_one_place_and_the_package_agrees() -> None:
    import tomllib

    from interlock.runtime.version import __version__

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_session_text_is_never_split_by_str_splitlines() -> None:
    """str.splitlines breaks a record at U+2028, U+0085 and more; journals are split at byte 0x0A alone."""
    guilty = []
    for package in ("runtime/journal", "runtime/sources", "runtime/state", "runtime/library"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and node.attr == "splitlines":
                    guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert guilty == []
