"""Redrawn: chance in which one draw falls otherwise, and every other draw as it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from agentsim.engine.chance import Chance, Stream

T = TypeVar("T")


class Draw(NamedTuple):
    """The `nth` draw of a stream, from 1: what one call of a `Stream` gives, such as a whole shuffle."""

    stream: str
    nth: int

    def __str__(self) -> str:
        return f"draw {self.nth} of {self.stream!r}"


class Redrawn(Chance):
    """The chance of a seed but for one draw, which another stream, named by `word`, makes in its place."""

    def __init__(self, seed: int | str, draw: Draw | None = None, word: str = "") -> None:
        super().__init__(seed)
        self._draw, self._word = draw, word
        self._counting: dict[str, _Counting] = {}

    @property
    def draws(self) -> Mapping[str, int]:
        """How often each stream was drawn from."""
        return {name: stream.count for name, stream in self._counting.items()}

    def stream(self, name: str) -> Stream:
        if name not in self._counting:
            nth = self._draw.nth if self._draw is not None and self._draw.stream == name else None
            self._counting[name] = _Counting(self._key(name), nth, Stream(f"{self._key(name)}/{self._word}"))
        return self._counting[name]


class _Counting(Stream):
    """A stream that counts its draws, and makes one of them from another stream."""

    def __init__(self, key: str, nth: int | None, other: Stream) -> None:
        super().__init__(key)
        self.count = 0
        self._nth, self._other, self._inside = nth, other, False

    def _made(self, draw: Callable[[Stream], T]) -> T:
        """One draw; what it draws itself, as a shuffle does, is a part of it."""
        if self._inside:
            return draw(self)
        self.count, self._inside = self.count + 1, True
        try:
            own = draw(self)  # its words are used up in any case, so that those after it stay as they are
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
