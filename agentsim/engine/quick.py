"""quick: frozen dataclasses that take half the time to make. What stands in them is their own business."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

__all__ = ["quick"]

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """The frozen dataclass itself, with an `__init__` that puts all fields at once where they are kept.

    The one that `dataclass` makes calls `object.__setattr__` for every field; a game makes thousands of events,
    requests and views. It is left what is not all fields in their places, or all by name: defaults, and mistakes. A
    class with slots, with a `__post_init__` or with fields that nobody gives is left as it is.
    """
    parts = fields(cls)  # type: ignore[arg-type] # a dataclass, as said above
    if "__slots__" in vars(cls) or hasattr(cls, "__post_init__") or not all(part.init for part in parts):
        return cls
    names = tuple([part.name for part in parts])
    every = frozenset(names)
    count = -1 if any(part.kw_only for part in parts) else len(names)  # of arguments that need no names
    made: Any = cls.__init__

    def __init__(self: Any, /, *given: Any, **named: Any) -> None:  # noqa: N807 - it becomes the class's own
        if not named and len(given) == count:
            self.__dict__.update(zip(names, given, strict=True))
        elif not given and named.keys() == every:
            self.__dict__.update(named)
        else:
            made(self, *given, **named)

    setattr(cls, "__init__", __init__)  # noqa: B010 - mypy takes an assignment for a mistake
    return cls
