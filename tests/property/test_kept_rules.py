"""Rules that answers put into the user's policy file. (spec ASK-4, PO-5)"""

from __future__ import annotations

import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.runtime.engine.offer import layer_of
from interlock.runtime.engine.rule_text import rule_id, rule_text
from interlock.runtime.policy.rules.grant import Grant, Suggestion
from interlock.runtime.tools.kept_rule import KeptRuleError, drop_rule, keep_rule, kept_rules

NOW = datetime(2026, 1, 10, tzinfo=UTC)
PIECES = (
    "# a comment\n",
    "\n",
    'allow = ["git log *"]\n',
    'mode = "ask"  # strict\n',
    '[[rule]]\nid = "one"\neffect = "deny"\ncommand = "rm *"\n',
    '[[rule]]\r\nid = "two"\r\neffect = "ask"\r\nreason = """\n# no comment\n[[rule]]\n"""\r\n',
    "[[rule]]\n# inside\nid='three' # x\neffect = 'allow'\ncommand = [\n  'ls *', # one\n]\n# behind\n",
    "# kept by Interlock, by hand\n",
    "# π \u2028 \x0b not a line end\n",
)


def text(name: str, command: str = "touch *") -> str:
    return f'[[rule]]\nid = "{name}"\neffect = "allow"\ntool = "bash"\ncommand = "{command}"\n'


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(st.sampled_from(PIECES), max_size=6),
    after=st.sampled_from(("", "# end\n", '\n[[rule]]\nid = "z"\neffect = "deny"\nprogram = "q"\n')),
    cut=st.booleans(),
    bom=st.booleans(),
)
def test_a_rule_comes_and_goes_and_all_else_stays_byte_for_byte(
    tmp_path: Path, before: list[str], after: str, cut: bool, bom: bool
) -> None:
    file = tmp_path / "policy.toml"
    old = "".join(before)
    old = ("\ufeff" if bom else "") + (old.rstrip("\n") if cut else old)
    file.write_bytes(old.encode())
    try:
        keep_rule(text("kept-1"), "kept-1", NOW, file=file)
    except KeptRuleError:
        assert file.read_bytes() == old.encode()
        return
    grown = file.read_bytes()
    assert grown.startswith(old.encode())
    assert [rule.id for rule in kept_rules(file=file)] == ["kept-1"]
    file.write_bytes(grown + after.encode())
    assert drop_rule("kept-1", file=file)
    end = "\n" if cut and old.strip("\ufeff") else ""
    left = file.read_bytes().decode()
    assert left in (old + after, old + end + after)
    assert not drop_rule("kept-1", file=file)
    assert kept_rules(file=file) == ()


def test_the_same_rule_twice_stands_once_and_another_of_its_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    keep_rule(text("a"), "a", NOW, file=file)
    once = file.read_bytes()
    keep_rule(text("a"), "a", NOW, file=file)
    with pytest.raises(KeptRuleError, match="another id"):
        keep_rule(text("a", "mkdir *"), "a", NOW, file=file)
    assert file.read_bytes() == once


def test_two_rules_are_taken_out_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    for name in ("a", "b", "c"):
        keep_rule(text(name), name, NOW, file=file)
    assert drop_rule("b", file=file)
    assert [rule.id for rule in kept_rules(file=file)] == ["a", "c"]
    assert drop_rule("a", file=file)
    assert drop_rule("c", file=file)
    assert file.read_bytes() == b""


def test_a_link_stays_a_link_and_a_mode_a_mode(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "policy.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    link.symlink_to(real)
    keep_rule(text("a"), "a", NOW, file=link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert 'id = "a"' in real.read_text()
    assert sorted(os.listdir(tmp_path)) == [".policy.toml.lock", "dotfiles.toml", "policy.toml"]


@pytest.mark.parametrize(
    "old", ['allow = ["', 'reason = """\nopen', '[[rule]]\nid = "a"\neffect = "allow"\ncommand = "ls *"\n', "x = \xff"]
)
def test_a_file_that_cannot_hold_the_rule_is_left_as_it_is_and_the_error_names_it(tmp_path: Path, old: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(old.encode("latin-1"))
    with pytest.raises(KeptRuleError, match=r"policy\.toml"):
        keep_rule(text("a"), "a", NOW, file=file)
    assert file.read_bytes() == old.encode("latin-1")


def test_a_rule_that_stands_twice_is_left_for_a_person(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text("a") + text("a", "mkdir *"))
    with pytest.raises(KeptRuleError, match="2 rules"):
        drop_rule("a", file=file)
    assert file.read_text() == text("a") + text("a", "mkdir *")


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    names = [f"r{n}" for n in range(12)]
    threads = [threading.Thread(target=keep_rule, args=(text(n), n, NOW), kwargs={"file": file}) for n in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(rule.id for rule in kept_rules(file=file)) == sorted(names)


VALUES = st.text(st.characters(exclude_characters="\n\0", exclude_categories=("Cs",)), min_size=1, max_size=40)


@settings(max_examples=200, deadline=None)
@given(value=VALUES, kind=st.sampled_from(("pattern", "path", "folder")))
def test_the_text_of_a_suggestion_says_what_its_grant_says_or_is_no_rule(value: str, kind: str) -> None:
    tool = "bash" if kind == "pattern" else "write_file"
    value = value if kind == "pattern" else "/w/" + value
    one = Suggestion(tool, kind, value, "/w", "")  # type: ignore[arg-type]
    layer = layer_of(rule_text(one), "")
    if layer is None:
        return
    (rule,) = layer.rules
    assert (rule.id, rule.effect, rule.tools) == (rule_id(one), "allow", (tool,))
    assert (rule.outside_too, rule.guarded_too, rule.variables) == (False, False, ())
    as_rule = Grant("g", tool, kind, value, "/w").as_rule()  # type: ignore[arg-type]
    if as_rule is not None:
        assert (rule.commands, rule.paths) == (as_rule.commands, as_rule.paths)
