"""Texts of a journal: each stands once, and records name it by its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine.codec import text_id


@dataclass
class Texts:
    """A journal's texts by their places, from 0 on in the order of their lines; in earlier journals by ids too."""

    in_order: list[str] = field(default_factory=list)
    _by_id: dict[str, str] = field(default_factory=dict)

    def add(self, text: Any, name: Any = None) -> None:
        """The next text; `ValueError` where it is none, or not the one of that id."""
        if not isinstance(text, str):
            raise ValueError("a text is no text")
        text.encode()  # or it holds an incomplete character
        if name is not None:
            if text_id(text) != name:
                raise ValueError("a text does not have the content its id names")
            self._by_id[name] = text
        self.in_order.append(text)

    def take(self, line: Mapping[str, Any]) -> None:
        """Those of a record; one of an earlier version holds a single text with its id."""
        if line["record"] == "text":
            self.add(line["text"], line["id"])
            return
        for text in line["texts"]:
            self.add(text)

    def __getitem__(self, place: Any) -> str:
        if isinstance(place, str):
            return self._by_id[place]
        if type(place) is not int or not 0 <= place < len(self.in_order):
            raise KeyError(place)
        return self.in_order[place]

    def several(self, places: Sequence[Any]) -> Iterator[str]:
        """The texts of places, and of runs of them: the first and the last."""
        for place in places:
            if isinstance(place, list):
                first, last = place
                yield from map(self.__getitem__, range(first, last + 1))
            else:
                yield self[place]


class NewTexts:
    """Puts texts away behind those that a journal has. Those of `new` are to be written before what names them."""

    def __init__(self, texts: Texts) -> None:
        self.new: list[str] = []
        self._texts = texts
        self._places = {text: place for place, text in enumerate(texts.in_order)}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """The places of texts; those that follow one another as the first and the last of them."""
        runs: list[list[int]] = []
        for text in texts:
            if (place := self._places.get(text)) is None:
                place = self._places[text] = len(self._texts.in_order)
                self._texts.in_order.append(text)
                self.new.append(text)
            if runs and runs[-1][1] == place - 1:
                runs[-1][1] = place
            else:
                runs.append([place, place])
        return [first if first == last else [first, last] for first, last in runs]
