"""Runs many generated commands, and makes what was missed as small as it can be.

Promises: the same commands for the same seed; what happened once and not again is no miss;
a miss is told with its smallest words, what was seen and what was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.oracle.claims import Claims, claims_of
from tests.oracle.generate import Command, generate
from tests.oracle.sandbox import run_traced
from tests.oracle.trace import Touch
from tests.oracle.uncovered import find_uncovered

_BATCH = 400
_REPEATS = 2
"""How often a command that missed is run again before it counts."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One command that touched what nobody said."""

    command: Command
    touches: tuple[Touch, ...]
    claims: Claims

    @property
    def key(self) -> tuple[str, ...]:
        """Misses of one key are taken for one fault."""
        first = self.touches[0]
        return self.command.entry, first.kind, first.call, first.program.rpartition("/")[2]


@dataclass(slots=True)
class Catch:
    """What a hunt brought."""

    ran: Counter[str] = field(default_factory=Counter)
    """Commands of each program."""
    touched: Counter[str] = field(default_factory=Counter)
    """Things that they touched, in the fixture or outside of it, by kind."""
    misses: list[Miss] = field(default_factory=list)


def hunt(seeds: range, root: Path, scratch: Path, only: str = "") -> Catch:
    """Run the commands of `seeds`. `root`: the fixture; `scratch`: a folder for what is left over."""
    catch = Catch()
    for batch in _batches(seeds):
        commands = [generate(seed, only) for seed in batch]
        catch.ran.update(command.entry.split(" ")[0] for command in commands)
        catch.misses += _again(_missed(commands, root, scratch, catch.touched), root, scratch)
    return catch


def _again(misses: list[Miss], root: Path, scratch: Path) -> list[Miss]:
    """Those that are missed each time: what a command was ended at, or which of two was first, is no fault of the facts."""
    for _ in range(_REPEATS):
        if misses:
            misses = _missed([miss.command for miss in misses], root, scratch)
    return misses


def _batches(seeds: range) -> Iterator[range]:
    for at in range(0, len(seeds), _BATCH):
        yield seeds[at : at + _BATCH]


def _missed(commands: Sequence[Command], root: Path, scratch: Path, touched: Counter[str] | None = None) -> list[Miss]:
    texts = [command.text(str(root)) for command in commands]
    seen = run_traced(texts, root, scratch)
    found: list[Miss] = []
    for command, text, touches in zip(commands, texts, seen, strict=True):
        claims = claims_of(text, root)
        if touched is not None:
            touched.update(
                touch.kind for touch in touches if touch.path.startswith(str(root)) or touch.kind == "connect"
            )
        if missed := find_uncovered(touches, claims, root):
            found.append(Miss(command, tuple(missed), claims))
    return found


def shrink(misses: Sequence[Miss], root: Path, scratch: Path, rounds: int = 8) -> list[Miss]:
    """The same misses with as few words as still miss, all of them together, one sandbox a round."""
    best = list(misses)
    open_ = set(range(len(best)))
    for _ in range(rounds):
        tries = [(at, smaller) for at in sorted(open_) for smaller in _smaller(best[at].command)]
        if not tries:
            break
        still = {miss.command: miss for miss in _missed([command for _, command in tries], root, scratch)}
        gained: dict[int, Miss] = {}
        for at, command in tries:
            if at not in gained and command in still and _is_same(still[command], best[at]):
                gained[at] = still[command]
        for at, miss in gained.items():
            best[at] = miss
        open_ = set(gained)
    return best


def _is_same(miss: Miss, old: Miss) -> bool:
    return miss.touches[0].kind in {touch.kind for touch in old.touches}


def _smaller(command: Command) -> Iterator[Command]:
    words = command.words
    names = [part for part in command.entry.split(" ") if part.islower()]
    for size in dict.fromkeys((len(words) // 2, 2, 1)):
        for at in range(0, len(words) - size + 1, max(size, 1)) if size < len(words) else ():
            rest = (*words[:at], *words[at + size :])
            if all(any(name in word for word in rest) for name in names):
                yield Command(command.entry, rest)


def smallest_each(misses: Sequence[Miss], root: Path, scratch: Path, most: int = 40) -> list[tuple[int, Miss]]:
    """How often and the smallest command of each kind of miss, most frequent first."""
    groups: dict[tuple[str, ...], list[Miss]] = {}
    for miss in misses:
        groups.setdefault(miss.key, []).append(miss)
    ranked = sorted(groups.values(), key=len, reverse=True)[:most]
    small = shrink([min(group, key=lambda miss: len(miss.command.words)) for group in ranked], root, scratch)
    return list(zip(map(len, ranked), small, strict=True))


def describe(miss: Miss, root: Path, times: int = 1) -> str:
    """For a reader: the command, what was seen, what was said."""
    claims = miss.claims
    flags = [name for name in ("any_read", "any_write", "any_program", "any_host", "network") if getattr(claims, name)]
    said = [
        f"reads {_listed(claims.reads)}",
        f"writes {_listed(claims.writes)}",
        f"runs {' '.join(sorted(claims.programs))}",
    ]
    said += [f"hosts {' '.join(sorted(claims.hosts))}"] if claims.hosts else []
    text = f"{times}x  {miss.command.text('@ROOT@')}\n"
    for touch in miss.touches[:4]:
        text += f"      seen: {touch.kind} {touch.path} ({touch.call} by {touch.program.rpartition('/')[2]})\n"
    text += f"      said: {'; '.join([*said, *flags])}\n"
    return text.replace(str(root), "@ROOT@")


def _listed(places: Sequence[tuple[str, bool]]) -> str:
    return " ".join(f"{path}{'/**' if below else ''}" for path, below in places[:6]) or "-"


def report(catch: Catch, found: Sequence[tuple[int, Miss]], root: Path) -> str:
    """The misses by program, most frequent first, as a page."""
    programs = Counter(miss.command.entry.split(" ")[0] for miss in catch.misses)
    lines = [f"{sum(catch.ran.values())} commands of {len(catch.ran)} programs, {len(catch.misses)} missed.\n"]
    for program, count in programs.most_common():
        lines.append(f"\n## {program}: {count} of {catch.ran[program]}\n\n```")
        lines += [describe(miss, root, times) for times, miss in found if miss.command.entry.split(" ")[0] == program]
        lines.append("```")
    return "\n".join(lines) + "\n"
