"""Pricing: what winning, and losing, costs in each format. Which bids are valid is `state`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["ascending", "sealed_first_price", "sealed_second_price", "all_pay"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A valid bid: whose, and how much."""

    team: str
    amount: int


def best(offers: Sequence[Offer]) -> Offer:
    """The highest offer; of equal ones the first that was processed."""
    return max(offers, key=lambda offer: offer.amount)


def _winner_pays_its_bid(offers: Sequence[Offer]) -> dict[str, int]:
    won = best(offers)
    return {won.team: won.amount}


def _winner_pays_the_second_bid(offers: Sequence[Offer]) -> dict[str, int]:
    won = best(offers)
    return {won.team: max((offer.amount for offer in offers if offer.team != won.team), default=0)}


def _everyone_pays(offers: Sequence[Offer]) -> dict[str, int]:
    return {offer.team: offer.amount for offer in offers}


@dataclass(frozen=True, slots=True)
class Pricing:
    """A format: whether bids are sealed (one each, unseen), who pays what, and that in words for the teams.

    `payments` takes the valid offers for one item, at least one, in the order in which they were processed, and
    gives what each team pays.
    """

    sealed: bool
    payments: Callable[[Sequence[Offer]], dict[str, int]]
    words: str


PRICING: Mapping[Format, Pricing] = {
    "ascending": Pricing(
        sealed=False,
        payments=_winner_pays_its_bid,
        words="Bids are open and rise: a bid counts only if it is higher than the highest bid so far. "
        "The team with the highest bid takes the item and pays its bid.",
    ),
    "sealed_first_price": Pricing(
        sealed=True,
        payments=_winner_pays_its_bid,
        words="Bids are sealed: each team bids once, unseen by the others. "
        "The team with the highest bid takes the item and pays its bid.",
    ),
    # Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", Journal of Finance 16 (1961).
    "sealed_second_price": Pricing(
        sealed=True,
        payments=_winner_pays_the_second_bid,
        words="Bids are sealed: each team bids once, unseen by the others. The team with the highest bid takes the "
        "item and pays what the second highest bid was, or nothing where there is no other.",
    ),
    "all_pay": Pricing(
        sealed=True,
        payments=_everyone_pays,
        words="Bids are sealed: each team bids once, unseen by the others. The team with the highest bid takes the "
        "item, and every team pays its own bid, the losers too.",
    ),
}
