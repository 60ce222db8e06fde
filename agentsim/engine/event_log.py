"""EventLog: the events of a game in order, and the events that each player heard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import TypeAlias, overload

from agentsim.engine.event import Event, EveryoneType, LoggedEvent, Past, PlayerId
from agentsim.engine.memory import Memory

_Window: TypeAlias = tuple[Sequence[int], int]
"""Positions in a log, and the number of the first of them that count."""


class EventLog(Sequence[LoggedEvent]):
    """The events of a game in order.

    The log stores the positions of public events once for all players, and of other events for each player that heard
    them; what a player heard is both, merged.
    """

    def __init__(self) -> None:
        self._entries: list[LoggedEvent] = []
        self._public: list[int] = []
        self._private: defaultdict[PlayerId, list[int]] = defaultdict(list)
        self._without: dict[Container[type[Event]], list[int]] = {}
        self._concerning: defaultdict[PlayerId, list[int]] = defaultdict(list)
        self._indexed = 0  # number of public events that are in `_concerning` and in `_past`
        self._past = Past()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LoggedEvent]:
        return iter(self._entries)

    @overload
    def __getitem__(self, index: int) -> LoggedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LoggedEvent]: ...
    def __getitem__(self, index: int | slice) -> LoggedEvent | Sequence[LoggedEvent]:
        return self._entries[index]

    def append(self, entry: LoggedEvent) -> None:
        position = len(self._entries)
        self._entries.append(entry)
        if isinstance(entry.to, EveryoneType):
            self._public.append(position)
            for kinds, positions in self._without.items():
                if type(entry.event) not in kinds:
                    positions.append(position)
        else:
            for player in dict.fromkeys(entry.to):
                self._private[player].append(position)

    def heard(self, player: PlayerId, pending: Iterable[LoggedEvent] = ()) -> Heard:
        """Return the events that a player has heard up to now; `pending` are events after those of the log."""
        return self._heard(player, self._public, [entry for entry in pending if entry.heard_by(player)])

    def concerning(self, player: PlayerId, players: Sequence[PlayerId], pending: Iterable[LoggedEvent] = ()) -> Heard:
        """Return the events up to now that a player did, heard in private, or is concerned by (`Event.concerned`).

        Each public event is examined once for all `players`.
        """
        for position in self._public[self._indexed :]:
            for each in concerned(self._entries[position], players, self._past):
                self._concerning[each].append(position)
        self._indexed = len(self._public)
        past = Past(self._past)
        added = [
            entry
            for entry in pending
            if (player in concerned(entry, players, past) if entry.public else entry.heard_by(player))
        ]
        return self._heard(player, self._concerning[player], added)

    def update(self, memory: Memory, player: PlayerId, skips: Container[type[Event]], before: Heard) -> Heard:
        """Give a memory the events that its player heard after `before`; return all events heard up to now."""
        now = self._heard(player, self._public if skips == frozenset() else self._public_without(skips))
        for entry in now.since(before):
            if type(entry.event) not in skips:
                memory.hear(entry)
        return now

    def _public_without(self, kinds: Container[type[Event]]) -> Sequence[int]:
        if (positions := self._without.get(kinds)) is None:
            kept = [position for position in self._public if type(self._entries[position].event) not in kinds]
            positions = self._without[kinds] = kept
        return positions

    def _heard(self, player: PlayerId, public: Sequence[int], pending: Sequence[LoggedEvent] = ()) -> Heard:
        private = self._private[player]
        return Heard(self._entries, (public, len(public)), (private, len(private)), pending)


class Heard(Sequence[LoggedEvent]):
    """The events that one player has heard up to a moment, in order: a view of the growing log, not a copy.

    `last(n)` and iteration take time in proportion to what they yield, whatever others were told.
    """

    def __init__(
        self,
        entries: Sequence[LoggedEvent] = (),
        public: _Window = ((), 0),
        private: _Window = ((), 0),
        pending: Sequence[LoggedEvent] = (),
    ) -> None:
        self._entries, self._public, self._private, self._pending = entries, public, private, pending

    def __len__(self) -> int:
        return self._public[1] + self._private[1] + len(self._pending)

    def __iter__(self) -> Iterator[LoggedEvent]:
        for position in merge(*(islice(positions, count) for positions, count in (self._public, self._private))):
            yield self._entries[position]
        yield from self._pending

    def __reversed__(self) -> Iterator[LoggedEvent]:
        yield from reversed(self._pending)
        windows = (
            map(positions.__getitem__, reversed(range(count))) for positions, count in (self._public, self._private)
        )
        for position in merge(*windows, reverse=True):
            yield self._entries[position]

    def since(self, earlier: Heard) -> list[LoggedEvent]:
        """Return the events heard after `earlier`, in time proportional to their number.

        `earlier` must be a view of the same player and kind.
        """
        public, private = (
            positions[before:count]
            for (positions, count), (_, before) in zip(
                (self._public, self._private), (earlier._public, earlier._private), strict=True
            )
        )
        news = sorted((*public, *private)) if private else public
        return [*map(self._entries.__getitem__, news), *self._pending[len(earlier._pending) :]]

    def last(self, count: int) -> list[LoggedEvent]:
        """Return the newest `count` events, oldest first."""
        return list(islice(reversed(self), count))[::-1]

    @overload
    def __getitem__(self, index: int) -> LoggedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LoggedEvent]: ...
    def __getitem__(self, index: int | slice) -> LoggedEvent | Sequence[LoggedEvent]:
        return list(self)[index]


def concerned(entry: LoggedEvent, players: Sequence[PlayerId], past: Past) -> Mapping[PlayerId, None]:
    """Return the players that did or are concerned by a public event, in order; and add the event to `past`."""
    found: dict[PlayerId, None] = {} if entry.by is None else {entry.by: None}
    for each in entry.event.concerned(past):
        if isinstance(each, str):
            found[each] = None
        elif 0 < each <= len(players):
            found[players[each - 1]] = None
    past.add(entry.event)
    return found
