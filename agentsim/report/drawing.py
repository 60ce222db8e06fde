"""A drawing: axes, what stands on them and a legend, in units of its own. The markup is `templates/panels.html.j2`.

Which panel becomes what drawing is said by `charts` and `scatter`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentsim.report.table import TableView
from agentsim.report.text import number

__all__ = ["CHARACTER", "HEIGHT", "WIDTH", "ChartView", "Label", "Mark", "room_for", "ticks"]

WIDTH, HEIGHT = 640.0, 260.0
_LEAST = 1e-300
CHARACTER = 6.1  # width of a character of a label, in the units of the drawing


@dataclass(frozen=True, slots=True)
class Mark:
    """A dot (`x`, `y`), or a bar that begins there, with what a reader sees when pointing at it."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class Label:
    """A tick of an axis."""

    at: float
    text: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class ChartView:
    """A drawing in its own units, and its data as a table. `kind` is the chart's, or `scatter`."""

    title: str
    note: str
    kind: str
    width: float
    height: float
    left: float
    right: float
    top: float
    base: float
    zero: float
    y_ticks: tuple[Label, ...]
    x_ticks: tuple[Label, ...]
    tilted: bool
    x_label: str
    y_label: str
    lines: tuple[tuple[str, str], ...]  # points and tone
    dots: tuple[Mark, ...]
    radius: float  # of a dot
    bars: tuple[Mark, ...]
    legend: tuple[tuple[str, str], ...]  # name and tone
    data: TableView
    shape: str = "chart"


def ticks(low: float, high: float, about: int = 5, least: float = 0.0) -> list[float]:
    """Round numbers (multiples of 1, 2 or 5 times a power of ten) whose range holds low and high.

    Their steps are `about` so many: half as many to two more, fewer where a step would be under `least`.
    """
    if not high - low > _LEAST:  # what lies closer has no steps between that a number could tell apart
        high = low + (abs(low) if abs(low) > _LEAST else 1.0)
    rough = max((high - low) / about, least)
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # A multiple of the step in binary is a little off; its digits end where the step's do.
    return [round(index * step, max(0, -exponent)) for index in range(first, last + 1)]


def room_for(labels: list[float]) -> float:
    """How far to the right the y axis stands, so that its numbers fit before it."""
    return 12 + CHARACTER * max(len(number(label)) for label in labels)
