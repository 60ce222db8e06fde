"""Pairs: what each player did for or against each other player, round by round.

It is summed up from the interactions that events declare (`engine.event`). `report.derived_tables` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentsim.engine.event import NAMED, NEITHER, EveryoneType, Interaction, LogEntry, Past, PlayerId, Sign
from agentsim.engine.wording import Naming

__all__ = ["Deed", "Pair", "pairs"]


@dataclass(frozen=True, slots=True)
class Deed:
    """One kind of thing that one did towards the other in one round.

    `times` is how often, `after_naming` how often of those after naming the other in public in that round; `amount` is
    all that was given by it, None where the deed has none; `turned` how often the pair turned with it.
    """

    round: int
    deed: str
    sign: Sign
    times: int
    after_naming: int
    amount: float | None
    turned: int


@dataclass(frozen=True)
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
        """How often something of that sign was done."""
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
    return [Pair(*between, tuple(books[between].deeds()), tuple(books[between].turns)) for between in ordered]


def _named(told: LogEntry, naming: Naming) -> Iterator[Interaction]:
    if told.by is not None and told.event.words is not None and isinstance(told.to, EveryoneType):
        for player in dict.fromkeys(naming.named(told.event.content)):
            yield Interaction(told.by, player, NAMED)


@dataclass(slots=True)
class _Count:
    times: int = 0
    after_naming: int = 0
    amount: float | None = None
    turned: int = 0


@dataclass(slots=True)
class _Book:
    """What one did towards another, by round and then by deed and sign."""

    rounds: dict[int, dict[tuple[str, Sign], _Count]] = field(default_factory=dict)
    named: dict[int, list[LogEntry]] = field(default_factory=dict)
    turns: list[tuple[int, Sign]] = field(default_factory=list)
    last: Sign = NEITHER

    def enter(self, told: LogEntry, interaction: Interaction) -> None:
        naming = self.named.setdefault(told.round, [])
        if interaction.deed == NAMED:
            if naming and naming[-1] is told:
                return
            naming.append(told)
        count = self.rounds.setdefault(told.round, {}).setdefault((interaction.deed, interaction.sign), _Count())
        count.times += 1
        # what was said by the very words that tell of a deed was not said before it
        count.after_naming += interaction.deed != NAMED and bool(naming) and naming[0] is not told
        if interaction.amount is not None:
            count.amount = (count.amount or 0) + interaction.amount
        if interaction.sign != NEITHER:
            if interaction.sign + self.last == 0:
                count.turned += 1
                self.turns.append((told.round, interaction.sign))
            self.last = interaction.sign

    def deeds(self) -> Iterator[Deed]:
        for number, counts in sorted(self.rounds.items()):
            for (deed, sign), count in counts.items():
                yield Deed(number, deed, sign, count.times, count.after_naming, count.amount, count.turned)
