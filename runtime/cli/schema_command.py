"""`interlock schema`: the JSON Schema of a journal line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def schema() -> None:
        """Print the JSON Schema that every line of a journal fulfils."""
        from interlock.runtime.events.schema import json_schema

        print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
