"""Panels laid out, each by its own module; lines and bars are here. The markup is `templates/panels.html.j2`.

What a panel shows is its game's business (`engine.panel`); colours are the style sheet's, named here by tone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from agentsim.engine.panel import Chart, Network, Panel, Profiles, Ranges, Scatter, Table, Threads
from agentsim.report.board import BoardView, lay_out
from agentsim.report.drawing import CHARACTER, HEIGHT, WIDTH, ChartView, Label, Mark, room_for, ticks
from agentsim.report.network import NetworkView, network
from agentsim.report.profiles import ProfilesView, profiles
from agentsim.report.ranges import ranges
from agentsim.report.scatter import scatter
from agentsim.report.table import TableView, cell, table
from agentsim.report.text import fitted, number, plain
from agentsim.report.threads import ThreadsView, threads
from agentsim.report.tones import tone

__all__ = ["PanelView", "view"]

PanelView: TypeAlias = TableView | ChartView | BoardView | NetworkView | ThreadsView | ProfilesView

_LABEL_MAX = 14
_MANY_DOTS = 400  # beyond so many, a line carries no dots: they would hide it
_RADIUS = 3.2


def view(panel: Panel, players: Mapping[str, int]) -> PanelView:
    """A panel laid out; a series, an owner or an author named like a player has that player's tone."""
    match panel:
        case Table():
            return table(panel)
        case Chart():
            return _Plot(panel, players).view()
        case Scatter():
            return scatter(panel, players)
        case Ranges():
            return ranges(panel, players)
        case Network():
            return network(panel, players)
        case Threads():
            return threads(panel, players)
        case Profiles():
            return profiles(panel, players, lambda chart: _Plot(chart, players).view())
        case _:
            return lay_out(panel, players)


class _Plot:
    """One chart being drawn: the scales first, then what stands on them."""

    def __init__(self, chart: Chart, players: Mapping[str, int]) -> None:
        self._chart = chart
        alone = len(chart.series) == 1 and chart.series[0].name not in players
        self._tones = ["solo" if alone else tone(players.get(s.name, place)) for place, s in enumerate(chart.series)]
        # A short series is a series with gaps, and so is one with numbers that cannot be drawn.
        self._values: list[list[float | None]] = [
            [
                v if v is not None and math.isfinite(v) else None
                for v in (*s.values, *[None] * len(chart.x))[: len(chart.x)]
            ]
            for s in chart.series
        ]
        whole = all(v is None or v == int(v) for values in self._values for v in values)
        marks = ticks(*self._extent(), least=1.0 if whole else 0.0)
        self._low, self._high = marks[0], marks[-1]
        self._left = room_for(marks)
        self._right, self._top = WIDTH - 8, 26.0 if chart.y_label else 10.0
        longest = CHARACTER * max((len(_short(text)) for text in chart.x), default=0)
        self._tilted = chart.kind != "line" and longest > self._band - 4
        if self._tilted:  # the first label leans out to the left of its bar
            self._left = max(self._left, 0.75 * longest - self._band / 2)
        self._base = HEIGHT - 24
        below = (14 + 0.75 * longest if self._tilted else 20) + (16 if chart.x_label else 0)
        self._full_height = self._base + below + 4
        self._y_ticks = tuple(Label(self._y(mark), number(mark)) for mark in marks)

    def view(self) -> ChartView:
        chart = self._chart
        lines, dots = self._lines() if chart.kind == "line" else ((), ())
        columns = (chart.x_label, *(series.name for series in chart.series))
        rows = tuple(
            (cell(name), *(cell(values[place]) for values in self._values)) for place, name in enumerate(chart.x)
        )
        return ChartView(
            title=chart.title,
            note=chart.note,
            kind=chart.kind,
            width=WIDTH,
            height=round(self._full_height, 1),
            left=round(self._left, 1),
            right=self._right,
            top=self._top,
            base=self._base,
            zero=self._y(min(max(0.0, self._low), self._high)),
            y_ticks=self._y_ticks,
            x_ticks=self._x_ticks(),
            tilted=self._tilted,
            x_label=chart.x_label,
            y_label=chart.y_label,
            lines=lines,
            dots=dots,
            radius=_RADIUS,
            bars=() if chart.kind == "line" else self._bars(),
            legend=()
            if len(chart.series) == 1 and (chart.y_label or not chart.series[0].name)
            else tuple(zip((series.name for series in chart.series), self._tones, strict=True)),
            data=TableView("", "", columns, rows),
        )

    def _extent(self) -> tuple[float, float]:
        if self._chart.kind == "stacked":
            columns = list(zip(*self._values, strict=True))
            highs = [sum(v for v in column if v is not None and v > 0) for column in columns]
            lows = [sum(v for v in column if v is not None and v < 0) for column in columns]
            return min([0.0, *lows]), max([0.0, *highs])
        known = [value for values in self._values for value in values if value is not None]
        low, high = min(known, default=0.0), max(known, default=1.0)
        # Bars begin at zero, or their lengths would lie; lines do where zero is not far off, or where nothing else
        # gives a scale.
        if self._chart.kind == "bar" or 0 < low < 0.6 * high or low == high > 0:
            low = min(0.0, low)
        return low, max(high, 0.0) if self._chart.kind == "bar" else high

    @property
    def _band(self) -> float:
        return (self._right - self._left) / max(1, len(self._chart.x))

    def _x(self, place: int) -> float:
        return round(self._left + self._band * (place + 0.5), 1)

    def _y(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return round(self._base - share * (self._base - self._top), 1)

    def _x_ticks(self) -> tuple[Label, ...]:
        shorts = [_short(text) for text in self._chart.x]
        widest = max((len(short) for short in shorts), default=1)
        needed = 14 if self._tilted else CHARACTER * widest + 8
        every = max(1, math.ceil(needed / self._band))
        return tuple(
            Label(self._x(place), shorts[place], text) for place, text in enumerate(self._chart.x) if place % every == 0
        )

    def _lines(self) -> tuple[tuple[tuple[str, str], ...], tuple[Mark, ...]]:
        lines: list[tuple[str, str]] = []
        dots: list[Mark] = []
        for series, values, colour in zip(self._chart.series, self._values, self._tones, strict=True):
            run: list[str] = []
            for place, value in enumerate([*values, None]):
                if value is not None:
                    x, y = self._x(place), self._y(value)
                    run.append(f"{x},{y}")
                    dots.append(Mark(x, y, 0, 0, colour, _says(self._chart.x[place], series.name, value)))
                elif run:
                    lines.append((" ".join(run), colour))
                    run = []
        return tuple(lines), tuple(dots) if len(dots) <= _MANY_DOTS else ()

    def _bars(self) -> tuple[Mark, ...]:
        stacked = self._chart.kind == "stacked"
        wide = min(self._band * 0.72, 64.0 if stacked else 40.0 * max(1, len(self._chart.series)))
        each = wide if stacked else wide / max(1, len(self._chart.series))
        bars: list[Mark] = []
        for place, name in enumerate(self._chart.x):
            up = down = 0.0
            for index, series in enumerate(self._chart.series):
                value = self._values[index][place]
                if value is None:
                    continue
                start = (up if value >= 0 else down) if stacked else 0.0
                up, down = (up + value, down) if value >= 0 else (up, down + value)
                top, bottom = self._y(max(start, start + value)), self._y(min(start, start + value))
                left = self._x(place) - wide / 2 + (0 if stacked else index * each)
                gap = 0 if stacked else min(1.5, each / 6)
                bars.append(
                    Mark(
                        round(left + gap / 2, 1),
                        top,
                        round(max(each - gap, 0.5), 1),
                        round(bottom - top, 1),
                        self._tones[index],
                        _says(name, series.name, value),
                    )
                )
        return tuple(bars)


def _short(text: str) -> str:
    """A label that fits: of a long path (a model's name), what tells it apart is at the end."""
    if len(plain(text)) > _LABEL_MAX:
        text = text.rpartition("/")[2] or text
    return fitted(text, _LABEL_MAX)


def _says(x: str, name: str, value: float) -> str:
    return f"{x}, {name}: {number(value)}" if name else f"{x}: {number(value)}"
