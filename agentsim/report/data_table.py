"""A table laid out: cells as text, shaded by size on request. The markup is `templates/panels.html.j2`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from agentsim.engine.panel import Cell, DataTable
from agentsim.report.style import HEAT_STEPS
from agentsim.report.text import number

__all__ = ["CellView", "TableView", "cell", "table"]


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell as text; `heat` is 0 to 9, None where the cell is not shaded."""

    text: str
    numeric: bool
    heat: int | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """A table, or the data beneath a chart."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[CellView, ...], ...]
    searched: bool = False  # by what a reader types into the page's search
    shape: str = "table"


def cell(value: Cell, heat: int | None = None) -> CellView:
    """One value as a reader sees it."""
    if isinstance(value, str):
        return CellView(value, False)
    return CellView(number(value), True, heat)


def table(panel: DataTable) -> TableView:
    """The panel with every cell as text."""
    numbers = [value for row in panel.rows for value in row if isinstance(value, int | float)] if panel.heat else []
    low, high = (min([0.0, *numbers]), max(numbers)) if numbers else (0.0, 0.0)

    def heat(value: Cell, row: int, place: int) -> int | None:
        if panel.shade and not panel.heat:
            shade = panel.shade[row][place]
            return None if shade is None else math.ceil(HEAT_STEPS * min(1.0, max(0.0, shade)))
        if not panel.heat or not isinstance(value, int | float):
            return None
        return math.ceil(HEAT_STEPS * (value - low) / (high - low)) if high > low else 0

    kinds = [
        (place, isinstance(value, str)) for row in panel.rows for place, value in enumerate(row) if value is not None
    ]
    wordy = {place for place, words in kinds if words} - {place for place, words in kinds if not words}
    rows = tuple(
        # an empty cell is aligned like the others of its column
        tuple(
            replace(cell(value), numeric=False)
            if value is None and place in wordy
            else cell(value, heat(value, at, place))
            for place, value in enumerate(row)
        )
        for at, row in enumerate(panel.rows)
    )
    return TableView(panel.title, panel.note, panel.columns, rows)
