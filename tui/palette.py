"""The command palette: what the present screen can do, found by title or by what it does.

Promises: only commands that are bound and enabled on the screen below are offered, with their current key, so the
palette can do no more than the keyboard. Answers are not offered: they belong to the card and its guard time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode

from interlock.tui.commands import REGISTRY, Command, key_label


class CommandProvider(Provider):
    """Offers the active commands. Set `COMMANDS = {CommandProvider}` on the app."""

    async def discover(self) -> Hits:
        for command, key, node in self._active():
            yield DiscoveryHit(f"{command.title}  {key}", self._runner(command, node), command.title, command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command, key, node in self._active():
            score = max(matcher.match(command.title), matcher.match(command.help) * 0.6)
            if score > 0:
                title = f"{command.title}  {key}"
                yield Hit(score, matcher.highlight(title), self._runner(command, node), command.title, command.help)

    def _active(self) -> Iterator[tuple[type[Command], str, DOMNode]]:
        """In the order of the help, with the moves last: who looks for a command knows how to move."""
        order = {name: place for place, name in enumerate(REGISTRY)}
        found = self._found()
        yield from sorted(found, key=lambda one: (one[0].group == "Move", order[one[0].name]))

    def _found(self) -> Iterator[tuple[type[Command], str, DOMNode]]:
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            command = REGISTRY.get(active.binding.id or "")
            if command and active.enabled and not command.answers and command.name not in seen:
                seen.add(command.name)
                yield command, key_label(active.binding.key), active.node

    def _runner(self, command: type[Command], node: DOMNode) -> partial[object]:
        return partial(self.app.run_action, command.name, default_namespace=node)
