"""A property that is worked out once. As `functools.cached_property`, which takes a lock each time in Python 3.11. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Once(Generic[T]):
    """Keeps what `work` returned in the object itself, where it is found before this is asked again."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Once[T]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> T: ...
    def __get__(self, owner: object | None, kind: type) -> T | Once[T]:
        """The value, worked out now."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._work(owner)
        return value
