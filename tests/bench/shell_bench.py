"""How long the reading of shell commands takes: everyday commands, and the worst that an agent could send."""

from __future__ import annotations

import statistics
import time

from interlock.runtime.policy.shell import is_read_only, parse_command

_EVERYDAY = [
    "ls -la src", "cat README.md | head -20", 'grep -rn "TODO" src | sort | uniq -c', "git status", "git diff --stat",
    "git log --oneline -20", "npm test", "pytest -q tests/unit", "cd src && ls", "find . -name '*.py'", "python -m build",
    "sed -n '1,20p' a.py", "rg -n foo", "make check", "git commit -am wip", "rm notes.txt",
]  # fmt: skip
_HOSTILE = {
    "1 MB of one word": "echo " + "A" * 1_000_000,
    "50,000 parts": "true && " * 50_000 + "rm -rf x",
    "nested 10,000 deep": "echo " + "$(" * 10_000 + "id" + ")" * 10_000,
    "10,000 open brackets": "(" * 10_000,
    "200,000 expansions": "echo " + '"a$x"' * 200_000,
    "30,000 joined lines": "\\\n" * 30_000 + "ls",
    "5,000 braces": "{a,b" * 5_000,
    "20,000 backticks": "`" * 20_001,
}


def _seconds(command: str) -> float:
    start = time.perf_counter()
    for one in parse_command(command, home="/home/u", clock=time.perf_counter).commands[:50]:
        is_read_only(one)
    return time.perf_counter() - start


def _cpu_seconds(command: str) -> float:
    start = time.process_time()
    _seconds(command)
    return time.process_time() - start


def run() -> list[tuple[str, str, str]]:
    """(name, measured, target) for each figure."""
    for command in _EVERYDAY:
        _seconds(command)
    times = sorted(_seconds(c) for _ in range(200) for c in _EVERYDAY)
    rows = [
        ("shell: everyday command, p50", f"{statistics.median(times) * 1000:.3f} ms", "< 0.2 ms"),
        ("shell: everyday command, p99", f"{times[int(len(times) * 0.99)] * 1000:.3f} ms", "< 5 ms"),
    ]
    spent = sorted(_cpu_seconds(c) for _ in range(100) for c in _EVERYDAY)
    rows.append(
        ("shell: everyday command, processor time, p50", f"{statistics.median(spent) * 1000:.3f} ms", "< 0.2 ms")
    )
    rows.append(
        ("shell: everyday command, processor time, p99", f"{spent[int(len(spent) * 0.99)] * 1000:.3f} ms", "< 5 ms")
    )
    for name, command in _HOSTILE.items():
        rows.append((f"shell: {name}", f"{min(_seconds(command) for _ in range(2)) * 1000:.1f} ms", "< 100 ms"))
    return rows


if __name__ == "__main__":
    for row in run():
        print("  ".join(row))
