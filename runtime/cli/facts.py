"""`interlock show FILE --facts`: what a log comes to, in numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interlock.runtime.cli.fault import CommandFault


def show_facts(names: Sequence[str], part: str | None, *, as_json: bool) -> None:
    """Print the facts of the logs at these paths, or of sessions of ours. Raises CommandFault."""
    if len(names) == 1:
        found = _facts(names[0], part)
        _print(found, as_json=as_json)
        return
    if part is not None:
        raise CommandFault("--part names a session of one database; it cannot be given with several files.")
    found = _several(names)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    for facts in (*found["files"], {"file": "all together", **found["total"]}):
        _print(facts, as_json=False)
        print()


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from interlock.runtime.cli.asks_command import plain

    for key, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items()) or "none"
        print(f"{key:<18} {plain(str(value)) if value is not None else 'not recorded'}")


def _several(names: Sequence[str]) -> dict[str, Any]:
    from interlock.runtime.sources.foreign.reading import facts_of_several
    from interlock.runtime.sources.foreign.registry import UnknownFormat

    files = [_file(name) for name in names]
    try:
        return facts_of_several(list(dict.fromkeys(files)))
    except UnknownFormat as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot read {error.filename or 'a log'}: {error.strerror or error}.") from None


def _file(name: str) -> Path:
    from interlock.runtime.cli.lookup import session_folder

    file = Path(name)
    if not file.exists():
        file = session_folder(name) / "events.jsonl"
    if file.is_dir():
        raise CommandFault(f"{file} is a folder. Name the log in it.")
    return file


def _facts(name: str, part: str | None) -> dict[str, Any]:
    from interlock.runtime.cli.foreign_reading import own_journal
    from interlock.runtime.sources.foreign.reading import facts_of, own_facts
    from interlock.runtime.sources.foreign.registry import UnknownFormat

    file = _file(name)
    try:
        return own_facts(file) if own_journal(file) else facts_of(file, part=part)
    except UnknownFormat as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
