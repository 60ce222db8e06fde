"""Decided: the decisions of a journal, the newest in memory and older ones in a spool, where there is one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from agentsim.engine.codec import NewTexts, Texts, adapter
from agentsim.engine.log import Growing
from agentsim.history.spool import Spool

Key: TypeAlias = tuple[int, int]
RECENT = 5_000
"""Decisions of a game that stay in memory, where a spool takes the older ones."""


class Keyed(Protocol):
    """A decision, as it is found again."""

    @property
    def wave(self) -> int: ...
    @property
    def place(self) -> int: ...
    @property
    def tries(self) -> Sequence[Any]: ...


E = TypeVar("E", bound=Keyed)


class DecisionSpool(Spool[E]):
    """A spool of decisions in which the journal's texts stand by their places, as in its lines."""

    def __init__(self, directory: Path, texts: Texts, places: NewTexts) -> None:
        super().__init__(directory)
        self._texts, self._places = texts, places
        self._kind: type[E] | None = None

    def _shortened(self, record: E) -> Any:
        if not record.tries:  # a bot's has no texts
            return record
        self._kind = type(record)
        return adapter(self._kind).dump_python(record, context=self._places)

    def _restored(self, written: Any) -> E:
        if not isinstance(written, dict):
            bots: E = written
            return bots
        assert self._kind is not None, "what is read was written"
        record: E = adapter(self._kind).validate_python(written, context=self._texts)
        return record


class Decided(Mapping[Key, E]):
    """Decisions by (wave, place), in the order in which they were put there."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._all: Growing[E] = Growing(None, RECENT)

    def spill(self, directory: Path, texts: Texts, places: NewTexts) -> None:
        """Keep older ones in a file of this directory from now on, which names the texts by their places."""
        self._all.spill(DecisionSpool(directory, texts, places))

    def put(self, entry: E) -> None:
        """One more; or another in the place of that of its key."""
        self._numbers[entry.wave, entry.place] = len(self._all)
        self._all.append(entry)

    def __getitem__(self, key: Key) -> E:
        return self._all.at(self._numbers[key])

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class ComeTo(Sequence[E]):
    """Those of a journal's decisions to which a game has come, in its order."""

    def __init__(self, decided: Mapping[Key, E], keys: Iterable[Key] = ()) -> None:
        self._decided = decided
        self._waves, self._places = array("q"), array("q")
        for key in keys:
            self._add(key)

    def _add(self, key: Key) -> None:
        wave, place = key
        self._waves.append(wave)
        self._places.append(place)

    def append(self, entry: E) -> None:
        """The game came to this one, which the journal has."""
        self._add((entry.wave, entry.place))

    def extend(self, entries: Iterable[E]) -> None:
        """It came to these."""
        for entry in entries:
            self.append(entry)

    def by_key(self) -> ComeTo[E]:
        """The same in the order of waves and places."""
        return ComeTo(self._decided, sorted(zip(self._waves, self._places, strict=True)))

    def __len__(self) -> int:
        return len(self._waves)

    def __iter__(self) -> Iterator[E]:
        return map(self._decided.__getitem__, zip(self._waves, self._places, strict=True))

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> ComeTo[E]: ...
    def __getitem__(self, index: int | slice) -> E | ComeTo[E]:
        if isinstance(index, slice):
            return ComeTo(self._decided, zip(self._waves[index], self._places[index], strict=True))
        return self._decided[self._waves[index], self._places[index]]
