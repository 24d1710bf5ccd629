"""What the policy says of another agent's call (PO-6).

Promises: the files of every layer are read again when any of them has changed, so an edited rule holds for the next call;
a call that cannot be judged is one that asks. Does not promise: to see a change that keeps size and time of a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.gemini.permit import policy_file
from interlock.runtime.journal.place import config_home, run_home, state_home
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.verdict.decide import Decision, Policy, World, decide
from interlock.runtime.tools.policy_files import MANAGED, PROJECT_FILES, load_policy, user_file
from interlock.runtime.tools.world import PosixWorld

Signature = tuple[tuple[int, int, int] | None, ...]


class Rules:
    """The policy of all layers for any workspace, kept while its files stay as they are."""

    def __init__(self, managed: Path = MANAGED) -> None:
        self._managed = managed
        self._kept: dict[tuple[str, ...], tuple[Signature, Policy]] = {}
        self.world: World = PosixWorld()
        self._home = os.path.expanduser("~")
        sign = policy_file(os.environ)
        self._protected = (str(state_home()), str(config_home()), str(run_home()), str(sign))

    def policy(self, roots: Sequence[str]) -> Policy:
        """The policy for a workspace."""
        key = tuple(roots)
        seen = _signature(self._files(key))
        kept = self._kept.get(key)
        if kept is None or kept[0] != seen:
            kept = self._kept[key] = (seen, load_policy(key, managed=self._managed))
        return kept[1]

    def decide(
        self, agent: str, call: ForeignCall, roots: Sequence[str], grants: Sequence[Grant], now: datetime
    ) -> Decision:
        """The verdict on one call. Never raises."""
        asked = self.as_ours(agent, call, roots)
        return decide(asked, self.policy(roots), self.world, grants, now)

    def as_ours(self, agent: str, call: ForeignCall, roots: Sequence[str]) -> Call:
        """The call in the policy's words."""
        return make_call(
            agent,
            call.tool,
            call.input,
            cwd=call.cwd,
            workspace=tuple(roots),
            home=self._home,
            protected=self._protected,
        )

    def _files(self, roots: Sequence[str]) -> list[Path]:
        projects = [Path(root) / name for root in roots for name in PROJECT_FILES]
        # trust is kept in a file of its own and decides which allows of a project count
        return [self._managed, user_file(), config_home() / "trusted-policies.json", *projects]


def _signature(files: Sequence[Path]) -> Signature:
    return tuple(_state(file) for file in files)


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        seen = os.stat(file)
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns
