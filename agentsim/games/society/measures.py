"""The summary of a day, and measures of the spread of wealth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Resource

Flow: TypeAlias = Literal["taxed", "paid", "given"]
"""The transfers of a day: taxes to the pool, payments by the pool, and gifts."""


@dataclass(frozen=True)
class DaySum:
    """The summary of a day. Amounts are in hundredths.

    - `hours` is the sum of all work, `workers` the number of agents that worked.
    - `worked` are the minimum, median and maximum of hours over the agents that had a turn.
    - `wealth` are the minimum, median and maximum over the agents that are not dead, in the evening.
    - `taxed`, `paid` and `given` are taxes, payments by the pool to agents, and gifts, by resource.
    - `harvest` is the food taken from the commons, `regeneration` their growth, `commons` their stock after both.
    """

    hours: int
    workers: int
    worked: tuple[int, int, int]
    wealth: tuple[Amount, Amount, Amount]
    gini: float
    taxed: Mapping[Resource, Amount]
    paid: Mapping[Resource, Amount]
    given: Mapping[Resource, Amount]
    harvest: Amount = 0
    regeneration: Amount = 0
    commons: Amount = 0


def gini(wealths: Sequence[int]) -> float:
    """Return the Gini coefficient of wealths in ascending order, to 4 places, or 0 if their sum is 0.

    For x_1 <= ... <= x_n it is sum((2 i - n - 1) x_i) / (n sum(x_i)).
    """
    total, n = sum(wealths), len(wealths)
    if not total:
        return 0.0
    return round(sum((2 * place - n - 1) * wealth for place, wealth in enumerate(wealths, 1)) / (n * total), 4)


def spread(ordered: Sequence[int]) -> tuple[int, int, int]:
    """Return the minimum, the median (the upper one of an even number) and the maximum of sorted values."""
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]
