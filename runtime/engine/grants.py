"""The standing permissions of one session, made from answers."""

from __future__ import annotations

from typing import Any


class Grants:
    def __init__(self) -> None:
        self._standing: list[Any] = []

    def standing(self) -> list[Any]:
        return self._standing


def make_grant(setting, call, event, scope) -> None:
    pass
