"""`interlock show FILE --facts`: what a log comes to, in numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.runtime.cli.fault import CommandFault


def show_facts(name: str, part: str | None, *, as_json: bool) -> None:
    """Print the facts of the log at a path, or of a session of ours. Raises CommandFault."""
    found = _facts(name, part)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from interlock.runtime.cli.asks_command import plain

    for key, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items()) or "none"
        print(f"{key:<18} {plain(str(value)) if value is not None else 'not recorded'}")


def _facts(name: str, part: str | None) -> dict[str, Any]:
    from interlock.runtime.cli.foreign_reading import own_journal
    from interlock.runtime.cli.lookup import session_folder
    from interlock.runtime.sources.foreign.reading import facts_of, own_facts
    from interlock.runtime.sources.foreign.registry import UnknownFormat

    file = Path(name)
    if not file.exists():
        file = session_folder(name) / "events.jsonl"
    if file.is_dir():
        raise CommandFault(f"{file} is a folder. Name the log in it.")
    try:
        return own_facts(file) if own_journal(file) else facts_of(file, part=part)
    except UnknownFormat as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
