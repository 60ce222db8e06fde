"""The measure of inequality."""

from __future__ import annotations

from collections.abc import Sequence


def gini(wealths: Sequence[int]) -> float:
    """Return the Gini coefficient of wealths in ascending order, to 4 places, or 0 if their sum is 0.

    For x_1 <= ... <= x_n it is sum((2 i - n - 1) x_i) / (n sum(x_i)).
    """
    total, n = sum(wealths), len(wealths)
    if not total:
        return 0.0
    return round(sum((2 * place - n - 1) * wealth for place, wealth in enumerate(wealths, 1)) / (n * total), 4)
