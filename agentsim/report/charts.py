"""Charts laid out: lines and bars over named places, points and estimates along measured axes.

A drawing has units of its own. The markup is `templates/panels.html.j2`; colours are the style sheet's, named by tone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from agentsim.engine.panel import Chart, DataTable, Estimate, Estimates, Scatter
from agentsim.report.markup import Drawing, fitted, number, plain, series_tone, table, tone, tone_of

WIDTH, BASE = 640.0, 236.0
_CHARACTER = 6.1  # width of a character of a label, in the units of the drawing
_LEAST = 1e-300
_LABEL_MAX, _NAME_MAX = 14, 28
_MANY = 400  # beyond so many dots a line carries none, and points are smaller: they would hide what is there
_LARGE, _SMALL = 4.4, 2.6
_ROW, _TOP = 24.0, 10.0

Values = list[list[float | None]]


class Mark(NamedTuple):
    """A dot (`x`, `y`), or a bar that begins there, with what a reader sees when pointing at it."""

    x: float
    y: float
    tone: str
    title: str
    width: float = 0.0
    height: float = 0.0


class Label(NamedTuple):
    """A tick of an axis; `full` is what its text stands for, where it is shortened."""

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
        return tuple(Label(self.at(mark), number(mark)) for mark in self.marks[::every])


class Plot(Drawing):
    """A chart in units of its own, and its data as a table; what stands here is so unless a chart says otherwise."""

    shape, kind, width, radius = "chart", "scatter", WIDTH, 3.2
    foot, tilted = 24.0, False  # room for the labels below, and whether they lean
    lines: Sequence[tuple[str, str]] = ()  # points and tone
    leads: Sequence[float] = ()  # where another leads than before
    rounds: Sequence[int] = ()  # of the log, `band` apart
    dots: Sequence[Mark] = ()
    bars: Sequence[Mark] = ()
    legend: Sequence[tuple[str, str]] = ()  # name and tone


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


def _widest(marks: Sequence[float]) -> float:
    return _CHARACTER * max(len(number(mark)) for mark in marks)


def chart(panel: Chart, players: Mapping[str, int], leads: Sequence[int] = ()) -> Plot:
    """The chart drawn; a series named like a player has that player's tone. `leads` are places of x that are marked."""
    alone = len(panel.series) == 1 and panel.series[0].name not in players
    tones = ["solo" if alone else tone_of(s.name, players, series_tone(place)) for place, s in enumerate(panel.series)]
    # a short series has gaps at its end
    values = [[*map(_finite, (*s.values, *[None] * len(panel.x))[: len(panel.x)])] for s in panel.series]
    whole = all(value is None or value == int(value) for row in values for value in row)
    marks = ticks(*_extent(panel.kind, values), least=1.0 if whole else 0.0)
    left, right = 12 + _widest(marks), WIDTH - 8
    y = Axis(marks, BASE, 26.0 if panel.y_label else _TOP)
    shorts = [_short(text) for text in panel.x]
    longest = _CHARACTER * max(map(len, shorts), default=0)
    places = max(1, len(shorts))
    lined = panel.kind in {"line", "step"}
    tilted = not lined and longest > (right - left) / places - 4
    if tilted:  # the first label leans out to the left of its bar
        left = max(left, 0.75 * longest - (right - left) / places / 2)
    band = (right - left) / places
    xs = [round(left + band * (place + 0.5), 1) for place in range(len(shorts))]
    every = max(1, math.ceil((14 if tilted else longest + 8) / band))
    runs = list(_runs(panel, values, tones, xs, y)) if lined else []
    rows = tuple((name, *(row[place] for row in values)) for place, name in enumerate(panel.x))
    unnamed = len(panel.series) == 1 and (panel.y_label or not panel.series[0].name)
    return Plot(
        panel=panel,
        kind=panel.kind,
        x=Axis((), round(left, 1), right),
        y=y,
        x_ticks=tuple(map(Label, xs, shorts, panel.x))[::every],
        y_ticks=y.labels(),
        foot=18 + 0.75 * longest if tilted else 24.0,
        tilted=tilted,
        lines=tuple((_points(run, stepped=panel.kind == "step"), run[0].tone) for run in runs),
        leads=[xs[place] for place in leads],
        rounds=panel.rounds if len(panel.rounds) == len(xs) else (),
        band=round(band, 3),
        dots=tuple(chain(*runs)) if sum(map(len, runs)) <= _MANY else (),
        bars=() if lined else tuple(_bars(panel, values, tones, xs, y, band=band)),
        legend=() if unnamed else tuple((s.name, its) for s, its in zip(panel.series, tones, strict=True)),
        data=table(DataTable("", (panel.x_label, *(series.name for series in panel.series)), rows)),
    )


def _points(run: Sequence[Mark], *, stepped: bool) -> str:
    corners = [(later.x, each.y) for each, later in pairwise(run)] if stepped else []
    points = [(point.x, point.y) for point in run]
    if stepped:
        points = [*chain(*zip(points, corners, strict=False)), points[-1]]
    return " ".join(f"{x},{y}" for x, y in points)


def _finite(value: float | None) -> float | None:
    """The value, None where it cannot be drawn."""
    return value if value is not None and math.isfinite(value) else None


def _extent(kind: str, values: Values) -> tuple[float, float]:
    if kind == "stacked":
        columns = [[value for value in column if value is not None] for column in zip(*values, strict=True)]
        sums = [sum(v for v in column if (v > 0) == up) for column in columns for up in (True, False)]
        return min([0.0, *sums]), max([0.0, *sums])
    known = [value for row in values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    # Bars begin at zero, or their lengths would mislead; lines do where zero is not far off, or where nothing else
    # gives a scale.
    if kind == "bar" or 0 < low < 0.6 * high or low == high > 0:
        low = min(0.0, low)
    return low, max(high, 0.0) if kind == "bar" else high


def _runs(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis
) -> Iterator[tuple[Mark, ...]]:
    """The dots of each unbroken piece of a line."""
    for series, row, its in zip(panel.series, values, tones, strict=True):
        for missing, group in groupby(zip(xs, panel.x, row, strict=True), key=lambda point: point[2] is None):
            if not missing:
                yield tuple(Mark(x, y.at(v), its, _says(name, series.name, v)) for x, name, v in group if v is not None)


def _bars(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis, *, band: float
) -> Iterator[Mark]:
    stacked, count = panel.kind == "stacked", max(1, len(panel.series))
    wide = min(band * 0.72, 64.0 if stacked else 40.0 * count)
    each = wide if stacked else wide / count
    gap = 0 if stacked else min(1.5, each / 6)
    for place, name in enumerate(panel.x):
        stood = {True: 0.0, False: 0.0}  # how far those above and those below zero reach
        for index, series in enumerate(panel.series):
            value = values[index][place]
            if value is None:
                continue
            start = stood[value >= 0] if stacked else 0.0
            stood[value >= 0] += value
            top, bottom = y.at(max(start, start + value)), y.at(min(start, start + value))
            left = xs[place] - wide / 2 + (0 if stacked else index * each)
            size = round(max(each - gap, 0.5), 1), round(bottom - top, 1)
            yield Mark(round(left + gap / 2, 1), top, tones[index], _says(name, series.name, value), *size)


def _short(text: str) -> str:
    """A label that fits: of a long path (a model's name), what tells it apart is at the end."""
    if len(plain(text)) > _LABEL_MAX:
        text = text.rpartition("/")[2] or text
    return fitted(text, _LABEL_MAX)


def _says(x: str, name: str, value: float) -> str:
    return f"{x}, {name}: {number(value)}" if name else f"{x}: {number(value)}"


def scatter(panel: Scatter, players: Mapping[str, int]) -> Plot:
    """The points that have a place, and all of them as a table; a series named like a player has that player's tone."""
    drawn = [point for point in panel.points if math.isfinite(point.x) and math.isfinite(point.y)]
    tones = _tones(panel, players)
    across, up = _around([point.x for point in drawn], about=8), _around([point.y for point in drawn], about=5)
    widest = _widest(across)
    # No number leans out; ends are rounded as points are, or one at an end would stand beside it.
    x = Axis(across, round(max(12 + _widest(up), widest / 2), 1), round(WIDTH - max(8, widest / 2 + 2), 1))
    y = Axis(up, BASE, 26.0 if panel.y_label else _TOP)
    named = any(point.series for point in panel.points)
    names = panel.x_label or "x", panel.y_label or "y"
    rows = tuple((p.label, *((p.series,) if named else ()), _finite(p.x), _finite(p.y)) for p in panel.points)
    dots = []
    for p in drawn:
        whose = ", ".join(filter(None, (p.label, p.series)))
        measures = f"{names[0]} {number(p.x)}, {names[1]} {number(p.y)}"
        dots.append(Mark(x.at(p.x), y.at(p.y), tones[p.series], f"{whose}: {measures}" if whose else measures))
    return Plot(
        panel=panel,
        x=x,
        y=y,
        x_ticks=x.labels(widest + 8),
        y_ticks=y.labels(14),
        dots=tuple(dots),
        radius=_LARGE if len(drawn) <= _MANY else _SMALL,
        legend=tuple((name or "–", its) for name, its in tones.items()) if len(tones) > 1 else (),
        data=table(DataTable("", ("", *(("series",) if named else ()), *names), rows)),
    )


def _tones(panel: Scatter, players: Mapping[str, int]) -> dict[str, str]:
    """Each series' tone: players first, in their order; no other has a player's."""
    names = list(dict.fromkeys(point.series for point in panel.points))
    seated = sorted((name for name in names if name in players), key=players.__getitem__)
    others = [name for name in names if name not in players]
    if not seated and len(others) == 1:
        return {others[0]: "solo"}
    return {name: tone(players[name]) for name in seated} | {n: series_tone(at) for at, n in enumerate(others)}


def _around(values: list[float], about: int) -> list[float]:
    """Round numbers around the values; where these are all the same, on both sides of it."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - (abs(low) / 10 or 1), high + (abs(high) / 10 or 1)
    return ticks(low, high, about)


def ranges(panel: Estimates, players: Mapping[str, int]) -> Plot:
    """A line for each interval, a dot for its estimate, and all of them as a table.

    An estimate named like a player has that player's tone.
    """
    drawn = [row for row in panel.rows if math.isfinite(row.value)]
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None and math.isfinite(end)]
    shorts = {row.name: _ending(row.name) for row in drawn}
    left = round(12 + _CHARACTER * max(map(len, shorts.values()), default=0), 1)
    x = Axis(ticks(min(ends, default=0.0), max(ends, default=1.0), about=8), left, WIDTH - 16)
    heights = [(row, round(_TOP + _ROW * (place + 0.5), 1)) for place, row in enumerate(drawn)]
    tones = {row.name: tone_of(row.name, players, "solo") for row in drawn}
    rows = tuple((row.name, row.value, row.low, row.high) for row in panel.rows)
    return Plot(
        panel=panel,
        x=x,
        y=Axis((0, 1), _TOP + _ROW * max(1, len(drawn)), _TOP),
        x_ticks=x.labels(),
        y_ticks=tuple(Label(y, shorts[row.name], row.name) for row, y in heights),
        lines=tuple(
            (f"{x.at(row.low)},{y} {x.at(row.high)},{y}", tones[row.name])
            for row, y in heights
            if row.low is not None and row.high is not None
        ),
        dots=tuple(Mark(x.at(row.value), y, tones[row.name], _interval(row)) for row, y in heights),
        radius=_LARGE,
        data=table(DataTable("", ("", panel.x_label or "estimate", "from", "to"), rows)),
    )


def _ending(name: str) -> str:
    return name if len(name) <= _NAME_MAX else f"…{name[1 - _NAME_MAX :]}"  # models' names differ at their ends


def _interval(row: Estimate) -> str:
    interval = "" if row.low is None or row.high is None else f", {number(row.low)} to {number(row.high)}"
    return f"{row.name}: {number(row.value)}{interval}"
