"""Measures: what a day of the society came to, and how unequal what agents hold is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Resource

Flow: TypeAlias = Literal["taxed", "paid", "given"]
"""What changes hands in a day: to the pool, from it, and between agents."""


@dataclass(frozen=True)
class DaySum:
    """What a day came to: `hours` of work by so many `workers`.

    `worked` are the hours of the agent with the fewest, of the middle one and of the one with most, of those that had a
    turn; `wealth` is that of the poorest, the middle and the richest agent that is not dead, in the evening. So much
    was `taxed` for the pool, `paid` by it to agents, and `given`. Of the commons so much was `drawn` by work, and so
    much has `regrown` to what they hold, `commons`.
    """

    hours: int
    workers: int
    worked: tuple[int, int, int]
    wealth: tuple[Amount, Amount, Amount]
    gini: float
    taxed: Mapping[Resource, Amount]
    paid: Mapping[Resource, Amount]
    given: Mapping[Resource, Amount]
    drawn: Amount = 0
    regrown: Amount = 0
    commons: Amount = 0


def gini(wealths: Sequence[int]) -> float:
    """The Gini coefficient of sorted wealths, to 4 places; 0 where there is no wealth.

    Of x_1 <= ... <= x_n: sum((2 i - n - 1) x_i) / (n sum(x_i)).
    """
    total, n = sum(wealths), len(wealths)
    if not total:
        return 0.0
    return round(sum((2 * place - n - 1) * wealth for place, wealth in enumerate(wealths, 1)) / (n * total), 4)


def spread(ordered: Sequence[int]) -> tuple[int, int, int]:
    """The least, the middle and the most."""
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]
