"""Building by bots: what a bot could build next, and what it sells to pay a debt. Each bot has a budget of its own.

One bundle builds on, or sells from, one group at a time, so that the bank's stock of buildings cannot make it illegal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from agentsim.games.monopoly.board import GROUPS, HOTEL, SPACES
from agentsim.games.monopoly.building import HouseOrHotel, able, building_kind, why_not
from agentsim.games.monopoly.debts import Raise, RaiseCash, raising
from agentsim.games.monopoly.landing_odds import THROWS, stops
from agentsim.games.monopoly.state import View


@dataclass(frozen=True, slots=True)
class Site:
    """A group to build on: the properties in the order in which to build, with costs and gains.

    `spent` and `gained` are by number of buildings, from one: dollars, and rent expected in the next round of the
    table.
    """

    group: str
    positions: tuple[int, ...]
    types: tuple[Literal["house", "hotel"], ...]
    spent: tuple[int, ...]
    gained: tuple[float, ...]

    def builds(self, count: int) -> tuple[HouseOrHotel, ...]:
        """Return the first `count` buildings."""
        pairs = zip(self.positions[:count], self.types[:count], strict=True)
        return tuple(HouseOrHotel(position=position, type=kind) for position, kind in pairs)

    def affordable(self, budget: int) -> int:
        """Return how many buildings the budget pays for."""
        return bisect_right(self.spent, budget)


def sites(view: View, seat: int, *, most_houses: int = HOTEL) -> Iterator[Site]:
    """Yield the groups on which the seat may build now, up to `most_houses` on a property (5 is the hotel)."""
    for group in view.holdings.monopolies[seat]:
        positions = GROUPS[group]
        if not SPACES[positions[0]].house_cost or True in [view.mortgaged[position] for position in positions]:
            continue
        if min([view.houses[position] for position in positions]) >= most_houses:
            continue
        if site := _site(view, seat, group, most_houses):
            yield site


def _site(view: View, seat: int, group: str, most_houses: int) -> Site | None:
    positions = GROUPS[group]
    plan = _plan(group, tuple([view.houses[at] for at in positions]), view.bank_houses, view.bank_hotels, most_houses)
    if plan is None:
        return None
    coming = nearing(view, seat, positions)
    gained = accumulate(coming[position] * more for position, more in zip(plan.positions, plan.gained, strict=True))
    return Site(group, plan.positions, plan.types, plan.spent, tuple(gained))


@lru_cache(maxsize=1024)
def _plan(group: str, houses: tuple[int, ...], bank_houses: int, bank_hotels: int, most_houses: int) -> Site | None:
    """Return everything that can be built in one group now, or None for nothing.

    `gained` is by how much each building raises the rent of its property.
    """
    order = _in_order(group, houses, bank_houses, bank_hotels, most_houses)
    if not order:
        return None
    cost = SPACES[GROUPS[group][0]].house_cost
    rents = [(SPACES[position].rents, count) for position, count in order]
    return Site(
        group,
        tuple(position for position, _ in order),
        tuple(building_kind(count) for _, count in order),
        tuple(cost * count for count in range(1, len(order) + 1)),
        tuple(rent[count] - rent[count - 1] * (2 if count == 1 else 1) for rent, count in rents),
    )


def _in_order(
    group: str, houses: tuple[int, ...], bank_houses: int, bank_hotels: int, most_houses: int
) -> tuple[tuple[int, int], ...]:
    """Return (position, new number of houses) of all that can be built in turn: evenly, the most visited first."""
    now = dict(zip(GROUPS[group], houses, strict=True))
    found: list[tuple[int, int]] = []
    while True:
        position = min(now, key=lambda position: (now[position], -stops()[position]))
        count = now[position] + 1
        if count > most_houses or not (bank_hotels if count == HOTEL else bank_houses):
            return tuple(found)
        if count == HOTEL:
            bank_hotels, bank_houses = bank_hotels - 1, bank_houses + HOTEL - 1
        else:
            bank_houses -= 1
        now[position] = count
        found.append((position, count))


def nearing(view: View, seat: int, positions: tuple[int, ...]) -> Mapping[int, float]:
    """Return, by position, how many opponents are expected to stop there with their next throw."""
    found = dict.fromkeys(positions, 0.0)
    for number, other in enumerate(view.seats):
        if number != seat and not other.bankrupt:
            for position in positions:
                steps = (position - other.position) % len(SPACES)
                if steps < len(THROWS):
                    found[position] += THROWS[steps]
    return found


def to_unmortgage(view: View, seat: int, budget: int, *, monopolies_only: bool) -> tuple[int, ...]:
    """Return the deeds to unmortgage within the budget: monopolies first, then others unless `monopolies_only`."""
    if True not in view.mortgaged:
        return ()
    monopolies = view.holdings.monopolies[seat]
    deeds = [position for position, owner in enumerate(view.owner) if owner == seat and view.mortgaged[position]]
    first = [position for position in deeds if SPACES[position].group in monopolies]
    rest = [] if monopolies_only else [position for position in deeds if SPACES[position].group not in monopolies]
    found = []
    for position in (*first, *sorted(rest, key=_yield, reverse=True)):
        if SPACES[position].redemption <= budget:
            budget -= SPACES[position].redemption
            found.append(position)
    return tuple(found)


def pledged(view: View, seat: int, missing: int) -> tuple[tuple[int, ...], int]:
    """Return lone deeds to mortgage, the least visited first, and what they bring in dollars.

    They are as many as `missing` needs, or none if all of them are not enough.
    """
    if missing <= 0:
        return (), 0
    monopolies = view.holdings.monopolies[seat]
    lone = [
        position
        for position, owner in enumerate(view.owner)
        if owner == seat and not view.mortgaged[position] and SPACES[position].group not in monopolies
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
    """Return how to pay a debt, cheapest first: deeds outside monopolies, then buildings of one group.

    The buildings are those of the group whose rents suffer least for the money. Deeds of monopolies come last, and only
    if there is no building to sell. It may raise less than is owed; the debtor is then asked again.
    """
    estate, seat, monopolies = request.view.estate(), request.seat, request.view.holdings.monopolies[request.seat]
    positions = able(estate, "sell", seat)
    deeds = [at for at in able(estate, "mortgage", seat) if not (positions and SPACES[at].group in monopolies)]
    deeds.sort(key=lambda position: (SPACES[position].group in monopolies, _yield(position)))

    def loss(position: int) -> float:
        rents, houses = SPACES[position].rents, estate.houses[position]
        return stops()[position] * (rents[houses] - rents[houses - 1])

    cheapest = min(positions, key=lambda position: loss(position) / SPACES[position].house_cost, default=None)
    group = () if cheapest is None else GROUPS[SPACES[cheapest].group]

    def next_street() -> int | None:
        return min((at for at in group if not why_not(estate, "sell", seat, at)), key=loss, default=None)

    return raising(estate, seat, request.owed - request.you.cash, deeds, next_street)


def _yield(position: int) -> float:
    """Estimate what a lone deed brings: rents go with prices."""
    return stops()[position] * SPACES[position].price
