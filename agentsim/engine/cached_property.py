"""Cached property: caches a property of a frozen record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - a decorator like `property`
    """A property that is computed on first use and stored in its record, which may be frozen.

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
