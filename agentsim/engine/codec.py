"""codec: one pydantic adapter per record class, built once. No format of any file belongs here."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

__all__ = ["adapter"]

_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def adapter(cls: type[Any]) -> TypeAdapter[Any]:
    """The adapter that takes instances of `cls` to JSON values and back."""
    found = _ADAPTERS.get(cls)
    if found is None:
        found = _ADAPTERS[cls] = TypeAdapter(cls)
    return found
