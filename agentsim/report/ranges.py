"""Ranges laid out: a line for each interval, a dot for its estimate. The markup is `templates/panels.html.j2`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from agentsim.engine.panel import Range, Ranges
from agentsim.report.drawing import CHARACTER, WIDTH, ChartView, Label, Mark, ticks
from agentsim.report.table import TableView, cell
from agentsim.report.text import number
from agentsim.report.tones import tone_of

__all__ = ["ranges"]

_ROW, _TOP, _LONGEST = 24.0, 10.0, 28


def ranges(panel: Ranges, players: Mapping[str, int]) -> ChartView:
    """The estimates that can be drawn, and all of them as a table; one named like a player has that player's tone."""
    drawn = [row for row in panel.rows if math.isfinite(row.value)]
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None and math.isfinite(end)]
    marks = ticks(min(ends, default=0.0), max(ends, default=1.0), about=8)
    left = round(12 + CHARACTER * max((len(_short(row.name)) for row in drawn), default=0), 1)
    right, base = WIDTH - 16, _TOP + _ROW * max(1, len(drawn))

    def x(value: float) -> float:
        return round(left + (value - marks[0]) / (marks[-1] - marks[0]) * (right - left), 1)

    heights = [(row, round(_TOP + _ROW * (place + 0.5), 1)) for place, row in enumerate(drawn)]
    tones = {row.name: tone_of(row.name, players, "solo") for row in drawn}
    return ChartView(
        title=panel.title,
        note=panel.note,
        kind="scatter",
        width=WIDTH,
        height=base + (40 if panel.x_label else 24),
        left=left,
        right=right,
        top=_TOP,
        base=base,
        zero=base,
        y_ticks=tuple(Label(y, _short(row.name), row.name) for row, y in heights),
        x_ticks=tuple(Label(x(mark), number(mark), number(mark)) for mark in marks),
        tilted=False,
        x_label=panel.x_label,
        y_label="",
        lines=tuple(
            (f"{x(row.low)},{y} {x(row.high)},{y}", tones[row.name])
            for row, y in heights
            if row.low is not None and row.high is not None
        ),
        dots=tuple(Mark(x(row.value), y, 0, 0, tones[row.name], _says(row)) for row, y in heights),
        radius=4.4,
        bars=(),
        legend=(),
        data=_data(panel),
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"  # the ends of models' names tell them apart


def _says(row: Range) -> str:
    if row.low is None or row.high is None:
        return f"{row.name}: {number(row.value)}"
    return f"{row.name}: {number(row.value)}, {number(row.low)} to {number(row.high)}"


def _data(panel: Ranges) -> TableView:
    rows = tuple((cell(row.name), cell(row.value), cell(row.low), cell(row.high)) for row in panel.rows)
    return TableView("", "", ("", panel.x_label or "estimate", "from", "to"), rows)
