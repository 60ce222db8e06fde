"""Texts: long strings once, by content. Which strings are stored is decided by their users."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["TextIndex", "text_id"]


@lru_cache(maxsize=1024)  # the lines of a wave's prompts are the same for all who are asked
def text_id(text: str) -> str:
    """32 hex digits that name a text by its content."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class TextIndex:
    """A growing list of different texts, each known by its place; the order is that of first use."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Where the text stands, putting it at the end if it is new."""
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.texts)
            self.texts.append(text)
        return place

    def places(self, texts: Iterable[str]) -> list[int]:
        """The places of several texts."""
        return [self.place(text) for text in texts]
