"""Values of options that would lead out of the workspace if they were files: `file -f /etc/list`, `du -X ../names`.

Promises: for commands that only read, where the operands are known from a table; values that are texts by the option's
meaning (patterns, separators) are left out. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.runtime.policy.shell.classify import FORMS, program_name
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.shell.option import names

_TEXTS = names(
    "-e --regexp --expression -d --delimiter --delimiters -F --field-separator --fs -g --glob --iglob --include --exclude "
    "--exclude-dir -I -P --ignore -w --width --label --format --printf -s --separator --output-delimiter --replace --arg "
    "--argjson --args --jsonargs --time-style --date -i --filter --xpath"
)


def option_paths(simple: SimpleCommand) -> Iterator[str]:
    """The values that begin as only a path outside would."""
    name = program_name(simple.program).rpartition("/")[2]
    form = FORMS.get(name)
    if form is None:
        return
    for option in form.read(simple.argv[1:]).options:
        value = option.value or ""
        if option.name not in _TEXTS and _leads_out(value):
            yield value


def _leads_out(value: str) -> bool:
    if value == "..":
        return True
    return len(value) > 2 and (value.startswith(("/", "../", "~/")) or "/../" in value)
