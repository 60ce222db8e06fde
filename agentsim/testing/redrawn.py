"""Redrawn: chance in which the result of one draw is changed, and all other draws are unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from agentsim.engine.chance import Chance, Stream

T = TypeVar("T")


class Draw(NamedTuple):
    """The `nth` draw of a stream, from 1. A draw is one call of a method of `Stream`, such as a whole shuffle."""

    stream: str
    nth: int

    def __str__(self) -> str:
        return f"draw {self.nth} of {self.stream!r}"


class Redrawn(Chance):
    """The chance of a seed, except for one draw, which comes from another stream that is named by `word`."""

    def __init__(self, seed: int | str, draw: Draw | None = None, word: str = "") -> None:
        super().__init__(seed)
        self._draw, self._word = draw, word
        self._counting: dict[str, _Counting] = {}

    @property
    def draws(self) -> Mapping[str, int]:
        """The number of draws from each stream."""
        return {name: stream.count for name, stream in self._counting.items()}

    def stream(self, name: str) -> Stream:
        if name not in self._counting:
            nth = self._draw.nth if self._draw is not None and self._draw.stream == name else None
            self._counting[name] = _Counting(self._key(name), nth, Stream(f"{self._key(name)}/{self._word}"))
        return self._counting[name]


class _Counting(Stream):
    """A stream that counts its draws, and takes one of them from another stream."""

    def __init__(self, key: str, nth: int | None, other: Stream) -> None:
        super().__init__(key)
        self.count = 0
        self._nth, self._other, self._inside = nth, other, False

    def _made(self, draw: Callable[[Stream], T]) -> T:
        """Make one draw. Draws within it, as in a shuffle, do not count."""
        if self._inside:
            return draw(self)
        self.count, self._inside = self.count + 1, True
        try:
            own = draw(self)  # drawn in any case, so that the draws after it are unchanged
        finally:
            self._inside = False
        return draw(self._other) if self.count == self._nth else own

    def random(self) -> float:
        return self._made(Stream.random)

    def below(self, bound: int) -> int:
        return self._made(lambda stream: Stream.below(stream, bound))

    def integer(self, low: int, high: int) -> int:
        return self._made(lambda stream: Stream.integer(stream, low, high))

    def pick(self, items: Sequence[T]) -> T:
        return self._made(lambda stream: Stream.pick(stream, items))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self._made(lambda stream: Stream.shuffled(stream, items))
