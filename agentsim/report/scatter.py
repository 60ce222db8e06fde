"""Points laid out along measured axes: scatters, and estimates with their intervals.

The markup is `templates/panels.html.j2`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from agentsim.engine.panel import DataTable, Estimate, Estimates, Point, Scatter
from agentsim.report.charts import CHARACTER, HEIGHT, WIDTH, Axis, ChartView, Label, Mark, room_for, ticks
from agentsim.report.data_table import table
from agentsim.report.style import tone, tone_of
from agentsim.report.text import number

__all__ = ["ranges", "scatter"]

_MANY = 400  # beyond so many, points are smaller: they would hide one another
_LARGE, _SMALL = 4.4, 2.6
_ROW, _TOP, _LONGEST = 24.0, 10.0, 28


def scatter(panel: Scatter, players: Mapping[str, int]) -> ChartView:
    """The points that have a place, and all of them as a table; a series named like a player has that player's tone."""
    drawn = [point for point in panel.points if math.isfinite(point.x) and math.isfinite(point.y)]
    tones = _tones(panel, players)
    across, up = _marks([point.x for point in drawn], about=8), _marks([point.y for point in drawn], about=5)
    widest = CHARACTER * max(len(number(mark)) for mark in across)
    # No number leans out; ends are rounded as points are, or one at an end would stand beside it.
    x = Axis(across, round(max(room_for(up), widest / 2), 1), round(WIDTH - max(8, widest / 2 + 2), 1))
    y = Axis(up, HEIGHT - 24, 26.0 if panel.y_label else 10.0)
    named = any(point.series for point in panel.points)
    columns = ("", *(("series",) if named else ()), panel.x_label or "x", panel.y_label or "y")
    rows = tuple((p.label, *((p.series,) if named else ()), _finite(p.x), _finite(p.y)) for p in panel.points)
    return ChartView(
        title=panel.title,
        note=panel.note,
        kind="scatter",
        height=y.start + (40 if panel.x_label else 24),
        left=x.start,
        right=x.end,
        top=y.end,
        base=y.start,
        zero=y.zero(),
        y_ticks=y.labels(14),
        x_ticks=x.labels(widest + 8),
        x_label=panel.x_label,
        y_label=panel.y_label,
        dots=tuple(Mark(x.at(p.x), y.at(p.y), 0, 0, tones[p.series], _point_in_words(p, panel)) for p in drawn),
        radius=_LARGE if len(drawn) <= _MANY else _SMALL,
        legend=tuple((name or "–", its) for name, its in tones.items()) if len(tones) > 1 else (),
        data=table(DataTable("", columns, rows)),
    )


def _tones(panel: Scatter, players: Mapping[str, int]) -> dict[str, str]:
    """Each series' tone: players first, in their order; the others' tones begin behind all players'."""
    names = list(dict.fromkeys(point.series for point in panel.points))
    seated = sorted((name for name in names if name in players), key=players.__getitem__)
    others = [name for name in names if name not in players]
    if not seated and len(others) == 1:
        return {others[0]: "solo"}
    first = len(players) if seated else 0
    return {name: tone(players[name]) for name in seated} | {
        name: tone(place) for place, name in enumerate(others, start=first)
    }


def _marks(values: list[float], about: int) -> list[float]:
    """Round numbers around the values; where these are all the same, on both sides of it."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - (abs(low) / 10 or 1), high + (abs(high) / 10 or 1)
    return ticks(low, high, about)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _point_in_words(point: Point, panel: Scatter) -> str:
    name = ", ".join(part for part in (point.label, point.series) if part)
    measures = f"{panel.x_label or 'x'} {number(point.x)}, {panel.y_label or 'y'} {number(point.y)}"
    return f"{name}: {measures}" if name else measures


def ranges(panel: Estimates, players: Mapping[str, int]) -> ChartView:
    """A line for each interval, a dot for its estimate, and all of them as a table.

    An estimate named like a player has that player's tone.
    """
    drawn = [row for row in panel.rows if math.isfinite(row.value)]
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None and math.isfinite(end)]
    left = round(12 + CHARACTER * max((len(_short(row.name)) for row in drawn), default=0), 1)
    x = Axis(ticks(min(ends, default=0.0), max(ends, default=1.0), about=8), left, WIDTH - 16)
    base = _TOP + _ROW * max(1, len(drawn))
    heights = [(row, round(_TOP + _ROW * (place + 0.5), 1)) for place, row in enumerate(drawn)]
    tones = {row.name: tone_of(row.name, players, "solo") for row in drawn}
    rows = tuple((row.name, row.value, row.low, row.high) for row in panel.rows)
    return ChartView(
        title=panel.title,
        note=panel.note,
        kind="scatter",
        height=base + (40 if panel.x_label else 24),
        left=left,
        right=x.end,
        top=_TOP,
        base=base,
        zero=base,
        y_ticks=tuple(Label(y, _short(row.name), row.name) for row, y in heights),
        x_ticks=x.labels(),
        x_label=panel.x_label,
        lines=tuple(
            (f"{x.at(row.low)},{y} {x.at(row.high)},{y}", tones[row.name])
            for row, y in heights
            if row.low is not None and row.high is not None
        ),
        dots=tuple(Mark(x.at(row.value), y, 0, 0, tones[row.name], _range_in_words(row)) for row, y in heights),
        radius=_LARGE,
        data=table(DataTable("", ("", panel.x_label or "estimate", "from", "to"), rows)),
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"  # the ends of models' names tell them apart


def _range_in_words(row: Estimate) -> str:
    if row.low is None or row.high is None:
        return f"{row.name}: {number(row.value)}"
    return f"{row.name}: {number(row.value)}, {number(row.low)} to {number(row.high)}"
