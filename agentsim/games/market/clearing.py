"""Clearing: what meets at one price: bids and asks matched from the best on, and the prices at which that clears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

Quote: TypeAlias = tuple[int, int]
"""A price, and how many units at it."""


class Clearing(NamedTuple):
    """What meets at one price. At every price from `low` to `high` just these `quantity` units are traded.

    No other trader would gain by such a price. `surplus` is what bids are above asks in all. Where nothing meets,
    the prices are those of the best bid and the best ask.
    """

    low: int
    high: int
    quantity: int
    surplus: int

    @property
    def price(self) -> float:
        """The middle of all prices that clear the market."""
        return (self.low + self.high) / 2


def matches(bids: Sequence[Quote], asks: Sequence[Quote]) -> Iterator[tuple[int, int, int]]:
    """(place of a bid, place of an ask, units) of all that meets; bids fall, asks rise, earlier ones come first."""
    bid = ask = 0
    wanted, offered = (side[0][1] if side else 0 for side in (bids, asks))
    while bid < len(bids) and ask < len(asks) and bids[bid][0] >= asks[ask][0]:
        units = min(wanted, offered)
        yield bid, ask, units
        wanted, offered = wanted - units, offered - units
        if not wanted:
            bid += 1
            wanted = bids[bid][1] if bid < len(bids) else 0
        if not offered:
            ask += 1
            offered = asks[ask][1] if ask < len(asks) else 0


def clearing(bids: Sequence[Quote], asks: Sequence[Quote]) -> Clearing:
    """What meets of bids that fall and asks that rise; there is one of each."""
    met = list(matches(bids, asks))
    if not met:
        return Clearing(bids[0][0], asks[0][0], 0, 0)
    bid, ask, _ = met[-1]
    # the first unit beyond the last that trades must not want to trade at the price
    wanted = sum(units for place, _, units in met if place == bid)
    offered = sum(units for _, place, units in met if place == ask)
    next_bid, next_ask = bid + (wanted == bids[bid][1]), ask + (offered == asks[ask][1])
    return Clearing(
        low=max([asks[ask][0], *(price for price, _ in bids[next_bid : next_bid + 1])]),
        high=min([bids[bid][0], *(price for price, _ in asks[next_ask : next_ask + 1])]),
        quantity=sum(units for _, _, units in met),
        surplus=sum((bids[wants][0] - asks[offers][0]) * units for wants, offers, units in met),
    )
