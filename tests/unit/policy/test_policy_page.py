"""docs/policy.md holds: its files are read without a fault, its table of verdicts and its commands are tried."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```toml\n# (\S+)\n(.*?)```", PAGE, re.S))
_ROW = re.compile(r"^\| `(.+?)` \| (allow|ask|deny) \|", re.M)
_BARE = PAGE.split("## What needs no ask")[1].split("\n## ")[0]
BARE_ROWS = _ROW.findall(_BARE)
ROWS = _ROW.findall(PAGE.replace(_BARE, ""))


def interlock(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", *words],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "INTERLOCK_RUN_DIR": str(home / "run")},
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the files of the page."""
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "secrets").mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def _case(call: str, want: str) -> str:
    words = call.replace("\\|", "|")
    if words.startswith("write_file "):
        return f'[[case]]\ntool = "write_file"\npath = "{words.split()[1]}"\nwant = "{want}"\n'
    return f"[[case]]\ncommand = '''{words}'''\nwant = \"{want}\"\n"


def test_every_verdict_of_the_page_comes_out(home: Path) -> None:
    assert len(ROWS) >= 13
    table = home / "rows.toml"
    table.write_text('policy = "policy.toml"\n' + "".join(_case(call, want) for call, want in ROWS))
    done = interlock(home, "policy", "test", str(table))
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_page_says_of_no_rule_at_all_comes_out(home: Path) -> None:
    assert len(BARE_ROWS) >= 12
    (home / "none.toml").write_text("")
    table = home / "bare.toml"
    table.write_text('policy = "none.toml"\n' + "".join(_case(call, want) for call, want in BARE_ROWS))
    done = interlock(home, "policy", "test", str(table))
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_page_switches_off_asks(home: Path) -> None:
    allowed = [call for call, want in BARE_ROWS if want == "allow"]
    table = home / "off.toml"
    table.write_text('policy = "quiet.toml"\n' + "".join(_case(call, "ask") for call in allowed))
    done = interlock(home, "policy", "test", str(table))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["policy.toml", "short.toml"])
def test_the_files_of_the_page_have_no_fault(home: Path, name: str) -> None:
    done = interlock(home, "policy", "list", "--policy", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("  user") + done.stdout.count("user  ") >= len(tomllib.loads(FILES[name]).get("rule", [1]))


@pytest.mark.parametrize("line", re.findall(r"^\$ interlock (policy .*)$", PAGE, re.M))
def test_the_commands_of_the_page_run(home: Path, line: str) -> None:
    done = interlock(home, *shlex.split(line))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_the_table_of_the_page_holds(home: Path) -> None:
    done = interlock(home, "policy", "test", "table.toml")
    assert done.returncode == 0, done.stdout
    assert "2 of 2" in done.stdout


def test_a_table_that_does_not_hold_ends_with_one_and_names_the_case(home: Path) -> None:
    (home / "wrong.toml").write_text('policy = "policy.toml"\n[[case]]\ncommand = "rm -rf x"\nwant = "allow"\n')
    done = interlock(home, "policy", "test", "wrong.toml")
    assert done.returncode == 1
    assert "rm -rf x" in done.stdout
    assert "deny, not allow" in done.stdout
