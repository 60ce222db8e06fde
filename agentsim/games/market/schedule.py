"""Schedules: demand and supply by private values and costs, their equilibrium, and what a period's trades achieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.engine.template import By


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Where demand meets supply: `price` is the middle of all such prices, `surplus` the most to be gained."""

    price: float
    quantity: int
    surplus: int


def equilibrium(values: Sequence[Sequence[int]], costs: Sequence[Sequence[int]]) -> Equilibrium:
    """The competitive equilibrium of traders' units; a last pair that gains nothing counts in the quantity."""
    demand = sorted(chain.from_iterable(values), reverse=True)
    supply = sorted(chain.from_iterable(costs))
    pairs = [(value, cost) for value, cost in zip(demand, supply, strict=False) if value >= cost]
    count = len(pairs)
    if not count:
        return Equilibrium((demand[0] + supply[0]) / 2, 0, 0)
    # a price clears the market if the last unit within wants it and the first unit beyond does not
    low = max([pairs[-1][1], *demand[count : count + 1]])
    high = min([pairs[-1][0], *supply[count : count + 1]])
    return Equilibrium((low + high) / 2, count, sum(value - cost for value, cost in pairs))


def alpha(prices: Sequence[int], equilibrium_price: float) -> float | None:
    """Smith's coefficient of convergence (1962): 100 times the root mean square deviation over the equilibrium price.

    None without a price.
    """
    if not prices:
        return None
    mean_square = sum((price - equilibrium_price) ** 2 for price in prices) / len(prices)
    return 100 * sqrt(mean_square) / equilibrium_price


class PeriodBegan(Event, heading="Period {period} of {periods} begins", content="Everybody is endowed anew."):
    period: int
    periods: int


class PeriodEnded(
    Event,
    heading="Period {period} ends: efficiency {allocative_efficiency:.1%}",
    content=By(
        "alpha",
        {None: "No trade in {rounds} rounds; {most_surplus} could have been gained."},
        "{quantity} units at {mean_price:.2f} on average in {rounds} rounds, alpha {alpha:.1f}; equilibrium "
        "{equilibrium_quantity} units at {equilibrium_price:g}.",
    ),
):
    """A period in figures; `mean_price` and `alpha` are None without a trade.

    `allocative_efficiency` is surplus realised over the most there was: 1 at most, below 0 where traders lost more than
    others gained. `alpha` is Smith's: 100 times the root mean square deviation from the equilibrium price over it.
    """

    for_log: ClassVar[bool] = True

    period: int
    rounds: int
    quantity: int
    mean_price: float | None
    allocative_efficiency: float
    alpha: float | None
    equilibrium_price: float
    equilibrium_quantity: int
    surplus: int
    most_surplus: int
    profits: dict[str, int]
