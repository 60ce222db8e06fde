"""Keeping: what follows from a record that never changes, worked out once. What changes is nobody's to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["kept"]

T = TypeVar("T")


class kept(Generic[T]):  # noqa: N801 - a decorator like `property`
    """A property that is worked out when it is first asked for, and kept with its record, which may be frozen.

    As `functools.cached_property`, which takes a lock in Python 3.11; a record with slots has no place for it.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: object, owner: type) -> T: ...
    def __get__(self, record: object | None, owner: type) -> Self | T:
        if record is None:
            return self
        found = self._make(record)
        record.__dict__[self._name] = found  # from now on the record's own comes before this one
        return found
