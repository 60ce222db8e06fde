"""Hearing: the log as each player hears it, indexed as it grows, and the memories that hear it.

Who may hear an event is stated where it is told (`table`), what is kept of it is `memory`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar, overload

from agentsim.engine.event import Event, EveryoneType, LogEntry, Past, PlayerId
from agentsim.engine.memory import Memory

M = TypeVar("M", bound=Memory)
Entry: TypeAlias = tuple[int, LogEntry]
"""What was told, and its position in the log."""
Windows: TypeAlias = tuple[tuple[Sequence[Entry], int], ...]
"""Parts of the log, and how many of their entries count."""


class Heard(Sequence[LogEntry]):
    """What one player has heard so far, in order: a fixed window on the growing log, not a copy of it.

    `last(n)` and iteration cost what they yield, whatever was told to others.
    """

    def __init__(self, parts: Windows) -> None:
        self._parts = parts  # each sorted by position

    def __len__(self) -> int:
        return sum(count for _, count in self._parts)

    def __iter__(self) -> Iterator[LogEntry]:
        parts = (islice(entries, count) for entries, count in self._parts)
        return (told for _, told in merge(*parts, key=itemgetter(0)))

    def __reversed__(self) -> Iterator[LogEntry]:
        parts = (map(entries.__getitem__, reversed(range(count))) for entries, count in self._parts)
        return (told for _, told in merge(*parts, key=itemgetter(0), reverse=True))

    def since(self, earlier: Heard) -> list[LogEntry]:
        """What was heard after `earlier`, which is of the same player and kind; costs what it gives."""
        if not earlier._parts:
            return list(self)
        news: list[Entry] = []
        several = 0
        for (entries, count), (_, upto) in zip(self._parts, earlier._parts, strict=True):
            if upto < count:
                news += entries[upto:count]
                several += 1
        if several > 1:
            news.sort(key=itemgetter(0))
        return [told for _, told in news]

    def last(self, count: int) -> list[LogEntry]:
        """The newest `count` events, oldest first."""
        return list(islice(reversed(self), count))[::-1]

    @overload
    def __getitem__(self, index: int) -> LogEntry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LogEntry]: ...
    def __getitem__(self, index: int | slice) -> LogEntry | Sequence[LogEntry]:
        return list(self)[index]


class Sink:
    """A log, or the part of it that one sub-procedure of `together` has written and no one outside of it hears yet."""

    def __init__(self, outer: Sink | None = None) -> None:
        self.base: int = 0 if outer is None else outer.base + len(outer.all)
        self.all: list[LogEntry] = []
        self.public: list[Entry] = []
        self.private: dict[PlayerId, list[Entry]] = defaultdict(list)
        self._without: dict[frozenset[type[Event]], list[Entry]] = {}
        self._concerning: dict[PlayerId, list[Entry]] = defaultdict(list)
        self._indexed = 0  # how many public events are in `_concerning` and in `_past`
        self._past: Past = Past(None if outer is None else outer._past)

    def append(self, told: LogEntry) -> None:
        entry = (self.base + len(self.all), told)
        self.all.append(told)
        if isinstance(told.to, EveryoneType):
            self.public.append(entry)
            for kinds, entries in self._without.items():
                if type(told.event) not in kinds:
                    entries.append(entry)
        else:
            for player in dict.fromkeys(told.to):
                self.private[player].append(entry)

    def public_without(self, kinds: frozenset[type[Event]]) -> list[Entry]:
        """What all hear, without events of these kinds; kept, so that to ask again costs nothing."""
        if kinds and kinds not in self._without:
            self._without[kinds] = [entry for entry in self.public if type(entry[1].event) not in kinds]
        return self._without[kinds] if kinds else self.public

    def concerning(self, player: PlayerId, players: Sequence[PlayerId]) -> list[Entry]:
        """What all hear that concerns this player: found once for all players, and from then on as it is told."""
        for entry in self.public[self._indexed :] if self._indexed < len(self.public) else ():
            for each in concerned(entry[1], players, self._past):
                self._concerning[each].append(entry)
        self._indexed = len(self.public)
        return self._concerning[player]

    def windows(self, player: PlayerId, of: Sequence[PlayerId] | None = None) -> Windows:
        """What the player hears of this, public and private; with the players `of` the game, what concerns it alone."""
        public, private = self.public if of is None else self.concerning(player, of), self.private[player]
        return (public, len(public)), (private, len(private))


def concerned(told: LogEntry, players: Sequence[PlayerId], past: Past) -> Mapping[PlayerId, None]:
    """Who did a public event, and whom it concerns, in order; the next event's past has it in."""
    found: dict[PlayerId, None] = {} if told.by is None else {told.by: None}
    for each in told.event.concerned(past):
        if isinstance(each, str):
            found[each] = None
        elif 0 < each <= len(players):
            found[players[each - 1]] = None
    past.add(told.event)
    return found


class Memories:
    """The memories of all players, each made once and brought up to date when it is asked for."""

    def __init__(self) -> None:
        self._kept: dict[tuple[PlayerId, Callable[[PlayerId], Any]], tuple[Any, int, int]] = {}

    def of(self, player: PlayerId, make: Callable[[PlayerId], M], sink: Sink) -> M:
        """`make(player)` after it has heard all that the player has; costs what is new to it."""
        skips: frozenset[type[Event]] = getattr(make, "skips", frozenset())
        public, private = sink.public_without(skips), sink.private[player]
        memory, public_heard, private_heard = self._kept.get((player, make)) or (make(player), 0, 0)
        public_news = public[public_heard:]
        private_news = [entry for entry in private[private_heard:] if type(entry[1].event) not in skips]
        news = merge(public_news, private_news, key=itemgetter(0)) if private_news else public_news
        for _, entry in news:
            memory.hear(entry)
        self._kept[player, make] = memory, len(public), len(private)
        return memory


def anew(player: PlayerId, make: Callable[[PlayerId], M], heard: Heard) -> M:
    """The same of what the player has heard up to now, kept for no later time."""
    skips: frozenset[type[Event]] = getattr(make, "skips", frozenset())
    memory = make(player)
    for entry in heard:
        if type(entry.event) not in skips:
            memory.hear(entry)
    return memory
