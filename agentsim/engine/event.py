"""Events of a game, the log of them with each event's audience, and the events that each player heard.

The rules state the audience at every `tell`; reports draw events, `records.events` sums up interactions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from heapq import merge
from itertools import islice
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    overload,
)

from pydantic import AfterValidator

from agentsim.engine.codec import adapter, computed_once, json_fields
from agentsim.engine.letters import composed
from agentsim.engine.wording import Template, filled, names_in, snake_case

PlayerId: TypeAlias = str
"""A player's id, or `@role` for staff."""
NamedPlayer: TypeAlias = Annotated[str, AfterValidator(composed)]
"""A setting that names a player; the player's existence is checked once the players are known."""


class EveryoneType:
    """The type of `Everyone`, the audience of public events."""

    def __repr__(self) -> str:
        return "Everyone"


Everyone: Final = EveryoneType()
Audience: TypeAlias = EveryoneType | tuple[PlayerId, ...]
"""The audience of an event: `Everyone`, or exactly these players; `Nobody` is for the log alone."""
Nobody: Final[tuple[PlayerId, ...]] = ()
E = TypeVar("E", bound="Event")

Sign: TypeAlias = Literal[1, 0, -1]
FOR: Final = 1
NEITHER: Final = 0
AGAINST: Final = -1
NAMED: Final = "named"
"""The action of naming a player in public words."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One action of `who` towards `whom`, in the past tense.

    FOR gives the other something, or agrees to what the other asked; AGAINST takes something away, or refuses; talk is
    NEITHER. Only what a player chose counts, not what the rules or chance bring about. `amount` is how much was given,
    in a unit that is the same for every interaction with that `action`.
    """

    who: PlayerId
    whom: PlayerId
    action: str
    sign: Sign = NEITHER
    amount: float | None = None


class InteractionRule(NamedTuple):
    """The declaration of an event's interactions: names of the event's fields, and the sign.

    The field `whom` may hold one or several players, or None for no player. If it is a mapping of doers to players
    (`{voter: candidate}`), `who` names the same field. If `when` names a field, the action counts only if that field is
    true.
    """

    who: str
    whom: str
    action: Template
    sign: Sign = NEITHER
    amount: str | None = None
    when: str | None = None

    def of(self, event: Event) -> Iterator[Interaction]:
        """Yield the interactions of one event."""
        who, whom = getattr(event, self.who), getattr(event, self.whom)
        amount = getattr(event, self.amount) if self.amount else None
        if self.when is None or getattr(event, self.when):
            others = whom if isinstance(whom, tuple) else () if whom is None else (whom,)
            for doer, other in whom.items() if isinstance(whom, Mapping) else ((who, other) for other in others):
                yield Interaction(doer, other, filled(self.action, event), self.sign, amount)

    @property
    def names(self) -> tuple[str, ...]:
        """The fields and properties that the event must have."""
        return (*(name for name in (self.who, self.whom, self.amount, self.when) if name), *names_in(self.action))


@dataclass(frozen=True, slots=True, eq=False)
class MemoryLimit:
    """A limit on the remembered events of some kinds: the newest `most`, of at most `chars` characters in all.

    The newest event always stays. If `of` names fields, each combination of their values has a limit of its own. Kinds
    that name the same object share a limit.
    """

    most: int
    chars: int | None = None
    of: tuple[str, ...] = ()

    def holds(self, events: Sequence[Event]) -> bool:
        """Return whether all of these events fit."""
        return len(events) <= self.most and (self.chars is None or sum(len(e.content) for e in events) <= self.chars)


@dataclass_transform(frozen_default=True)
class Event:
    """Base of a game's events: records named by a past participle; each subclass becomes a frozen dataclass.

        class Sold(Event, heading="Sold to {name} for {price}", content="{item.name}, quality {item.quality}."):

    `kind` names the event in the history, by default the class's name in snake case; `label` names it for a reader
    ("trade offered"), by default the kind in words. `heading` is a short title, `content` what happened, in prose:
    templates of the class's fields and properties (`engine.wording`). `words` names the field with a player's own
    words, which the history keeps as the event's `content` and not in its `data`. All other fields are the `data`, in
    numbers and ids, from which the outcome can be recomputed. `interactions` are the players' actions towards each
    other. `private` names fields or properties that limit the audience, except for staff:
    players' ids, or the numbers of their seats from 1, or None for all; `Table.tell` refuses any other audience.
    `concerns` names in the same way the players that a public event is about: `Table.concerning` finds them for each
    player. `random_order` names the fields in an order that chance drew: a list of players, or one player if the events
    of a round come in such an order; reports test the effect of the position in it. `eliminates` names the fields with
    the players that leave the game by the event, in the form of `concerns`.

    Raises `TypeError` for a name that the class lacks, and if a class has neither `content` nor `words`; a `base` of
    events, which is never told itself, may leave that to its subclasses.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    """The name of such events for a reader, in lower case."""
    words: ClassVar[str | None] = None
    in_prompt: ClassVar[bool] = True
    """True if the prompts of its audience tell it; if not, a person is shown it as it happens."""
    for_log: ClassVar[bool] = False
    """True if it is for the log alone, and heard by no player."""
    is_base: ClassVar[bool] = True
    """True if only its subclasses are told."""
    forgets: ClassVar[bool] = False
    """True if it replaces the earlier events of its audience, as a summary does."""
    memory_limit: ClassVar[MemoryLimit | None] = None
    """The limit of its kind in `memory.RecentEvents`, which leaves out kinds without one."""
    _heading: ClassVar[Template | None] = None
    _content: ClassVar[Template | None] = None
    _interactions: ClassVar[tuple[InteractionRule, ...]] = ()
    _private: ClassVar[tuple[str, ...]] = ()
    _concerns: ClassVar[tuple[str, ...]] = ()
    random_order: ClassVar[tuple[str, ...]] = ()
    """The fields in an order that chance drew."""
    _eliminates: ClassVar[tuple[str, ...]] = ()
    _fields: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(
        cls,
        *,
        kind: str | None = None,
        label: str | None = None,
        heading: Template | None = None,
        content: Template | None = None,
        words: str | None = None,
        interactions: tuple[InteractionRule, ...] = (),
        in_prompt: bool | None = None,
        private: tuple[str, ...] = (),
        concerns: tuple[str, ...] = (),
        random_order: tuple[str, ...] = (),
        eliminates: tuple[str, ...] = (),
        base: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = kind or snake_case(cls.__name__)
        cls.label = label or cls.kind.replace("_", " ")
        # arguments that are not given are inherited from the base
        cls._heading = cls._heading if heading is None else heading
        cls._content = cls._content if content is None else content
        cls.words = cls.words if words is None else words
        cls.in_prompt = cls.in_prompt if in_prompt is None else in_prompt
        cls._interactions = interactions or cls._interactions
        cls._private = private or cls._private
        cls._concerns = concerns or cls._concerns
        cls.random_order = random_order or cls.random_order
        cls._eliminates = eliminates or cls._eliminates
        dataclass(frozen=True)(cls)
        named = {*names_in(cls._heading or ()), *names_in(cls._content or ()), *([cls.words] if cls.words else [])}
        named.update((*cls._private, *cls._concerns, *cls._eliminates, *cls.random_order))
        named.update(name for action in cls._interactions for name in action.names)
        cls._fields = frozenset(field.name for field in fields(cls))  # type: ignore[arg-type] # made one just above
        if unknown := sorted(named - cls._fields - set(dir(cls))):
            raise TypeError(f"{cls.__name__} has no {', '.join(unknown)}, which its words name")
        cls.is_base = base
        if not base and cls._content is None and cls.words is None and cls.content is Event.content:
            raise TypeError(f'{cls.__name__} must say its content or words (content="": its heading says it all)')

    @classmethod
    def fixed_actions(cls) -> Iterator[str]:
        """Yield the actions of its declared interactions whose words have no fields."""
        for rule in cls._interactions:
            if isinstance(rule.action, str) and not [*names_in(rule.action)]:
                yield rule.action

    @computed_once
    def heading(self) -> str:
        """A short title for a reader."""
        return self.kind.replace("_", " ").capitalize() if self._heading is None else filled(self._heading, self)

    @computed_once
    def content(self) -> str:
        """The prose of what happened; for events with `words`, exactly those words."""
        if self._content is not None:
            return filled(self._content, self)
        assert self.words is not None, "see `__init_subclass__`"
        return str(getattr(self, self.words))

    def confidants(self, players: Sequence[PlayerId]) -> frozenset[PlayerId] | None:
        """Return which of these players may hear it, staff aside, or None if it is not private."""
        if not self._private:
            return None
        found: set[PlayerId] = set()
        for name in self._private:
            held = getattr(self, name)
            if held is None:
                return None
            for each in (held,) if isinstance(held, str | int) else held:
                found.add(players[each - 1] if isinstance(each, int) else each)
        return frozenset(found)

    def concerned(self, past: Past) -> Iterable[PlayerId | int]:
        """Yield the players it is about, besides the one who did it: ids, or numbers of seats from 1.

        Other numbers are ignored. `past` has the public events before it.
        """
        return self._held(self._concerns)

    def eliminated_players(self, players: Sequence[PlayerId]) -> list[PlayerId]:
        """Return which of these players leave the game by it."""
        held = (players[each - 1] if isinstance(each, int) else each for each in self._held(self._eliminates))
        return [each for each in held if each in players]

    def _held(self, names: tuple[str, ...]) -> Iterator[PlayerId | int]:
        """Yield the players, by id or number of seat, in the fields or properties with these names."""
        for name in names:
            held = getattr(self, name)
            yield from (held,) if isinstance(held, str | int) else held or ()

    @property
    def turned_away(self) -> bool:
        """True if the event tells that the rules gave a player's decision no effect, such as work without food.

        The decision was read and counts as the player's: it is no fallback.
        """
        return False

    def interactions(self, past: Past) -> Iterable[Interaction]:
        """Return the players' interactions in this event, in order.

        `past` has the earlier events that the caller knows. An interaction of a player with itself, or with a name that
        is not a player's, does not count.
        """
        return [done for action in self._interactions for done in action.of(self)]

    def data(self) -> dict[str, Any]:
        """Return every field but the words, as JSON values."""
        out = json_fields(self)
        if self.words is not None:
            del out[self.words]
        return out

    @classmethod
    def restore(cls, data: Mapping[str, Any], content: str) -> Event:
        """Return the event that `data()` and `content` came from. Raises `ValueError` if they do not fit."""
        given = dict(data)
        if cls.words is not None:
            given[cls.words] = content
        if unknown := given.keys() - cls._fields:
            raise ValueError(f"{cls.kind}: unknown fields {sorted(unknown)}")
        event: Event = adapter(cls).validate_python(given)
        return event


class LoggedEvent(NamedTuple):
    """An event in the log, with its audience and its round.

    `by` is the player whose latest decision led to it, `decision` that decision's index (from 1); both are None for the
    narrator's own events.
    """

    event: Event
    to: Audience
    round: int
    by: PlayerId | None = None
    decision: int | None = None

    @property
    def public(self) -> bool:
        """True if the audience is everyone."""
        return isinstance(self.to, EveryoneType)

    def heard_by(self, player: PlayerId) -> bool:
        """Return whether this player was in the audience."""
        return isinstance(self.to, EveryoneType) or player in self.to


class Past:
    """The events before one that tells only a part and refers to earlier ones for the rest.

    It continues `before`, if given.
    """

    def __init__(self, before: Past | None = None) -> None:
        self._before = before
        self._events: dict[type[Event], list[Event]] = defaultdict(list)
        self._indexes: dict[tuple[type[Event], tuple[str, ...]], tuple[dict[tuple[object, ...], list[Any]], int]] = {}
        """By class and names of fields: the events by the values of these fields, and the number of events indexed."""

    def add(self, event: Event) -> None:
        """Add an event after all others."""
        self._events[type(event)].append(event)

    def every(self, kind: type[E], **fields: object) -> Sequence[E]:
        """Return all events of exactly this class with these values of fields, in order."""
        found: Sequence[E] = self._with(kind, fields) if fields else self._events[kind]  # type: ignore[assignment] # by kind
        return found if self._before is None else [*self._before.every(kind, **fields), *found]

    def _with(self, kind: type[E], fields: Mapping[str, object]) -> Sequence[E]:
        names, events = tuple(fields), self._events[kind]
        by_values, indexed = self._indexes.get((kind, names), ({}, 0))
        for event in events[indexed:]:
            by_values.setdefault(tuple(getattr(event, name) for name in names), []).append(event)
        self._indexes[kind, names] = by_values, len(events)
        return by_values.get(tuple(fields.values()), ())

    def last(self, kind: type[E], **fields: object) -> E | None:
        """Return the last event of exactly this class with these values of fields, or None."""
        found = self.every(kind, **fields)
        return found[-1] if found else None


class Memory(Protocol):
    """A player's digest of the events that it hears, one after the other.

    A class may name in `skips` the kinds of events that are never passed to it.
    """

    def hear(self, entry: LoggedEvent) -> None:
        """Take in one event."""


M = TypeVar("M", bound=Memory)


def skipped_kinds(make: Callable[[PlayerId], Memory]) -> Container[type[Event]]:
    """Return the kinds of events that are never passed to such a memory."""
    skips: Container[type[Event]] = getattr(make, "skips", frozenset())
    return skips


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

    def concerning(self, player: PlayerId, players: Sequence[PlayerId], pending: Sequence[LoggedEvent] = ()) -> Heard:
        """Return the events up to now that a player did, heard in private, or is concerned by (`Event.concerned`).

        Each public event is examined once for all `players`.
        """
        if self._indexed < len(self._public):
            for position in self._public[self._indexed :]:
                for each in concerned(self._entries[position], players, self._past):
                    self._concerning[each].append(position)
            self._indexed = len(self._public)
        added: Sequence[LoggedEvent] = ()
        if pending:
            past = Past(self._past)
            added = [
                entry
                for entry in pending
                if (player in concerned(entry, players, past) if entry.public else entry.heard_by(player))
            ]
        return self._heard(player, self._concerning[player], added)

    def heard_until(self, player: PlayerId, skips: Container[type[Event]], most: int | None) -> Heard:
        """Return the events that a player has heard, of the first `most` of the log or of all; `skips` are left out.

        Private events of a kind in `skips` are among them.
        """
        public, private = self._public if skips == frozenset() else self._public_without(skips), self._private[player]
        if most is None:
            return Heard(self._entries, (public, len(public)), (private, len(private)))
        return Heard(self._entries, (public, bisect_left(public, most)), (private, bisect_left(private, most)))

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
        public, private = self._public, self._private
        news, alone = public[0][earlier._public[1] : public[1]], private[0][earlier._private[1] : private[1]]
        if alone:
            news = sorted((*news, *alone))
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
