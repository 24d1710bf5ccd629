"""The tools of every agent, ours among them, and what each field of their input means.

Promises: data and its reading, no judgement. Names and fields are those that the agents' own tool definitions give;
what is not in the table is not known, and whoever judges has to treat it so. Pure.

One line a tool: its name, `=`, our tool, `:`, then its fields as `name/role`. A field without a role is text that
decides nothing about what is touched; `!` behind a field: it has to be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from interlock.runtime.policy.facts.command_text import command_of
from interlock.runtime.policy.facts.tool_name import is_known, tool_kind

NOTES = "agent_notes"
"""Our name for tools that only keep an agent's own list of tasks, or read what its own shell printed."""
ROLES = frozenset(("command", "typed", "cwd", "path", "paths", "gone", "pattern", "glob", "url", "patch", "changes", "escape",
                   "shell", "memory", ""))  # fmt: skip
"""What a field can mean; `escape`: leaves the agent's own sandbox; `memory`: goes to a file of the agent's rules; `gone`:
paths of files that are deleted."""
OWN = "interlock"
"""The form of our own tools, whatever agent uses them."""
ANY = "any"
"""The form of a call whose agent is not told: what the tool and its fields mean to whichever agent has them."""

_OWN = """
bash = bash: command/command cwd/cwd timeout_s
read_file = read_file: path/path offset limit
write_file = write_file: path/path content
edit_file = edit_file: path/path old_string new_string replace_all
glob = glob: pattern/pattern path/path
grep = grep: pattern path/path glob/glob mode context ignore_case
read_artifact = read_artifact: artifact around offset limit
"""

_CLAUDE = """
Bash = bash: command/command timeout description run_in_background dangerouslyDisableSandbox/escape
Read = read_file: file_path/path offset limit pages
Write = write_file: file_path/path content
Edit = edit_file: file_path/path old_string new_string replace_all
MultiEdit = edit_file: file_path/path edits
NotebookRead = read_file: notebook_path/path cell_id
NotebookEdit = edit_file: notebook_path/path new_source cell_id cell_number cell_type edit_mode
Glob = glob: pattern/pattern! path/path
Grep = grep: pattern! path/path glob/glob output_mode -A -B -C -n -i -o context type head_limit offset multiline
LS = glob: path/path ignore
WebFetch = web_fetch: url/url prompt
WebSearch = web_fetch: query allowed_domains blocked_domains
TodoWrite = agent_notes: todos
TodoRead = agent_notes:
TaskCreate = agent_notes: subject description activeForm metadata
TaskUpdate = agent_notes: taskId status subject description activeForm owner metadata addBlocks addBlockedBy
TaskList = agent_notes:
TaskGet = agent_notes: taskId
BashOutput = agent_notes: bash_id filter
KillShell = agent_notes: shell_id
KillBash = agent_notes: shell_id
"""
_ESCAPES = "sandbox_permissions/escape with_escalated_permissions/escape additional_permissions/escape justification prefix_rule"
_MORE = "max_output_tokens"
_CODEX = f"""
shell = bash: command/command workdir/cwd cwd/cwd timeout timeout_ms login {_ESCAPES}
container.exec = bash: command/command workdir/cwd cwd/cwd timeout timeout_ms login {_ESCAPES}
local_shell = bash: command/command workdir/cwd working_directory/cwd cwd/cwd timeout timeout_ms login {_ESCAPES}
shell_command = bash: command/command workdir/cwd cwd/cwd timeout timeout_ms login {_ESCAPES}
Bash = bash: command/command workdir/cwd cwd/cwd timeout timeout_ms login description {_ESCAPES}
exec_command = bash: cmd/command command/command workdir/cwd cwd/cwd shell/shell login tty yield_time_ms {_MORE} {_ESCAPES}
write_stdin = bash: chars/typed session_id yield_time_ms max_output_tokens
apply_patch = edit_file: input/patch patch/patch command/patch changes/changes fileChanges/changes workdir/cwd cwd/cwd
view_image = read_file: path/path detail
read_file = read_file: file_path/path offset limit mode indentation
list_dir = glob: dir_path/path offset limit depth
grep_files = grep: pattern! include/glob path/path limit
update_plan = agent_notes: plan explanation
web_search = web_fetch: query
"""
_GEMINI = """
run_shell_command = bash: command/command description directory/cwd dir_path/cwd is_background delay_ms
write_file = write_file: file_path/path content ai_proposed_content modified_by_user
replace = edit_file: file_path/path old_string new_string instruction expected_replacements allow_multiple ai_proposed_content modified_by_user
read_file = read_file: file_path/path absolute_path/path path/path offset limit start_line end_line
read_many_files = grep: include/paths paths/paths exclude recursive useDefaultExcludes file_filtering_options
list_directory = glob: path/path dir_path/path ignore file_filtering_options respect_git_ignore
glob = glob: pattern/pattern! path/path dir_path/path case_sensitive respect_git_ignore respect_gemini_ignore
search_file_content = grep: pattern! path/path dir_path/path include/glob include_pattern/glob exclude_pattern names_only max_matches_per_file total_max_matches case_sensitive fixed_strings context after before no_ignore
grep_search = grep: pattern! path/path dir_path/path include/glob include_pattern/glob exclude_pattern names_only max_matches_per_file total_max_matches case_sensitive fixed_strings context after before no_ignore
web_fetch = web_fetch: prompt/url
google_web_search = web_fetch: query
save_memory = edit_file: fact/memory scope
write_todos = agent_notes: todos
"""  # noqa: E501
_OPENCODE = """
bash = bash: command/command workdir/cwd timeout description
read = read_file: filePath/path offset limit
write = write_file: filePath/path content
edit = edit_file: filePath/path oldString newString replaceAll
multiedit = edit_file: filePath/path edits
patch = edit_file: patchText/patch
apply_patch = edit_file: patchText/patch
glob = glob: pattern/pattern! path/path
grep = grep: pattern! path/path include/glob
list = glob: path/path ignore
webfetch = web_fetch: url/url format timeout
websearch = web_fetch: query numResults livecrawl type contextMaxCharacters
codesearch = web_fetch: query tokensNum
todowrite = agent_notes: todos
todoread = agent_notes:
"""
_ACP = """
execute = bash: command/command cwd/cwd title rawInput
read = read_file: paths/paths title rawInput
edit = edit_file: paths/paths title rawInput
delete = edit_file: paths/gone title rawInput
move = edit_file: paths/paths title rawInput
"""
"""The kinds of the Agent Client Protocol, with the fields that the gate fills in from whatever an agent tells."""
_BY_AGENT = {OWN: _OWN, "claude": _CLAUDE, "codex": _CODEX, "gemini": _GEMINI, "opencode": _OPENCODE, "acp": _ACP}
_FOREIGN = frozenset(_BY_AGENT) - {OWN}


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """One tool of an agent."""

    kind: str
    """Our name for what it does."""
    fields: Mapping[str, str]
    """Field -> role."""
    needs: frozenset[str] = frozenset()
    """Fields that have to be there."""


def shell_text(tool: str, given: Mapping[str, object]) -> str | None:
    """The command in the input of a shell tool, ours or another agent's; None for a tool that is no shell.

    A tool that no agent here has counts as a shell when it is given a command.
    """
    known = _kinds().get(tool)
    if known is not None and "bash" not in known:
        return None
    return command_of(given)


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """What the tools of this name are, of whatever agent."""
    found: dict[str, set[str]] = {}
    for agent in _BY_AGENT:
        for name, tool in tools_of(agent).items():
            found.setdefault(name, set()).add(tool.kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


def agent_key(agent: str) -> str:
    """`claude`, `codex`, `gemini` or `opencode` for the ways in which these are written; others as they are."""
    lowered = agent.strip().lower().replace("_", "-").replace(" ", "-")
    return next((key for key in _FOREIGN if lowered == key or lowered.startswith(key + "-")), lowered)


def is_foreign(agent: str) -> bool:
    """Whether the agent brings tools of its own, and is not one that uses ours."""
    return agent_key(agent) in _FOREIGN


def foreign_tool(form: str, tool: str) -> ForeignTool | None:
    """The tool as the agent of this form defines it; None for one that is not known."""
    return _anyones(tool) if form == ANY else tools_of(form).get(tool)


def kinds_of(tool: str) -> frozenset[str]:
    """What a tool of this name does for whichever agent has one; nothing for a name that nobody has."""
    return _kinds().get(tool, frozenset()) | (frozenset([tool_kind(tool).name]) if is_known(tool) else frozenset())


def is_tool(name: str) -> bool:
    """Whether some agent has a tool of exactly this name."""
    return name in _kinds()


def shell_names() -> frozenset[str]:
    """Every name under which some agent has a shell."""
    return frozenset(name for name, kinds in _kinds().items() if "bash" in kinds)


@cache
def _anyones(tool: str) -> ForeignTool | None:
    """A tool by its name alone: ours, else all that some agent gives a tool of this name, or of a name that means it."""
    if (own := tools_of(OWN).get(tool)) is not None:
        return own
    kinds = _kinds().get(tool) or ({tool_kind(tool).name} if is_known(tool) else set())
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    alike = [(name, found) for agent in _BY_AGENT for name, found in tools_of(agent).items() if found.kind == kind]
    # what a field means to a tool of this very name stands above what it means to others of the kind
    ordered = sorted(alike, key=lambda pair: pair[0] == tool)
    return ForeignTool(kind, {field: role for _, found in ordered for field, role in found.fields.items()})


@cache
def tools_of(agent: str) -> Mapping[str, ForeignTool]:
    """Every tool of an agent by its name."""
    rows = [row for row in _BY_AGENT.get(agent, "").splitlines() if row.strip()]
    return dict(_row(row) for row in rows)


def _row(row: str) -> tuple[str, ForeignTool]:
    name, _, rest = row.partition(" = ")
    kind, _, fields = rest.partition(":")
    words = fields.split()
    roles = {field: role for field, _, role in (word.rstrip("!").partition("/") for word in words)}
    assert set(roles.values()) <= ROLES, row
    needs = frozenset(word.rstrip("!").partition("/")[0] for word in words if word.endswith("!"))
    return name, ForeignTool(kind, roles, needs)
