"""pairs: what each player did for or against each other, round by round, summed up from the dealings of events.

What a dealing is, the events themselves declare (`engine.dealing`); how a page shows it is `report.pairs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agentsim.engine.dealing import AGAINST, FOR, NAMED, Dealing, Past, Sign
from agentsim.engine.event import EveryoneType, PlayerId, Told
from agentsim.engine.naming import Naming

__all__ = ["Deed", "Pair", "pairs"]


@dataclass(frozen=True, slots=True)
class Deed:
    """One kind of thing that one did towards the other in one round.

    `times` is how often, `after_naming` how often of those after naming the other in public in that round; `amount` is
    all that was given by it, None where the deed has none. `turned` where the pair turned in this round, to this sign.
    """

    round: int
    deed: str
    sign: Sign
    times: int
    after_naming: int
    amount: float | None
    turned: bool


@dataclass(frozen=True)
class Pair:
    """What `who` did towards `whom`: deeds in the order of rounds, in a round in the order in which they were first done.

    A round is for or against the other by which of the two was done more often in it; where both were as often, or there
    was only talk, it is neither. The pair turns in a round that is against after one that was for, or for after one that
    was against, with nothing but such as are neither between.
    """

    who: PlayerId
    whom: PlayerId
    deeds: tuple[Deed, ...]

    def times(self, sign: Sign) -> int:
        """How often something of that sign was done."""
        return sum(deed.times for deed in self.deeds if deed.sign == sign)

    @cached_property
    def turns(self) -> tuple[tuple[int, Sign], ...]:
        """The rounds in which the pair turned, and what it turned to."""
        return tuple(dict.fromkeys((deed.round, deed.sign) for deed in self.deeds if deed.turned))

    @property
    def named(self) -> int:
        """Rounds in which the other was named in public."""
        return len({deed.round for deed in self.deeds if deed.deed == NAMED})

    def after_naming(self, sign: Sign) -> int:
        """Rounds in which the other was named in public, and then something of that sign was done to it."""
        return len({deed.round for deed in self.deeds if deed.sign == sign and deed.after_naming})


def pairs(log: Iterable[Told], players: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> list[Pair]:
    """Every pair of which `who` did anything towards `whom`, in the order of the players.

    Words that everybody hears name whom they call by id or by name (`names`, where a game calls players otherwise);
    one event names anybody once.
    """
    seats = {player: place for place, player in enumerate(players)}
    naming = Naming([*zip(players, players, strict=True), *((name, player) for player, name in names.items())])
    books: dict[tuple[PlayerId, PlayerId], _Book] = {}
    past = Past()
    for told in log:
        for dealing in (*_named(told, naming), *told.event.dealings(past)):
            between = dealing.who, dealing.whom
            if dealing.who != dealing.whom and seats.keys() >= set(between):
                books.setdefault(between, _Book()).enter(told, dealing)
        past.add(told.event)
    ordered = sorted(books, key=lambda between: (seats[between[0]], seats[between[1]]))
    return [Pair(*between, tuple(books[between].deeds())) for between in ordered]


def _named(told: Told, naming: Naming) -> Iterator[Dealing]:
    if told.by is not None and told.event.words is not None and isinstance(told.to, EveryoneType):
        for player in dict.fromkeys(naming.named(told.event.content)):
            yield Dealing(told.by, player, NAMED)


@dataclass(slots=True)
class _Count:
    times: int = 0
    after_naming: int = 0
    amount: float | None = None


@dataclass(slots=True)
class _Book:
    """What one did towards another, by round and then by deed and sign."""

    rounds: dict[int, dict[tuple[str, Sign], _Count]] = field(default_factory=dict)
    last_named: Told | None = None

    def enter(self, told: Told, dealing: Dealing) -> None:
        named_before = self.last_named
        if dealing.deed == NAMED:
            if named_before is told:
                return
            self.last_named = told
        count = self.rounds.setdefault(told.round, {}).setdefault((dealing.deed, dealing.sign), _Count())
        count.times += 1
        count.after_naming += dealing.deed != NAMED and named_before is not None and named_before.round == told.round
        if dealing.amount is not None:
            count.amount = (count.amount or 0) + dealing.amount

    def deeds(self) -> Iterator[Deed]:
        before = 0
        for number, counts in sorted(self.rounds.items()):
            balance = sum(sign * count.times for (_, sign), count in counts.items())
            now = FOR if balance > 0 else AGAINST if balance < 0 else 0
            turned = now * before == AGAINST
            before = now or before
            for (deed, sign), count in counts.items():
                own = (count.times, count.after_naming, count.amount)
                yield Deed(number, deed, sign, *own, turned and sign == now)
