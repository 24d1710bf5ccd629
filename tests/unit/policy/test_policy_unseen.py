"""Many spellings of each kind of fault, over real files in a real repository: none of them passes, and reading does.

The rules are made for each kind: a deny beside an allow for every program that the lines of the kind name.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.policy.verdict.decision import Decision
from interlock.runtime.tools.world import PosixWorld

LINES = (Path(__file__).parents[2] / "data" / "policy" / "unseen.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]
READS = '[[rule]]\nid = "reads"\neffect = "allow"\nread_only = true\ninside = true\n'
TOOLS = '[[rule]]\nid = "tools"\neffect = "allow"\ncommand = [{}]\n'
RULES = {
    "path": '[[rule]]\nid = "keep"\neffect = "deny"\npath = "keep/**"\n' + TOOLS,
    "host": '[[rule]]\nid = "host"\neffect = "deny"\nhost = "evil.com"\n' + TOOLS,
    "only": TOOLS + 'host = "good.com"\n',
    "reads": READS,
    "deny": READS + '[[rule]]\nid = "no"\neffect = "deny"\npath = ["secrets/**", "**/*.pem"]\n',
    "everyday": "",
}
"""The rules of each kind; `{}`: an allow for each program of its lines."""
INNER = names("cat cp mv ls cd tee xargs echo printf find sed true exec env time sh bash head grep sort timeout nice")
FILES = {
    "keep/b": "precious\n", "keep/x": "k\n", "keep/y": "y: 1\n", "secrets/key": "key\n", "a.pem": "p\n",
    "a.txt": "a\n", "b.txt": "b\n",
    "data.json": '{"a": 1}\n', "data.csv": "a,b\n1,2\n", "d.xml": "<a/>\n", "src/m.py": "print(1)\n", "src/deep/n.py": "x\n",
    "docs/a.md": "# a\n", "README.md": "# R\n", "log.txt": "log\n", "pyproject.toml": '[project]\nname = "x"\n',
    "package.json": '{"name": "x", "scripts": {"test": "echo"}}\n',
    "Makefile": "all:\n", "evil": "#!/bin/sh\n", "evil.sh": "x\n", "evil.py": "x\n", "evil.awk": "x\n", "sub/.gitkeep": "",
}  # fmt: skip
SECRETS = {".env": "KEY=1\n", "id_rsa": "k\n"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a remote, files to keep, files to hide, and links."""
    root = tmp_path_factory.mktemp("unseen").resolve() / "project"
    _write(root, FILES)
    for words in (["init", "-q"], ["add", "-A"], ["remote", "add", "origin", "https://evil.com/r.git"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *named, "commit", "-qm", "x"], cwd=root, check=True)
    _write(root, SECRETS)
    (root / "lk").symlink_to("keep")
    (root / "lb").symlink_to("keep/b")
    return root


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _policy(kind: str, commands: Iterable[str]) -> Policy:
    programs = {
        word
        for command in commands
        if (word := _first_word(command)).strip("/").replace("-", "").replace(".", "").isalnum()
    }
    layer = load_layer(
        RULES[kind].format(", ".join(json.dumps(f"{p} *") for p in sorted({*programs, *INNER}))),
        file="p.toml",
        layer="user",
    )
    assert not layer.problems
    return with_built_in([layer])


def _first_word(command: str) -> str:
    return next((word for word in command.split() if not word.partition("=")[0].isidentifier() or "=" not in word), "")


def _judge(command: str, policy: Policy, root: Path) -> Decision:
    call = Call("bash", {"command": command}, str(root), (str(root),), str(root.parent))
    return decide(call, policy, PosixWorld())


@pytest.mark.parametrize("kind", RULES)
def test_every_line_of_a_kind_has_its_verdict(kind: str, place: Path) -> None:
    cases = [case for case in CASES if case["kind"] == kind]
    policy = _policy(kind, (case["command"] for case in cases))
    judged = [(case, _judge(case["command"], policy, place)) for case in cases]
    wrong = [
        f"{case['command']}: {d.effect}, {d.reason}"
        for case, d in judged
        if (d.effect == "allow") != (case["must"] == "allow")
    ]
    assert not wrong, "\n".join(wrong)
    assert not [d.reason for _, d in judged if "policy-fault" in d.policy_ids]


@pytest.mark.parametrize(
    "command", ["awk -f evil.awk", "python3 evil.py", "./evil", "bash evil.sh", "sed -f evil.sed a.txt"]
)
def test_nothing_is_offered_that_covers_a_script_file(command: str, place: Path) -> None:
    assert not _judge(command, _policy("reads", ()), place).suggestions


def test_there_are_many_lines_of_every_kind() -> None:
    assert min(sum(case["kind"] == kind for case in CASES) for kind in RULES) > 120
