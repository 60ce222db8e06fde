"""strict: what `json` reads and JSON has not, refused: NaN, and numbers too large for a float.

For `json.loads`. The JSON of a reply, which is foreign in other ways, is read by `engine.reading`.
"""

from __future__ import annotations

import math

__all__ = ["finite", "no_constant"]


def finite(digits: str) -> float:
    """A `parse_float` and a `parse_constant` for files of ours, in which every number is finite."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


def no_constant(name: str) -> None:
    """A `parse_constant` for what others wrote."""
    raise ValueError(f"{name} is not JSON")
