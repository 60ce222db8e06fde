"""Building: what a bot could build next, and what it must sell to pay a debt. How much it wants to spend is its own.

One bundle builds on, or sells from, one group at a time: what another group frees or takes of the bank's stock can
then never make it illegal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from agentsim.games.monopoly.board import GROUPS, HOTEL, SPACES
from agentsim.games.monopoly.bundle import Level, building
from agentsim.games.monopoly.debts import Raise, RaiseCash, raising
from agentsim.games.monopoly.landing_odds import THROWS, stops
from agentsim.games.monopoly.state import View


@dataclass(frozen=True, slots=True)
class Site:
    """A whole group to build on: the lots in the order in which levels would come, with what is paid and gained.

    `spent` and `gained` are by number of levels, from one: dollars, and rent expected in the next round of the table.
    """

    group: str
    lots: tuple[int, ...]
    types: tuple[Literal["house", "hotel"], ...]
    spent: tuple[int, ...]
    gained: tuple[float, ...]

    def builds(self, count: int) -> tuple[Level, ...]:
        """The first so many levels."""
        pairs = zip(self.lots[:count], self.types[:count], strict=True)
        return tuple(Level(position=lot, type=kind) for lot, kind in pairs)

    def affordable(self, budget: int) -> int:
        """How many levels the budget pays for."""
        return bisect_right(self.spent, budget)


def sites(view: View, seat: int, *, houses: int = HOTEL) -> Iterator[Site]:
    """Groups of the seat that may be built on now, as high as `houses` on a lot (5 is the hotel)."""
    for group in view.holdings.whole[seat]:
        lots = GROUPS[group]
        if not SPACES[lots[0]].house_cost or True in [view.mortgaged[lot] for lot in lots]:
            continue
        if min([view.level[lot] for lot in lots]) >= houses:
            continue
        if site := _site(view, seat, group, houses):
            yield site


def _site(view: View, seat: int, group: str, houses: int) -> Site | None:
    lots = GROUPS[group]
    plan = _plan(group, tuple([view.level[lot] for lot in lots]), view.houses, view.hotels, houses)
    if plan is None:
        return None
    coming = nearing(view, seat, lots)
    gained = accumulate(coming[lot] * more for lot, more in zip(plan.lots, plan.gained, strict=True))
    return Site(group, plan.lots, plan.types, plan.spent, tuple(gained))


@lru_cache(maxsize=1024)
def _plan(group: str, levels: tuple[int, ...], stock: int, hotels: int, houses: int) -> Site | None:
    """All that can be built in one group as it stands; `gained` is by how much each level raises the rent of its lot.

    None where that is nothing.
    """
    levelled = _levelled(group, levels, stock, hotels, houses)
    if not levelled:
        return None
    cost = SPACES[GROUPS[group][0]].house_cost
    rents = [(SPACES[lot].rents, level) for lot, level in levelled]
    return Site(
        group,
        tuple(lot for lot, _ in levelled),
        tuple(building(level) for _, level in levelled),
        tuple(cost * count for count in range(1, len(levelled) + 1)),
        tuple(rent[level] - rent[level - 1] * (2 if level == 1 else 1) for rent, level in rents),
    )


def _levelled(group: str, levels: tuple[int, ...], stock: int, hotels: int, houses: int) -> tuple[tuple[int, int], ...]:
    """(lot, its level then) of all that can be built one after another, evenly, the most visited lots first."""
    now = dict(zip(GROUPS[group], levels, strict=True))
    found: list[tuple[int, int]] = []
    while True:
        lot = min(now, key=lambda lot: (now[lot], -stops()[lot]))
        level = now[lot] + 1
        if level > houses or not (hotels if level == HOTEL else stock):
            return tuple(found)
        if level == HOTEL:
            hotels, stock = hotels - 1, stock + HOTEL - 1
        else:
            stock -= 1
        now[lot] = level
        found.append((lot, level))


def nearing(view: View, seat: int, lots: tuple[int, ...]) -> Mapping[int, float]:
    """By lot: how many of the others are expected to stop there with their very next throw."""
    found = dict.fromkeys(lots, 0.0)
    for number, other in enumerate(view.seats):
        if number != seat and not other.bankrupt:
            for lot in lots:
                steps = (lot - other.position) % len(SPACES)
                if steps < len(THROWS):
                    found[lot] += THROWS[steps]
    return found


def lifted(view: View, seat: int, budget: int, *, whole: bool) -> tuple[int, ...]:
    """Mortgages to lift within the budget: those of whole groups first, then (unless `whole`) by what they bring."""
    if True not in view.mortgaged:
        return ()
    held = view.holdings.whole[seat]
    deeds = [position for position, owner in enumerate(view.owner) if owner == seat and view.mortgaged[position]]
    first = [position for position in deeds if SPACES[position].group in held]
    rest = [] if whole else [position for position in deeds if SPACES[position].group not in held]
    found = []
    for position in (*first, *sorted(rest, key=_yield, reverse=True)):
        if SPACES[position].redemption <= budget:
            budget -= SPACES[position].redemption
            found.append(position)
    return tuple(found)


def pledged(view: View, seat: int, missing: int) -> tuple[tuple[int, ...], int]:
    """Deeds outside the seat's whole groups to mortgage, the least visited first, and what they bring: as many as are
    needed for what is missing, or none where all of them are not enough."""
    if missing <= 0:
        return (), 0
    whole = view.holdings.whole[seat]
    lone = [
        position
        for position, owner in enumerate(view.owner)
        if owner == seat and not view.mortgaged[position] and SPACES[position].group not in whole
    ]
    found: list[int] = []
    brought = 0
    for position in sorted(lone, key=lambda position: stops()[position]):
        if brought >= missing:
            break
        found.append(position)
        brought += SPACES[position].mortgage
    return (tuple(found), brought) if brought >= missing else ((), 0)


def raised(request: RaiseCash) -> Raise:
    """What a debt takes, cheapest first: deeds outside whole groups, then buildings of one group, then the rest.

    The buildings are those of the group whose rents suffer least for the money. It may be less than what is owed; the
    debtor is asked again then.
    """
    estate, seat, whole = request.view.estate(), request.seat, request.view.holdings.whole[request.seat]
    lots = estate.able("sell", seat)
    deeds = [at for at in estate.able("mortgage", seat) if not (lots and SPACES[at].group in whole)]
    deeds.sort(key=lambda position: (SPACES[position].group in whole, _yield(position)))

    def loss(lot: int) -> float:
        rents, level = SPACES[lot].rents, estate.level[lot]
        return stops()[lot] * (rents[level] - rents[level - 1])

    cheapest = min(lots, key=lambda lot: loss(lot) / SPACES[lot].house_cost, default=None)
    group = () if cheapest is None else GROUPS[SPACES[cheapest].group]

    def next_lot() -> int | None:
        return min((lot for lot in group if not estate.why_not("sell", seat, lot)), key=loss, default=None)

    return raising(estate, seat, request.owed - request.you.cash, deeds, next_lot)


def _yield(position: int) -> float:
    """What a deed on its own brings, roughly: rents go with prices."""
    return stops()[position] * SPACES[position].price
