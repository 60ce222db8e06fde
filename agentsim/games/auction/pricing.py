"""Pricing: what winning, and losing, costs in each format. Which bids count is `state`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["ascending", "sealed_first_price", "sealed_second_price", "all_pay"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A bid that counts: whose (a team's id, "" where there is no bid), and how much."""

    team: str
    amount: int


def best(offers: Sequence[Offer]) -> Offer:
    """The highest offer, of equal ones the first that was processed; 0 of no team where there is none."""
    return max(offers, key=lambda offer: offer.amount, default=Offer("", 0))


def _winner_pays_its_bid(offers: Sequence[Offer]) -> dict[str, int]:
    return {best(offers).team: best(offers).amount}


def _winner_pays_the_second_bid(offers: Sequence[Offer]) -> dict[str, int]:
    won = best(offers)
    return {won.team: best([offer for offer in offers if offer.team != won.team]).amount}


def _everyone_pays(offers: Sequence[Offer]) -> dict[str, int]:
    return {offer.team: offer.amount for offer in offers}


@dataclass(frozen=True, slots=True)
class Pricing:
    """A format: whether bids are sealed (one each, unseen), who pays what, and what the winner takes, in words.

    `payments` takes the valid offers for one item, at least one, in the order in which they were processed, and
    gives what each team pays.
    """

    sealed: bool
    payments: Callable[[Sequence[Offer]], dict[str, int]]
    taken: str


_ITS_BID = ", and its team pays it"
PRICING: Mapping[Format, Pricing] = {
    "ascending": Pricing(False, _winner_pays_its_bid, _ITS_BID),
    "sealed_first_price": Pricing(True, _winner_pays_its_bid, _ITS_BID),
    # Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", Journal of Finance 16 (1961).
    "sealed_second_price": Pricing(
        True,
        _winner_pays_the_second_bid,
        ", and its team pays the second highest bid, or nothing where there is no other",
    ),
    "all_pay": Pricing(True, _everyone_pays, ", and every team pays its own bid, the losers too"),
}
