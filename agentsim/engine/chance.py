"""Chance: named, seeded streams of random numbers.

A stream is SHA-256 in counter mode over `seed/name`, so that a draw is the same on every interpreter and platform, and
an additional draw in one stream shifts no other. Nothing here uses a global generator, a clock or the system's entropy.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")
_WORDS = struct.Struct(">4Q")  # one SHA-256 digest


def _words_of(key: str) -> Iterator[int]:
    """Yield the numbers of 64 bits of a stream, without end."""
    # no method, or stream and generator would refer to each other, and each decision of a bot would leave a cycle
    prefix = f"agentsim/1/{key}/".encode()
    for block in count():
        yield from _WORDS.unpack(hashlib.sha256(prefix + block.to_bytes(8, "big")).digest())


class Stream:
    """One independent sequence of draws."""

    def __init__(self, key: str, per_game: str | None = None) -> None:
        self._key = key
        self._per_game = key if per_game is None else per_game
        self._words = _words_of(key)

    def turn(self, key: str) -> None:
        """Draw from now on like a new stream with this key; its streams of the whole game stay as they are."""
        self._key = key
        self._words = _words_of(key)

    def per_game(self, name: str) -> Stream:
        """Return a new stream that is the same for all decisions of one bot in one game, such as its preferences."""
        return Stream(f"{self._per_game}/{name}")

    def random(self) -> float:
        """Draw uniformly from [0, 1), a multiple of 2**-53."""
        return (next(self._words) >> 11) * 2.0**-53

    def below(self, bound: int) -> int:
        """Draw uniformly from 0..bound-1, without modulo bias; `bound` in 1..2**64."""
        assert 1 <= bound <= 2**64
        limit = 2**64 - 2**64 % bound
        while (word := next(self._words)) >= limit:
            pass
        return word % bound

    def integer(self, low: int, high: int) -> int:
        """Draw uniformly from low..high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        """Draw one item of a non-empty sequence, each equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return a new list in uniformly random order (Fisher-Yates, from the end)."""
        out = list(items)
        for last in range(len(out) - 1, 0, -1):
            other = self.below(last + 1)
            out[last], out[other] = out[other], out[last]
        return out


class _Scripted(Stream):
    """A stream whose first results are given; then it draws like the seeded one."""

    def __init__(self, key: str, results: Sequence[Any]) -> None:
        super().__init__(key)
        self._results = list(results)

    def below(self, bound: int) -> int:
        if not self._results:
            return super().below(bound)
        value = self._results.pop(0)
        assert isinstance(value, int), f"scripted result {value!r} is not a number"
        assert 0 <= value < bound, f"scripted result {value} is not in 0..{bound - 1}"
        return value

    def integer(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1) if not self._results else self._take(range(low, high + 1))

    def pick(self, items: Sequence[T]) -> T:
        return super().pick(items) if not self._results else self._take(items)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        if not self._results:
            return super().shuffled(items)
        order: list[T] = list(self._results.pop(0))
        assert sorted(map(repr, order)) == sorted(map(repr, items)), f"{order!r} is no order of {items!r}"
        return order

    def random(self) -> float:
        return float(self._results.pop(0)) if self._results else super().random()

    def _take(self, allowed: Sequence[T]) -> T:
        value: T = self._results.pop(0)
        assert value in allowed, f"scripted result {value!r} cannot be drawn from {allowed!r}"
        return value


class Chance:
    """The streams of one game, by name; asking for a name again continues its stream.

    `script` gives the first results of chosen streams (tests): `{"order/1": [["B", "A"]], "dice": [6, 6]}`.
    """

    def __init__(self, seed: int | str, script: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.seed = seed
        self._script = dict(script or {})
        self._streams: dict[str, Stream] = {}
        self._salt = ""

    def add_salt(self, salt: str) -> None:
        """Salt all draws from now on, except for bots' streams of the whole game."""
        self._salt += f"{salt}/"
        for name, stream in self._streams.items():
            stream.turn(self._key(name))

    def _key(self, name: str) -> str:
        return f"{self.seed}/{name}" if not self._salt else f"{self.seed}/salt/{self._salt}{name}"

    def stream(self, name: str) -> Stream:
        """Return the stream called `name`, continued."""
        stream = self._streams.get(name)
        if stream is None:
            key = self._key(name)
            results = self._script.get(name)
            stream = Stream(key) if results is None else _Scripted(key, results)
            self._streams[name] = stream
        return stream

    def once(self, name: str, per_game: str | None = None) -> Stream:
        """Return a new stream that is not stored: for a name that is used once, such as one decision of a bot.

        `per_game` names the owner of its streams that are the same all game.
        """
        return Stream(self._key(name), None if per_game is None else f"{self.seed}/{per_game}")
