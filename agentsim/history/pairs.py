"""Pairs: what each player did for or against each other player, round by round.

It is summed up from the interactions that events declare (`engine.interaction`). `report.tables` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentsim.engine.event import NAMED, NEITHER, EveryoneType, Interaction, LogEntry, Past, PlayerId, Sign
from agentsim.engine.wording import Naming


@dataclass(slots=True)
class Deed:
    """One kind of thing that one did towards the other in one round.

    `times` is how often, `after_naming` how often of those after naming the other in public in that round; `amount` is
    all that was given by it, None where the deed has none; `turned` how often the pair turned with it.
    """

    round: int
    deed: str
    sign: Sign
    times: int = 0
    after_naming: int = 0
    amount: float | None = None
    turned: int = 0


@dataclass(frozen=True, eq=False)
class Pair:
    """What `who` did towards `whom`: deeds by round, those of a round in the order in which they were first done.

    The pair turns with a deed against the other if the last one before it that was not neither was for it, and with one
    for the other if that was against it. `turns` are the rounds in which it did and what it turned to, in order.
    """

    who: PlayerId
    whom: PlayerId
    deeds: tuple[Deed, ...]
    turns: tuple[tuple[int, Sign], ...]

    def times(self, sign: Sign) -> int:
        return sum(deed.times for deed in self.deeds if deed.sign == sign)

    @property
    def named(self) -> int:
        """Rounds in which the other was named in public."""
        return len({deed.round for deed in self.deeds if deed.deed == NAMED})

    def after_naming(self, sign: Sign) -> int:
        """Rounds in which the other was named in public, and then something of that sign was done to it."""
        return len({deed.round for deed in self.deeds if deed.sign == sign and deed.after_naming})


def pairs(log: Iterable[LogEntry], players: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> list[Pair]:
    """Every pair of which `who` did anything towards `whom`, in the order of the players.

    Public words name the players whose id or name is in them (`names`, where a game calls players otherwise), each
    once an event.
    """
    seats = {player: place for place, player in enumerate(players)}
    naming = Naming([*zip(players, players, strict=True), *((name, player) for player, name in names.items())])
    books: dict[tuple[PlayerId, PlayerId], _Book] = {}
    past = Past()
    for told in log:
        for interaction in (*_named(told, naming), *told.event.interactions(past)):
            between = interaction.who, interaction.whom
            if interaction.who != interaction.whom and seats.keys() >= set(between):
                books.setdefault(between, _Book()).enter(told, interaction)
        past.add(told.event)
    ordered = sorted(books, key=lambda between: (seats[between[0]], seats[between[1]]))
    return [books[between].pair(*between) for between in ordered]


def _named(told: LogEntry, naming: Naming) -> Iterator[Interaction]:
    if told.by is not None and told.event.words is not None and isinstance(told.to, EveryoneType):
        for player in dict.fromkeys(naming.named(told.event.content)):
            yield Interaction(told.by, player, NAMED)


@dataclass(slots=True)
class _Book:
    """What one did towards another; `named` are the events of each round in which the other was named."""

    deeds: dict[tuple[int, str, Sign], Deed] = field(default_factory=dict)
    named: dict[int, list[LogEntry]] = field(default_factory=dict)
    turns: list[tuple[int, Sign]] = field(default_factory=list)
    last: Sign = NEITHER

    def enter(self, told: LogEntry, interaction: Interaction) -> None:
        naming = self.named.setdefault(told.round, [])
        if interaction.deed == NAMED:
            if naming and naming[-1] is told:
                return
            naming.append(told)
        key = (told.round, interaction.deed, interaction.sign)
        deed = self.deeds.setdefault(key, Deed(*key))
        deed.times += 1
        # what was said by the very words that tell of a deed was not said before it
        deed.after_naming += interaction.deed != NAMED and bool(naming) and naming[0] is not told
        if interaction.amount is not None:
            deed.amount = (deed.amount or 0) + interaction.amount
        if interaction.sign != NEITHER:
            if interaction.sign + self.last == 0:
                deed.turned += 1
                self.turns.append((told.round, interaction.sign))
            self.last = interaction.sign

    def pair(self, who: PlayerId, whom: PlayerId) -> Pair:
        deeds = sorted(self.deeds.values(), key=lambda deed: deed.round)
        return Pair(who, whom, tuple(deeds), tuple(self.turns))
