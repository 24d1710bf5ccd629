"""The public shell cases as a table."""

from __future__ import annotations

from collections import Counter

from interlock.runtime.policy.facts.effect import effects
from interlock.runtime.policy.shell import is_read_only, is_wrapper, parse_command


def _gate(command: str, home: str) -> bool:
    facts = parse_command(command, home=home)
    return facts.understood and all(is_read_only(c).ok for c in facts.commands)


def test_every_program_that_would_run_is_named(shell_case: tuple[str, dict]) -> None:
    """spec: RT-8; entries in angle brackets stand for anything."""
    command, row = shell_case
    wanted = row["what_must_happen"]["names"]
    names = Counter(c.program for c in parse_command(command, home="/home/u").commands if c.program)
    literal = Counter(n for n in wanted if not n.startswith("<"))
    assert not literal - names
    assert names.total() == len(wanted)


def test_the_gate_lets_pass_exactly_what_only_reads(shell_case: tuple[str, dict]) -> None:
    """spec: RT-8; a case that may be allowed is read-only as stated, no other passes unless it is stated so."""
    command, row = shell_case
    assert _gate(command, row["input"]["home"]) == row["what_must_happen"]["read_only"]


def test_a_deny_case_is_never_read_only(shell_case: tuple[str, dict]) -> None:
    """spec: RT-5."""
    command, row = shell_case
    if row["what_must_happen"]["decision"] == "must_deny":
        assert not _gate(command, row["input"]["home"])


def test_a_write_that_a_case_names_is_found(shell_case: tuple[str, dict]) -> None:
    """ours: what is written is at least what the case says, where the case names plain operands."""
    command, row = shell_case
    if row["what_must_happen"]["decision"] != "must_deny" or "$" in command or "case" in command:
        return
    found = {w for c in parse_command(command, home="/home/u").commands for w in effects(c).writes}
    assert set(row["what_must_happen"]["writes"]) <= found


def test_a_login_shell_around_a_command_is_a_wrapper() -> None:
    """ours: BC-049, rules look at what is inside."""
    facts = parse_command("/bin/zsh -lc 'gh api repos/a/b'")
    assert [c.argv for c in facts.commands][1] == ("gh", "api", "repos/a/b")
    assert is_wrapper(facts.commands[0])
    assert facts.understood


def test_a_script_file_or_a_variable_is_no_wrapper() -> None:
    """ours: BC-049."""
    assert not is_wrapper(parse_command("sh script.sh").commands[0])
    assert not parse_command('bash -c "$CMD"').understood


def test_quotes_and_comments_are_not_operators() -> None:
    """ours: BC-046."""
    facts = parse_command("grep -n 'a|b;c&&d' f.py | tail -2 # ; rm -rf x")
    assert [c.program for c in facts.commands] == ["grep", "tail"]
    assert facts.operators == ("|",)


def test_a_program_name_with_a_space_is_one_word() -> None:
    """ours: BC-046."""
    facts = parse_command('"C:/Program Files/LLVM/bin/clang.exe" -std=c11 t.c -o t.exe 2>&1 | tail -5')
    assert facts.commands[0].program == "C:/Program Files/LLVM/bin/clang.exe"
    assert facts.understood


def test_the_directory_of_a_later_command_is_stated() -> None:
    """ours: BC-023."""
    facts = parse_command("cd /srv/www/html && rm -rf *", cwd="/home/dev/app")
    assert facts.commands[1].cwd == "/srv/www/html"


def test_blank_lines_hide_no_command() -> None:
    """ours: BC-022."""
    assert [c.program for c in parse_command("npm test" + "\n" * 40 + "rm -rf ./data").commands] == ["npm", "rm"]


def test_the_operators_tell_where_an_earlier_stage_may_fail_unseen() -> None:
    """ours: BC-078."""
    seen = {c: parse_command(c).operators for c in ("false; echo done", "true && false", "ls /nonexistent 2>&1")}
    assert list(seen.values()) == [(";",), ("&&",), ()]
    assert parse_command("(echo 2 failed; exit 1) | tail -1").operators == ("|",)
