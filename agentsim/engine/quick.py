"""quick: frozen dataclasses that take a third of the time to make. What stands in them is their own business."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

__all__ = ["quick"]

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """The frozen dataclass itself, with an `__init__` that puts its fields straight where they are kept.

    The one that `dataclass` makes calls `object.__setattr__` for every field; a game makes thousands of events,
    requests and views. Arguments, defaults and errors stay as they are. A class with slots, with a `__post_init__` or
    with fields that it makes itself is left as it is.
    """
    parts: list[Field[Any]] = list(fields(cls))  # type: ignore[arg-type] # a dataclass, as said above
    own = [part for part in parts if not part.init or part.default_factory is not MISSING]
    if own or "__slots__" in vars(cls) or hasattr(cls, "__post_init__"):
        return cls
    said = {part.name: part.name if part.default is MISSING else f"{part.name}=_{part.name}" for part in parts}
    given = [said[part.name] for part in parts if not part.kw_only]
    named = [said[part.name] for part in parts if part.kw_only]
    head = ", ".join(["self", *given, *(["*", *named] if named else [])])
    body = "".join(f"\n    held[{part.name!r}] = {part.name}" for part in parts)
    space: dict[str, Any] = {f"_{part.name}": part.default for part in parts if part.default is not MISSING}
    exec(f"def __init__({head}):\n    held = self.__dict__{body}", space)  # noqa: S102 - as `dataclass` does it
    init: Callable[..., None] = space["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    setattr(cls, "__init__", init)  # noqa: B010 - mypy takes an assignment for a mistake
    return cls
