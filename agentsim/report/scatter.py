"""A scatter laid out: where each point stands between two measured axes. The markup is `templates/panels.html.j2`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from agentsim.engine.panel import Point, Scatter
from agentsim.report.drawing import CHARACTER, HEIGHT, WIDTH, ChartView, Label, Mark, room_for, ticks
from agentsim.report.table import TableView, cell
from agentsim.report.text import number
from agentsim.report.tones import tone

__all__ = ["scatter"]

_MANY = 400  # beyond so many, points are smaller: they would hide one another
_LARGE, _SMALL = 4.4, 2.6


@dataclass(frozen=True, slots=True)
class _Axis:
    """Round numbers (`marks`) along a stretch of the drawing, the lowest at `start`."""

    marks: list[float]
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def labels(self, room: float) -> tuple[Label, ...]:
        """Marks `room` or more apart: all of them, or every second, third, ..."""
        every = max(1, math.ceil(room * (len(self.marks) - 1) / abs(self.end - self.start)))
        return tuple(Label(self.at(mark), number(mark), number(mark)) for mark in self.marks[::every])


def scatter(panel: Scatter, players: Mapping[str, int]) -> ChartView:
    """The points that have a place, and all of them as a table; a series named like a player has that player's tone."""
    drawn = [point for point in panel.points if math.isfinite(point.x) and math.isfinite(point.y)]
    tones = _tones(panel, players)
    across, up = _marks([point.x for point in drawn], about=8), _marks([point.y for point in drawn], about=5)
    widest = CHARACTER * max(len(number(mark)) for mark in across)
    # No number leans out; ends are rounded as points are, or one at an end would stand beside it.
    x = _Axis(across, round(max(room_for(up), widest / 2), 1), round(WIDTH - max(8, widest / 2 + 2), 1))
    y = _Axis(up, HEIGHT - 24, 26.0 if panel.y_label else 10.0)
    return ChartView(
        title=panel.title,
        note=panel.note,
        kind="scatter",
        width=WIDTH,
        height=y.start + (40 if panel.x_label else 24),
        left=x.start,
        right=x.end,
        top=y.end,
        base=y.start,
        zero=y.at(min(max(0.0, up[0]), up[-1])),
        y_ticks=y.labels(14),
        x_ticks=x.labels(widest + 8),
        tilted=False,
        x_label=panel.x_label,
        y_label=panel.y_label,
        lines=(),
        dots=tuple(Mark(x.at(p.x), y.at(p.y), 0, 0, tones[p.series], _says(p, panel)) for p in drawn),
        radius=_LARGE if len(drawn) <= _MANY else _SMALL,
        bars=(),
        legend=tuple((name or "–", its) for name, its in tones.items()) if len(tones) > 1 else (),
        data=_data(panel),
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


def _data(panel: Scatter) -> TableView:
    """The table beneath, with a column for the series where there is one."""
    named = any(point.series for point in panel.points)
    columns = ("", *(("series",) if named else ()), panel.x_label or "x", panel.y_label or "y")
    rows = tuple(
        (cell(p.label), *((cell(p.series),) if named else ()), cell(_finite(p.x)), cell(_finite(p.y)))
        for p in panel.points
    )
    return TableView("", "", columns, rows)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _says(point: Point, panel: Scatter) -> str:
    name = ", ".join(part for part in (point.label, point.series) if part)
    measures = f"{panel.x_label or 'x'} {number(point.x)}, {panel.y_label or 'y'} {number(point.y)}"
    return f"{name}: {measures}" if name else measures
