"""Log: all that is told and decided, in order; the newest in memory and, where there is a store, what is older there.

What reads it cannot tell the difference. Where the store keeps its blocks is its own business: the kernel knows no
file.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, Protocol, TypeAlias, TypeVar, cast, overload

from agentsim.engine.event import E, Event, LogEntry, Past

RECENT, RECENT_DECISIONS = 20_000, 5_000
"""Events and decisions of a game that stay in memory, where a store takes the older ones."""
BLOCK = 512
"""Records that go to the store together."""
_READ = 2_048  # records that were read last, and stay in memory
T = TypeVar("T")
Entry: TypeAlias = tuple[int, LogEntry]
"""What was told, and its position in the log."""
Key: TypeAlias = tuple[int, int]
"""The wave and the place in it of a decision."""


class Store(Protocol[T]):
    """Keeps records outside of memory."""

    def keep(self, records: Sequence[T]) -> bool:
        """Take the next ones; False where they cannot be kept: none of them is."""
        ...

    def at(self, number: int) -> T:
        """A record as it was, by its number from 0 on."""
        ...


class ByPlace(Sequence[T]):
    """Records that are had by their places, one at a time."""

    __slots__ = ()

    def at(self, place: int) -> T:
        """The record of a place from 0 on."""
        raise NotImplementedError

    def between(self, places: range) -> list[T]:
        """The records of these places."""
        return list(map(self.at, places))

    def __iter__(self) -> Iterator[T]:
        return map(self.at, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        count = len(self)
        if isinstance(index, slice):
            return self.between(range(*index.indices(count)))
        if not -count <= index < count:
            raise IndexError("there is no such record")
        return self.at(index if index >= 0 else index + count)


class Growing(ByPlace[T]):
    """Records that only become more; with a store, the last so many at least are in memory."""

    def __init__(self, store: Store[T] | None, recent: int) -> None:
        self._store, self._least, self._most = store, recent, recent
        self._recent: list[T] = []
        self._kept = 0  # records that are in the store
        self._read: OrderedDict[int, T] = OrderedDict()

    def spill(self, store: Store[T]) -> None:
        """Keep older ones there from now on."""
        self._store = store

    def append(self, told: T) -> None:
        """This comes after all that is here."""
        self._recent.append(told)
        if self._store is not None and len(self._recent) >= self._most + BLOCK:
            if self._store.keep(self._recent[:BLOCK]):
                del self._recent[:BLOCK]
                self._kept += BLOCK
                self._most = self._least
            else:
                self._most = 2 * len(self._recent)  # what was kept before is still read from there

    def at(self, place: int) -> T:
        if place >= self._kept:
            return self._recent[place - self._kept]
        if place in self._read:
            self._read.move_to_end(place)
            return self._read[place]
        assert self._store is not None, "it has what is not here"
        record = self._read[place] = self._store.at(place)
        if len(self._read) > _READ:
            self._read.popitem(last=False)
        return record

    def __len__(self) -> int:
        return self._kept + len(self._recent)

    __hash__ = None  # type: ignore[assignment] # it changes, as a list does

    def __eq__(self, other: object) -> bool:
        """Whether the records are the same, wherever they are kept."""
        if not isinstance(other, Growing):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def between(self, places: range) -> list[T]:
        first = places.start - self._kept
        return super().between(places) if first < 0 or places.step != 1 else self._recent[first : first + len(places)]

    def __iter__(self) -> Iterator[T]:
        position = 0
        while position < len(self):  # which may grow meanwhile
            part = self[position : position + BLOCK - position % BLOCK]
            yield from part
            position += len(part)


class Log(Growing[LogEntry]):
    """What was told."""

    def __init__(self, store: Store[LogEntry] | None = None) -> None:
        super().__init__(store, RECENT)


class Keyed(Protocol):
    """A decision, as it is found again."""

    @property
    def wave(self) -> int: ...
    @property
    def place(self) -> int: ...


D = TypeVar("D", bound=Keyed)


class Decided(Mapping[Key, D]):
    """Decisions by wave and place, in the order in which they were put there."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._all: Growing[D] = Growing(None, RECENT_DECISIONS)
        self.spill = self._all.spill

    def put(self, decision: D) -> None:
        """One more; or another in the place of that of its key."""
        self._numbers[decision.wave, decision.place] = len(self._all)
        self._all.append(decision)

    def __getitem__(self, key: Key) -> D:
        return self._all.at(self._numbers[key])

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class ComeTo(ByPlace[D]):
    """Those of the decisions to which a game has come, in its order."""

    def __init__(self, decided: Mapping[Key, D], keys: Iterable[Key] = ()) -> None:
        self._decided = decided
        self._keys = _places(part for key in keys for part in key)

    def append(self, decision: D) -> None:
        """The game came to this one, which is among those decided."""
        self._keys.extend((decision.wave, decision.place))

    def extend(self, decisions: Iterable[D]) -> None:
        """It came to these."""
        for each in decisions:
            self.append(each)

    def by_key(self) -> ComeTo[D]:
        """The same in the order of waves and places."""
        return ComeTo(self._decided, sorted(zip(self._keys[::2], self._keys[1::2], strict=True)))

    def __len__(self) -> int:
        return len(self._keys) // 2

    def at(self, place: int) -> D:
        return self._decided[self._keys[2 * place], self._keys[2 * place + 1]]


class Part(ByPlace[Entry]):
    """Some entries of a log, each with its position, which begins at `base`: kept as positions alone."""

    __slots__ = ("_base", "_log", "_places")

    def __init__(self, log: Log, base: int = 0) -> None:
        self._log, self._base = log, base
        self._places = _places()

    def append(self, place: int) -> None:
        """The entry at this place of the log is the next one of the part."""
        self._places.append(place)

    def __len__(self) -> int:
        return len(self._places)

    def at(self, place: int) -> Entry:
        there = self._places[place]
        return self._base + there, self._log.at(there)

    def between(self, places: range) -> list[Entry]:
        if places.step != 1:
            return super().between(places)
        base, at = self._base, self._log.at
        return [(base + there, at(there)) for there in self._places[places.start : places.stop]]

    def __iter__(self) -> Iterator[Entry]:
        for place in self._places:
            yield self._base + place, self._log.at(place)


class PastOf(Past):
    """The past that a part of a log makes: of its events it keeps the places alone."""

    def __init__(self, part: Part, before: Past | None = None) -> None:
        super().__init__(before)
        self._part = part
        self._count = 0
        self._places: defaultdict[type[Event], array[int]] = defaultdict(_places)
        self._found: dict[tuple[type[Event], tuple[str, ...]], _Index] = {}

    def add(self, event: Event) -> None:
        """This is the next event of the part."""
        self._places[type(event)].append(self._count)
        self._count += 1

    def every(self, kind: type[E], **fields: object) -> Sequence[E]:
        found: list[Any] = [self._part[place][1].event for place in self._index(kind, fields)]
        return found if self._before is None else [*self._before.every(kind, **fields), *found]

    def last(self, kind: type[E], **fields: object) -> E | None:
        if places := self._index(kind, fields):
            last: Any = self._part[places[-1]][1].event
            return cast("E", last)
        return None if self._before is None else self._before.last(kind, **fields)

    def _index(self, kind: type[Event], fields: Mapping[str, object]) -> array[int]:
        index = self._found.setdefault((kind, tuple(fields)), _Index(defaultdict(_places)))
        places = self._places[kind]
        for place in places[index.upto :]:
            event = self._part[place][1].event
            index.found[tuple(getattr(event, name) for name in fields)].append(place)
        index.upto = len(places)
        return index.found.get(tuple(fields.values()), _NONE)


@dataclass(slots=True)
class _Index:
    """The first `upto` places of a kind by the values of some fields."""

    found: defaultdict[tuple[object, ...], array[int]]
    upto: int = 0


def _places(places: Iterable[int] = ()) -> array[int]:
    return array("q", places)


_NONE = _places()
