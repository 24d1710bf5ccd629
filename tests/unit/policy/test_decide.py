"""The verdict on calls: paths, the deny list, commands and their parts, grants. (spec, RT-5, PO-1; cases PA-*)"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import default_policy, with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

NOW = datetime(2026, 1, 10, 9, 0, tzinfo=UTC)
RISKS = {
    "read_file": ({"read"}, True),
    "glob": ({"read"}, True),
    "grep": ({"read"}, True),
    "write_file": ({"write"}, False),
    "edit_file": ({"write"}, False),
    "bash": ({"execute"}, False),
}
READS_PASS = with_built_in(
    [
        load_layer(
            '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n', file="u.toml", layer="user"
        )
    ]
)
STRICT = {"allow": 0, "ask": 1, "deny": 2}


def call(tool: str, **arguments: Any) -> Call:
    risks, read_only = RISKS[tool]
    return Call(
        tool,
        arguments,
        cwd="/w/proj",
        workspace=("/w/proj",),
        home="/home/u",
        risks=frozenset(risks),
        read_only=read_only,
        protected=("/home/u/.local/state/interlock",),
    )


def judged(tool: str, *, world: MemoryWorld | None = None, policy: Policy | None = None, **arguments: Any) -> Decision:
    return decide(call(tool, **arguments), policy or default_policy(), world or MemoryWorld(), (), NOW)


def test_a_tool_that_only_reads_inside_the_workspace_passes() -> None:
    seen = judged("read_file", path="src/a.py")
    assert (seen.effect, seen.source, seen.policy_ids) == ("allow", "built-in", ("read-only-tools",))


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
def test_a_change_inside_the_workspace_asks(tool: str) -> None:
    assert judged(tool, path="src/a.py").effect == "ask"


@pytest.mark.parametrize("path", ["/w/proj/../proj-secret/key", "../x", "/etc/passwd", "/w/project2/a"])
def test_what_lies_outside_asks_whatever_the_raw_text_begins_with(path: str) -> None:
    """PA-006: `..` is resolved before anything is compared."""
    seen = judged("read_file", path=path)
    assert (seen.effect, seen.source) == ("ask", "path boundary")


def test_a_nul_in_a_path_is_refused() -> None:
    """PA-010."""
    assert judged("read_file", path="file\0.txt/../../etc/passwd").effect == "deny"


def test_a_file_tool_takes_a_dollar_as_a_plain_character() -> None:
    """PA-012: what the checker sees is what the tool opens."""
    seen = judged("read_file", path="$HOME/.ssh/id_rsa")
    assert seen.paths[0].resolved == "/w/proj/$HOME/.ssh/id_rsa"
    assert seen.paths[0].written == "$HOME/.ssh/id_rsa"


@pytest.mark.parametrize("path", ["/dev/fd/3", "/proc/1234/fd/3", "/proc/self/environ", "/dev/stdin"])
def test_descriptor_paths_are_never_allowed_by_themselves(path: str) -> None:
    """PA-014."""
    assert judged("read_file", path=path).effect == "ask"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/post-merge"])
def test_files_that_version_control_runs_ask_and_say_so(path: str) -> None:
    """PA-015."""
    seen = judged("write_file", path=path)
    assert seen.effect == "ask"
    assert "version control" in seen.reason
    assert seen.suggestions == ()


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        (".claude/settings.json", "Claude Code"),
        (".codex/config.toml", "Codex"),
        (".gemini/settings.json", "Gemini CLI"),
        (".cursor/mcp.json", "Cursor"),
        (".vscode/settings.json", "VS Code"),
        (".mcp.json", "MCP"),
        ("opencode.json", "opencode"),
        ("AGENTS.md", "AGENTS.md"),
        ("sub/agents.md", "AGENTS.md"),
    ],
)
def test_configuration_of_agents_asks_and_names_the_agent(path: str, agent: str) -> None:
    """PA-016."""
    seen = judged("write_file", path=path)
    assert seen.effect == "ask"
    assert agent in seen.reason


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
def test_our_own_files_are_denied_from_the_agents_side(tool: str) -> None:
    """PA-017."""
    seen = judged(tool, path="/home/u/.local/state/interlock/sessions/x/events.jsonl")
    assert (seen.effect, seen.policy_ids) == ("deny", ("own-files",))


def test_our_own_files_are_denied_through_a_link_and_through_the_shell() -> None:
    world = MemoryWorld(links={"/w/proj/notes": "/home/u/.local/state/interlock"})
    assert judged("read_file", world=world, path="notes/heads/x").effect == "deny"
    assert judged("bash", command="echo x > ~/.local/state/interlock/heads/a").effect == "deny"


def test_a_file_with_two_names_says_so() -> None:
    """PA-005."""
    world = MemoryWorld(kinds={"/w/proj/h": "file"}, names={"/w/proj/h": 2})
    seen = judged("edit_file", world=world, path="h")
    assert seen.effect == "ask"
    assert "2 names" in seen.reason


def test_a_workspace_root_that_is_a_link_works() -> None:
    world = MemoryWorld(links={"/w/proj": "/real/proj"})
    assert judged("read_file", world=world, path="/w/proj/a").effect == "allow"


def test_a_loop_of_links_asks() -> None:
    world = MemoryWorld(links={"/w/proj/a": "b", "/w/proj/b": "a"})
    assert judged("read_file", world=world, path="a").effect == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf ~",
        "rm -r -f /home/u",
        "cd / && rm -rf *",
        "sudo rm -rf /etc",
        "sh -c 'rm -rf /'",
        "mkfs.ext4 /dev/sda1",
        "ls; mkfs /dev/sdb",
        "dd if=/dev/zero of=/dev/sda",
        "true || rm --recursive --force /usr",
    ],
)
def test_what_cannot_be_undone_is_denied_wherever_it_stands(command: str) -> None:
    assert judged("bash", command=command).effect == "deny"


@pytest.mark.parametrize(
    "command", ["touch a", "npm test", "git push", "cat /etc/passwd", "rm -rf build", "$CMD", "(", "a `b"]
)
def test_every_other_shell_command_asks(command: str) -> None:
    assert judged("bash", command=command).effect == "ask"


def test_the_parts_of_a_command_are_told_with_their_folders_and_paths() -> None:
    """BC-023: the folder in which a part works is part of the fact."""
    facts = judged("bash", command="cd /srv/www/html && rm -rf *").facts()
    assert [(p["program"], p["cwd"]) for p in facts["parts"]] == [("cd", ""), ("rm", "/srv/www/html")]


def test_only_reading_passes_where_the_policy_says_so_and_one_part_that_writes_asks() -> None:
    policy = READS_PASS
    assert judged("bash", policy=policy, command="git status && ls src | head -3").effect == "allow"
    assert judged("bash", policy=policy, command="git status && touch x").effect == "ask"
    assert judged("bash", policy=policy, command="cat ~/.ssh/id_rsa").effect == "ask"


def test_nothing_standing_is_offered_for_what_destroys_or_is_not_understood() -> None:
    assert judged("bash", command="npm test").suggestions != ()
    for command in ("rm -rf build", "bash -c 'rm x'", "bash x.sh", "eval x", "$CMD", "sudo ls", "echo $(date)"):
        assert judged("bash", command=command).suggestions == (), command


def test_a_grant_covers_exactly_its_command_in_its_folder_until_its_time() -> None:
    grant = Grant("grant_1", "bash", "command", "npm test", "/w/proj", NOW + timedelta(minutes=10))
    same = call("bash", command="npm test")
    assert decide(same, default_policy(), MemoryWorld(), (grant,), NOW).effect == "allow"
    assert decide(same, default_policy(), MemoryWorld(), (grant,), NOW + timedelta(minutes=10)).effect == "ask"
    for other in (
        call("bash", command="npm test; ls"),
        replace(same, cwd="/w/proj/sub"),
        call("edit_file", path="npm test"),
    ):
        assert decide(other, default_policy(), MemoryWorld(), (grant,), NOW).effect == "ask"


def test_a_grant_never_opens_what_is_denied() -> None:
    grant = Grant("grant_1", "bash", "command", "rm -rf /", "/w/proj")
    assert decide(call("bash", command="rm -rf /"), default_policy(), MemoryWorld(), (grant,), NOW).effect == "deny"


def test_a_fault_inside_asks_and_says_so() -> None:
    class Broken(MemoryWorld):
        def resolve(self, path: str) -> Any:
            raise RuntimeError("no")

    seen = judged("read_file", world=Broken(), path="a")
    assert (seen.effect, seen.policy_ids) == ("ask", ("policy-fault",))


SIMPLE = st.sampled_from(
    [
        "ls",
        "cat a",
        "touch x",
        "npm test",
        "rm -rf /",
        "mkfs /dev/x",
        "echo hi > out",
        "git status",
        "$X",
        "cat /etc/hosts",
    ]
)


@given(
    st.lists(SIMPLE, min_size=1, max_size=5), st.sampled_from([" && ", " || ", "; ", " | ", "\n", " & "]), st.booleans()
)
def test_a_compound_command_is_never_judged_more_mildly_than_a_part(parts: list[str], joint: str, free: bool) -> None:
    policy = READS_PASS if free else default_policy()
    whole = judged("bash", policy=policy, command=joint.join(parts)).effect
    for part in parts:
        assert STRICT[whole] >= STRICT[judged("bash", policy=policy, command=part).effect]


@given(st.text(max_size=80))
def test_any_text_gets_a_verdict_and_none_is_allowed_by_default_but_what_only_reads(text: str) -> None:
    seen = judged("bash", command=text)
    assert seen.effect in ("ask", "deny") or all(part.read_only for part in seen.parts)


@pytest.mark.parametrize("root", ["/w/proj", "/w/my-proj (2)", "/w/a[b]!~"])
def test_what_goes_through_a_folder_asks_where_a_deny_speaks_of_files_below(root: str) -> None:
    text = '[[rule]]\nid = "s"\neffect = "deny"\npath = ["secrets/**", "**/*.pem"]\n'
    text += '[[rule]]\nid = "r"\neffect = "allow"\nread_only = true\ninside = true\n'
    policy = with_built_in([load_layer(text, file="u.toml", layer="user")])

    def effect(tool: str, **arguments: Any) -> str:
        asked = replace(call(tool, **arguments), cwd=root, workspace=(root,))
        return decide(asked, policy, MemoryWorld(), (), NOW).effect

    assert effect("bash", command="grep -r x .") == "ask"
    assert effect("bash", command="cat secrets/a") == "deny"
    assert effect("bash", command="cat src/a.pem") == "deny"
    assert effect("bash", command="cat src/a.py") == "allow"
    assert effect("read_file", path="secrets/deep/a") == "deny"
    assert effect("grep", pattern="x") == "ask"


def test_a_variable_in_front_of_the_words_of_a_deny_may_be_an_option() -> None:
    """ours: `git $x reset --hard` is what `git -C . reset --hard` is."""
    rules = '[[rule]]\nid = "no"\neffect = "deny"\ncommand = "git reset --hard *"\n'
    policy = with_built_in([load_layer(rules, file="p.toml", layer="user")])
    for command in ("git $x reset --hard", 'git "$x" reset --hard', "git `y` reset --hard"):
        assert judged("bash", policy=policy, command=command).effect == "deny", command
    assert judged("bash", policy=policy, command="git x reset --hard").effect == "ask"
