"""Charts laid out: lines and bars over named places, with the axes that `scatter` uses too.

A drawing has units of its own. The markup is `templates/panels.html.j2`; colours are the style sheet's, named by tone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from agentsim.engine.panel import Chart, DataTable
from agentsim.report.data_table import TableView, table
from agentsim.report.style import tone
from agentsim.report.text import fitted, number, plain

__all__ = ["CHARACTER", "HEIGHT", "WIDTH", "Axis", "ChartView", "Label", "Mark", "chart", "room_for", "ticks"]

WIDTH, HEIGHT = 640.0, 260.0
CHARACTER = 6.1  # width of a character of a label, in the units of the drawing
_LEAST = 1e-300
_LABEL_MAX = 14
_MANY_DOTS = 400  # beyond so many, a line carries no dots: they would hide it

Values = list[list[float | None]]


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
class Axis:
    """Round numbers (`marks`) along a stretch of the drawing, the lowest at `start`."""

    marks: Sequence[float]
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def zero(self) -> float:
        """Where zero is, or the end of the axis that is nearest to it."""
        return self.at(min(max(0.0, self.marks[0]), self.marks[-1]))

    def labels(self, room: float = 0.0) -> tuple[Label, ...]:
        """Marks `room` or more apart: all of them, or every second, third, ..."""
        every = max(1, math.ceil(room * (len(self.marks) - 1) / abs(self.end - self.start)))
        return tuple(Label(self.at(mark), number(mark), number(mark)) for mark in self.marks[::every])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """A drawing in its own units, and its data as a table. `kind` is the chart's, or `scatter`."""

    title: str
    note: str
    kind: str
    height: float
    left: float
    right: float
    top: float
    base: float
    zero: float
    y_ticks: tuple[Label, ...]
    x_ticks: tuple[Label, ...]
    x_label: str
    data: TableView
    y_label: str = ""
    tilted: bool = False
    lines: tuple[tuple[str, str], ...] = ()  # points and tone
    dots: tuple[Mark, ...] = ()
    radius: float = 3.2  # of a dot
    bars: tuple[Mark, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()  # name and tone
    width: float = WIDTH
    shape: str = "chart"


def ticks(low: float, high: float, about: int = 5, least: float = 0.0) -> list[float]:
    """Round numbers (multiples of 1, 2 or 5 times a power of ten) whose range holds low and high.

    They are `about` so many steps apart: half as many to two more, fewer where a step would be under `least`.
    """
    if not high - low > _LEAST:  # no number could tell steps between them apart
        high = low + (abs(low) if abs(low) > _LEAST else 1.0)
    rough = max((high - low) / about, least)
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # A multiple of the step in binary is a little off; its digits end where the step's do.
    return [round(index * step, max(0, -exponent)) for index in range(first, last + 1)]


def room_for(labels: Sequence[float]) -> float:
    """How far to the right the y axis stands, so that its numbers fit before it."""
    return 12 + CHARACTER * max(len(number(label)) for label in labels)


def chart(panel: Chart, players: Mapping[str, int]) -> ChartView:
    """The chart drawn; a series named like a player has that player's tone."""
    alone = len(panel.series) == 1 and panel.series[0].name not in players
    tones = ["solo" if alone else tone(players.get(s.name, place)) for place, s in enumerate(panel.series)]
    values = _values(panel)
    whole = all(value is None or value == int(value) for row in values for value in row)
    marks = ticks(*_extent(panel.kind, values), least=1.0 if whole else 0.0)
    left, right, top, base = room_for(marks), WIDTH - 8, 26.0 if panel.y_label else 10.0, HEIGHT - 24
    y = Axis(marks, base, top)
    shorts = [_short(text) for text in panel.x]
    longest = CHARACTER * max(map(len, shorts), default=0)
    places = max(1, len(shorts))
    tilted = panel.kind != "line" and longest > (right - left) / places - 4
    if tilted:  # the first label leans out to the left of its bar
        left = max(left, 0.75 * longest - (right - left) / places / 2)
    band = (right - left) / places
    xs = [round(left + band * (place + 0.5), 1) for place in range(len(shorts))]
    every = max(1, math.ceil((14 if tilted else longest + 8) / band))
    lines, dots = _lines(panel, values, tones, xs, y) if panel.kind == "line" else ((), ())
    rows = tuple((name, *(row[place] for row in values)) for place, name in enumerate(panel.x))
    unnamed = len(panel.series) == 1 and (panel.y_label or not panel.series[0].name)
    return ChartView(
        title=panel.title,
        note=panel.note,
        kind=panel.kind,
        height=round(base + (14 + 0.75 * longest if tilted else 20) + (16 if panel.x_label else 0) + 4, 1),
        left=round(left, 1),
        right=right,
        top=top,
        base=base,
        zero=y.zero(),
        y_ticks=y.labels(),
        x_ticks=tuple(map(Label, xs, shorts, panel.x))[::every],
        tilted=tilted,
        x_label=panel.x_label,
        y_label=panel.y_label,
        lines=lines,
        dots=dots,
        bars=() if panel.kind == "line" else tuple(_bars(panel, values, tones, xs, y, band=band)),
        legend=() if unnamed else tuple((s.name, its) for s, its in zip(panel.series, tones, strict=True)),
        data=table(DataTable("", (panel.x_label, *(series.name for series in panel.series)), rows)),
    )


def _values(panel: Chart) -> Values:
    """A row for each series; a short series has gaps at its end, and a number that cannot be drawn is a gap."""
    length = len(panel.x)
    padded = ((*series.values, *[None] * length)[:length] for series in panel.series)
    return [[value if value is not None and math.isfinite(value) else None for value in row] for row in padded]


def _extent(kind: str, values: Values) -> tuple[float, float]:
    if kind == "stacked":
        columns = list(zip(*values, strict=True))
        highs = [sum(v for v in column if v is not None and v > 0) for column in columns]
        lows = [sum(v for v in column if v is not None and v < 0) for column in columns]
        return min([0.0, *lows]), max([0.0, *highs])
    known = [value for row in values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    # Bars begin at zero, or their lengths would mislead; lines do where zero is not far off, or where nothing else
    # gives a scale.
    if kind == "bar" or 0 < low < 0.6 * high or low == high > 0:
        low = min(0.0, low)
    return low, max(high, 0.0) if kind == "bar" else high


def _lines(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis
) -> tuple[tuple[tuple[str, str], ...], tuple[Mark, ...]]:
    """The unbroken pieces of each line, and its dots."""
    lines: list[tuple[str, str]] = []
    dots: list[Mark] = []
    for series, row, its in zip(panel.series, values, tones, strict=True):
        points = [
            None if value is None else Mark(x, y.at(value), 0, 0, its, _says(name, series.name, value))
            for x, name, value in zip(xs, panel.x, row, strict=True)
        ]
        for missing, group in groupby(points, key=lambda point: point is None):
            run = [point for point in group if point is not None]
            dots += run
            if not missing:
                lines.append((" ".join(f"{point.x},{point.y}" for point in run), its))
    return tuple(lines), tuple(dots) if len(dots) <= _MANY_DOTS else ()


def _bars(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis, *, band: float
) -> Iterator[Mark]:
    stacked, count = panel.kind == "stacked", max(1, len(panel.series))
    wide = min(band * 0.72, 64.0 if stacked else 40.0 * count)
    each = wide if stacked else wide / count
    gap = 0 if stacked else min(1.5, each / 6)
    for place, name in enumerate(panel.x):
        up = down = 0.0
        for index, series in enumerate(panel.series):
            value = values[index][place]
            if value is None:
                continue
            start = (up if value >= 0 else down) if stacked else 0.0
            up, down = (up + value, down) if value >= 0 else (up, down + value)
            top, bottom = y.at(max(start, start + value)), y.at(min(start, start + value))
            left = xs[place] - wide / 2 + (0 if stacked else index * each)
            size = round(max(each - gap, 0.5), 1), round(bottom - top, 1)
            yield Mark(round(left + gap / 2, 1), top, *size, tones[index], _says(name, series.name, value))


def _short(text: str) -> str:
    """A label that fits: of a long path (a model's name), what tells it apart is at the end."""
    if len(plain(text)) > _LABEL_MAX:
        text = text.rpartition("/")[2] or text
    return fitted(text, _LABEL_MAX)


def _says(x: str, name: str, value: float) -> str:
    return f"{x}, {name}: {number(value)}" if name else f"{x}: {number(value)}"
