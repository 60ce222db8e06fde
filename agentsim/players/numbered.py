"""numbered: numbers that a person gives by name, `boardwalk` for 39. How answers look otherwise is `fields`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["by_number", "takes_numbers"]


def takes_numbers(legal: Mapping[str, Any]) -> bool:
    """Whether a field is a list of numbers, or of entries that begin with one."""
    items = legal.get("items", {})
    first = next(iter(items.get("properties", {}).values()), items)
    return legal.get("type") == "array" and first.get("type") == "integer"


def by_number(text: str, names: Mapping[str, int]) -> str:
    """The line with a number for each name, its beginning or that of a word in it, between commas.

    `ValueError` where it fits several, or where there are names and it is neither one of them nor a number.
    """
    return ", ".join(_numbered(part.split(), names) for part in text.split(",") if part.strip())


def _numbered(words: list[str], names: Mapping[str, int]) -> str:
    longest = max((len(name.split()) for name in names), default=0)
    for count in range(min(len(words), longest), 0, -1):
        start = " ".join(words[:count]).casefold()
        fits = {name: number for name, number in names.items() if name.casefold().startswith(start)}
        fits = fits or {name: number for name, number in names.items() if f" {start}" in name.casefold()}
        whole = [number for name, number in fits.items() if name.casefold() == start]
        numbers = whole or list(fits.values())
        if len(numbers) > 1:
            raise ValueError(f"Which one: {' or '.join(f'{number} {name}' for name, number in fits.items())}?")
        if numbers:
            return " ".join([str(numbers[0]), *words[count:]])
    if names and not any(map(str.isdigit, words[0])):
        raise ValueError(f"{' '.join(words)}: that is no name here. A name or a number, please.")
    return " ".join(words)
