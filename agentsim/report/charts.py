"""The layout of charts: lines and bars over named positions, points and estimates along measured axes.

Coordinates are in units of the drawing. The markup is `templates/panels.html.j2`; tones name the colors of the style
sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from agentsim.engine.panel import Cell, Chart, DataTable, Estimate, Estimates, Forest, Scatter, Struck
from agentsim.engine.wording import decimals
from agentsim.lazy import dataclass
from agentsim.report.markup import TemplateContext, fitted, number, plain, series_tone, table, tone, tone_of

WIDTH, BASE = 640.0, 236.0
_CHARACTER = 6.1  # width of a label's character, in units of the drawing
_LEAST = 1e-300
_LABEL_MAX, _NAME_MAX = 14, 28
_MANY = 400  # with more points, lines have no dots and points are smaller, so that they hide less
_CATERPILLAR = 11.5  # if points of a line are nearer to each other than this, it has no dots
_LARGE, _SMALL = 4.4, 2.6
_ROW, _TOP = 24.0, 10.0
_LARGER = 17 / 11  # size of the text of a drawing on a telephone
_STEPS = (0.0, -2.5, 2.5, -5.0, 5.0)
"""Distances between lines with equal values, in units of the drawing; more lines than these hide each other."""
_UPWARD = (0.0, -2.5, -5.0, -7.5, -10.0)
"""The distances of lines on the axis, whose labels are below it."""

Values = list[list[float | None]]


class Mark(NamedTuple):
    """A dot at (`x`, `y`), or a bar that starts there, with its tooltip."""

    x: float
    y: float
    tone: str
    title: str
    width: float = 0.0
    height: float = 0.0


class Label(NamedTuple):
    """A tick of an axis. `full` is the text if `text` is shortened."""

    at: float
    text: str
    full: str = ""
    second: bool = False
    struck: bool = False
    """True if a telephone has no room for it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `start` to `end` with round numbers (`marks`), the lowest at `start`."""

    marks: Sequence[float]
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def zero(self) -> float:
        """Return the position of zero, or of the nearest end of the axis."""
        return self.at(min(max(0.0, self.marks[0]), self.marks[-1]))

    def labels(self, room: float = 0.0) -> tuple[Label, ...]:
        """Return all marks, or every second, third, ..., so that they are at least `room` apart."""
        step = abs(self.end - self.start) / max(1, len(self.marks) - 1)
        every = max(1, math.ceil(room / step))
        return thinned([Label(self.at(mark), number(mark)) for mark in self.marks[::every]], room, every * step)


def thinned(labels: Sequence[Label], room: float, apart: float) -> tuple[Label, ...]:
    """Return labels that stand `apart`, every second one marked if on a telephone each needs more than that."""
    return tuple(label._replace(second=room * _LARGER > apart and index % 2 == 1) for index, label in enumerate(labels))


class Plot(TemplateContext):
    """A chart with the coordinates of its parts, and its data as a table. The attributes here are defaults."""

    shape, kind, width, radius = "chart", "scatter", WIDTH, 3.2
    foot, tilted = 24.0, False  # height of the labels below, and whether they are slanted
    lines: Sequence[tuple[str, str]] = ()  # points and tone
    leads: Sequence[float] = ()  # x coordinates at which the leader changes
    rounds: Sequence[int] = ()  # rounds of the log, `band` apart
    dots: Sequence[Mark] = ()
    bars: Sequence[Mark] = ()
    legend: Sequence[tuple[str, str]] = ()  # name and tone


def ticks(low: float, high: float, about: int = 5, least: float = 0.0) -> list[float]:
    """Return round numbers (multiples of 1, 2 or 5 times a power of ten) whose range includes low and high.

    There are about `about` steps, between half as many and two more; fewer if a step would be under `least`.
    """
    if not high - low > _LEAST:  # the steps between them would be equal as floats
        high = low + (abs(low) if abs(low) > _LEAST else 1.0)
    rough = max((high - low) / about, least)
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # Round off the binary error of the multiple, at the digits of the step.
    return [round(index * step, max(0, -exponent)) for index in range(first, last + 1)]


def _widest(marks: Sequence[float]) -> float:
    return _CHARACTER * max(len(number(mark)) for mark in marks)


def chart(panel: Chart, players: Mapping[str, int], leads: Sequence[int] = ()) -> Plot:
    """Lay out a chart. A series with the name of a player has that player's tone. `leads` are marked positions of x."""
    one_series = len(panel.series) == 1 and panel.series[0].name not in players
    tones = [
        "solo" if one_series else tone_of(s.name, players, series_tone(index)) for index, s in enumerate(panel.series)
    ]
    # a series shorter than x has gaps at its end
    values = [[*map(_finite, (*s.values, *[None] * len(panel.x))[: len(panel.x)])] for s in panel.series]
    whole = all(value is None or value == int(value) for row in values for value in row)
    marks = ticks(*_extent(panel.kind, values), least=1.0 if whole else 0.0)
    left, right = 12 + _widest(marks), WIDTH - 8
    y = Axis(marks, BASE, 26.0 if panel.y_label else _TOP)
    shorts = [_short(text) for text in panel.x]
    longest = _CHARACTER * max(map(len, shorts), default=0)
    positions = max(1, len(shorts))
    lined = panel.kind in {"line", "step"}
    tilted = not lined and longest > (right - left) / positions - 4
    if tilted:  # the first label extends to the left of its bar
        left = max(left, 0.75 * longest - (right - left) / positions / 2)
    band = (right - left) / positions
    xs = [round(left + band * (index + 0.5), 1) for index in range(len(shorts))]
    runs = list(_runs(panel, values, tones, xs, y)) if lined else []
    # the positions between stretches are no data
    named = [index for index, name in enumerate(panel.x) if name or any(row[index] is not None for row in values)]
    rows = tuple((panel.x[column], *(row[column] for row in values)) for column in named)
    unnamed = len(panel.series) == 1 and (panel.y_label or not panel.series[0].name)
    heads = [series.name or panel.y_label for series in panel.series]
    crowded = band < _CATERPILLAR or sum(map(len, runs)) > _MANY
    return Plot(
        panel=panel,
        kind=panel.kind,
        x=Axis((), round(left, 1), right),
        y=y,
        x_ticks=_x_labels(panel, [*map(Label, xs, shorts, panel.x)], 14 if tilted else longest + 8, band),
        y_ticks=y.labels(14),
        foot=18 + 0.75 * longest if tilted else 24.0,
        tilted=tilted,
        lines=tuple((_points(run, stepped=panel.kind == "step"), run[0].tone) for run in runs),
        leads=[xs[column] for column in leads],
        rounds=panel.rounds if len(panel.rounds) == len(xs) else (),
        band=round(band, 3),
        dots=tuple(chain(*(run for run in runs if not crowded or len(run) == 1))),
        bars=() if lined else tuple(_bars(panel, values, tones, xs, y, band=band)),
        legend=() if unnamed else tuple((s.name, its) for s, its in zip(panel.series, tones, strict=True)),
        data=table(DataTable("", (panel.x_label, *heads), rows)),
    )


def _x_labels(panel: Chart, labels: Sequence[Label], room: float, band: float) -> tuple[Label, ...]:
    """Return the labels of the positions that have room. Of an axis in stretches, only first positions have one."""
    firsts = [index for index in range(len(labels)) if not index or not panel.x[index - 1]] if "" in panel.x else []
    if len(firsts) < 2:
        every = max(1, math.ceil(room / band))
        return thinned(labels[::every], room, every * band)
    shown: list[int] = []
    for column in firsts:
        if not shown or (column - shown[-1]) * band >= room:
            shown.append(column)
    apart = min((later - each for each, later in pairwise(shown)), default=1) * band
    return thinned([labels[column] for column in shown], room, apart)


def _points(run: Sequence[Mark], *, stepped: bool) -> str:
    corners = [(later.x, each.y) for each, later in pairwise(run)] if stepped else []
    points = [(point.x, point.y) for point in run]
    if stepped:
        points = [*chain(*zip(points, corners, strict=False)), points[-1]]
    return " ".join(f"{x},{y}" for x, y in points)


def _finite(value: float | None) -> float | None:
    """Return the value, or None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def _extent(kind: str, values: Values) -> tuple[float, float]:
    if kind == "stacked":
        columns = [[value for value in column if value is not None] for column in zip(*values, strict=True)]
        sums = [sum(v for v in column if (v > 0) == up) for column in columns for up in (True, False)]
        return min([0.0, *sums]), max([0.0, *sums])
    known = [value for row in values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    # Bars begin at zero, or their lengths would mislead. Lines do so if zero is near, or if nothing else gives a scale.
    if kind == "bar" or 0 < low < 0.6 * high or low == high > 0:
        low = min(0.0, low)
    return low, max(high, 0.0) if kind == "bar" else high


def _runs(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis
) -> Iterator[tuple[Mark, ...]]:
    """Yield the dots of each unbroken piece of a line, moved down a little if another line would hide it."""
    for series, row, its, down in zip(panel.series, values, tones, _apart(values, y.marks[0]), strict=True):
        for missing, group in groupby(zip(xs, panel.x, row, strict=True), key=lambda point: point[2] is None):
            if not missing:
                yield tuple(
                    Mark(x, round(y.at(v) + down, 1), its, _says(name, series.name, v))
                    for x, name, v in group
                    if v is not None
                )


def _apart(values: Values, lowest: float) -> list[float]:
    """Return by how much each line is moved down so that it does not hide one that it equals for two positions or more.

    Lines that touch the `lowest` mark of the axis are moved up.
    """
    moved = [0.0] * len(values)
    for index, row in enumerate(values):
        taken = {moved[other] for other in range(index) if _coincide(row, values[other])}
        steps = _UPWARD if lowest in row else _STEPS
        moved[index] = next(step for step in steps if step not in taken or step == steps[-1])
    return moved


def _coincide(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    same = [mine is not None and mine == theirs for mine, theirs in zip(one, other, strict=True)]
    return any(here and there for here, there in pairwise(same))


def _bars(
    panel: Chart, values: Values, tones: Sequence[str], xs: Sequence[float], y: Axis, *, band: float
) -> Iterator[Mark]:
    stacked, count = panel.kind == "stacked", max(1, len(panel.series))
    wide = min(band * 0.72, 64.0 if stacked else 40.0 * count)
    each = wide if stacked else wide / count
    gap = 0 if stacked else min(1.5, each / 6)
    for column, name in enumerate(panel.x):
        stood = {True: 0.0, False: 0.0}  # the ends of the stacks above and below zero
        for index, series in enumerate(panel.series):
            value = values[index][column]
            if value is None:
                continue
            start = stood[value >= 0] if stacked else 0.0
            stood[value >= 0] += value
            top, bottom = y.at(max(start, start + value)), y.at(min(start, start + value))
            left = xs[column] - wide / 2 + (0 if stacked else index * each)
            size = round(max(each - gap, 0.5), 1), round(bottom - top, 1)
            yield Mark(round(left + gap / 2, 1), top, tones[index], _says(name, series.name, value), *size)


def _short(text: str) -> str:
    """Return a label that fits. A long path, such as a model's name, is reduced to its last part."""
    if len(plain(text)) > _LABEL_MAX:
        text = text.rpartition("/")[2] or text
    return fitted(text, _LABEL_MAX)


def _says(x: str, name: str, value: float) -> str:
    return f"{x}, {name}: {number(value)}" if name else f"{x}: {number(value)}"


def scatter(panel: Scatter, players: Mapping[str, int]) -> Plot:
    """Lay out the points with finite coordinates, and all points as a table.

    Players' series have the players' tones.
    """
    drawn = [point for point in panel.points if math.isfinite(point.x) and math.isfinite(point.y)]
    tones = _tones(panel, players)
    across, up = _around([point.x for point in drawn], about=8), _around([point.y for point in drawn], about=5)
    widest = _widest(across)
    # Numbers at the ends must fit. Ends are rounded like points, so that a point at an end is exactly there.
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
        data=table(DataTable("", ("point", *(("series",) if named else ()), *names), rows)),
    )


def _tones(panel: Scatter, players: Mapping[str, int]) -> dict[str, str]:
    """Return the tone of each series: players first, in seat order. Other series never have a player's tone."""
    names = list(dict.fromkeys(point.series for point in panel.points))
    seated = sorted((name for name in names if name in players), key=players.__getitem__)
    others = [name for name in names if name not in players]
    if not seated and len(others) == 1:
        return {others[0]: "solo"}
    return {name: tone(players[name]) for name in seated} | {n: series_tone(at) for at, n in enumerate(others)}


def _around(values: list[float], about: int) -> list[float]:
    """Return round numbers around the values. If all are equal, the range extends to both sides."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - (abs(low) / 10 or 1), high + (abs(high) / 10 or 1)
    return ticks(low, high, about)


def ranges(panel: Estimates, players: Mapping[str, int]) -> Plot:
    """Lay out a line for each interval, a dot for its estimate, and a table of all.

    An estimate with the name of a player has that player's tone.
    """
    drawn = [row for row in panel.rows if math.isfinite(row.value)]
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None and math.isfinite(end)]
    shorts = {row.name: _ending(row.name) for row in drawn}
    left = round(12 + _CHARACTER * max(map(len, shorts.values()), default=0), 1)
    x = Axis(_around(ends, about=8), left, WIDTH - 16)
    heights = [(row, round(_TOP + _ROW * (index + 0.5), 1)) for index, row in enumerate(drawn)]
    tones = {row.name: tone_of(row.name, players, "solo") for row in drawn}
    rows = tuple((row.name, *(_struck(row, each) for each in (row.value, row.low, row.high))) for row in panel.rows)
    return Plot(
        panel=panel,
        x=x,
        y=Axis((0, 1), _TOP + _ROW * max(1, len(drawn)), _TOP),
        x_ticks=x.labels(_widest(x.marks) + 8),
        y_ticks=tuple(Label(y, shorts[row.name], row.name, struck=row.struck) for row, y in heights),
        lines=tuple(
            (f"{x.at(row.low)},{y} {x.at(row.high)},{y}", f"{tones[row.name]}{' struck' * row.struck}")
            for row, y in heights
            if row.low is not None and row.high is not None
        ),
        dots=tuple(Mark(x.at(row.value), y, tones[row.name], _interval(row)) for row, y in heights),
        radius=_LARGE,
        data=table(DataTable("", ("", panel.x_label or "estimate", "from", "to"), rows)),
    )


FOREST_WIDTH = 520.0
_FOREST_LABEL, _HEAD, _AXIS, _GAP = 34, 20.0, 30.0, 8.0
_FOREST_LONGEST = 60
"""The most characters of a line of a label; with more than `_FOREST_LABEL` the drawing is wider."""


class ForestGroup(NamedTuple):
    """One group of a forest plot: its title at `top`, its axis at `foot`, rows between; numbers stand at the right."""

    title: str
    top: float
    foot: float
    rows: tuple[Label, ...]
    numbers: tuple[Label, ...]
    lines: tuple[tuple[float, float, float], ...]  # from x, to x, y
    dots: tuple[Mark, ...]
    ticks: tuple[Label, ...]


def zero_and_units(groups: Sequence[Estimates]) -> tuple[float, list[float]]:
    """Return where zero is, from 0 (left) to 1, on an axis that all groups share, and each group's length of a unit.

    Each group is as large as fits on both sides of zero.
    """
    sides = []
    for group in groups:
        given = (_finite(end) for row in group.rows for end in (row.value, row.low, row.high))
        ends = [end for end in given if end is not None]
        sides.append((max([0.0, *(-end for end in ends)]), max([0.0, *ends])))
    shares = [low / (low + high) for low, high in sides if low + high > _LEAST]
    zero = min(0.9, max(0.1, sum(shares) / len(shares))) if shares else 0.5
    units = [
        min((room / side for room, side in ((zero, low), (1 - zero, high)) if side > _LEAST), default=0.0)
        for low, high in sides
    ]
    return zero, units


def numbers_of(group: Estimates) -> list[str]:
    """Return each estimate with its interval as text, with the same decimals in the whole group."""
    halves = [(row.high - row.low) / 2 for row in group.rows if row.low is not None and row.high is not None]
    form = f"+.{decimals(max(halves, default=0.0))}f"
    return [
        f"{row.value + 0.0:{form}}"
        + ("" if row.low is None or row.high is None else f" ({row.low:{form}} to {row.high:{form}})")
        for row in group.rows
    ]


def forest(panel: Forest, players: Mapping[str, int]) -> Plot:
    """Lay out the groups one below the other, with one line at zero."""
    texts = [list(map(_signed, numbers_of(group))) for group in panel.groups]
    lines = [line for group in panel.groups for row in group.rows for line in _label_lines(row.name)]
    longest = min(_FOREST_LONGEST, max(map(len, lines), default=0))
    left = round(14 + _CHARACTER * longest, 1)
    width = round(FOREST_WIDTH + _CHARACTER * max(0, longest - _FOREST_LABEL), 1)
    right = round(width - 12 - _CHARACTER * max((len(text) for own in texts for text in own), default=0), 1)
    share, units = zero_and_units(panel.groups)
    zero, wide, y, groups = round(left + share * (right - left), 1), right - left, 4.0, []
    for group, unit, numbers in zip(panel.groups, units, texts, strict=True):
        drawn = [row for row in group.rows if math.isfinite(row.value)]
        top, length = y, unit * wide

        def at(value: float, length: float = length) -> float:
            return round(zero + value * length, 1)

        heights = [round(top + _HEAD + _ROW * (index + 0.5), 1) for index in range(len(drawn))]
        foot = round(top + _HEAD + _ROW * len(drawn), 1)
        marks = [0.0] if not unit else ticks(-share / unit, (1 - share) / unit, about=5)
        inside = [mark for mark in marks if left - 1 <= at(mark) <= right + 1]
        groups.append(
            ForestGroup(
                title=group.title,
                top=top,
                foot=foot,
                rows=tuple(
                    label for row, height in zip(drawn, heights, strict=True) for label in _labels(row.name, height)
                ),
                numbers=tuple(map(Label, heights, numbers)),
                lines=tuple(
                    (at(row.low), at(row.high), height)
                    for row, height in zip(drawn, heights, strict=True)
                    if row.low is not None and row.high is not None
                ),
                dots=tuple(
                    Mark(at(row.value), height, "solo", _interval(row))
                    for row, height in zip(drawn, heights, strict=True)
                ),
                ticks=tuple(Label(at(mark), number(mark)) for mark in inside),
            )
        )
        y = foot + _AXIS + _GAP
    rows = tuple((group.title, row.name, row.value, row.low, row.high) for group in panel.groups for row in group.rows)
    return Plot(
        panel=panel,
        shape="forest",
        kind="forest",
        width=width,
        height=round(y - _GAP, 1),
        left=left,
        right=right,
        zero=zero,
        groups=groups,
        data=table(DataTable("", ("measure", "effect", "estimate", "from", "to"), rows)),
    )


def _label_lines(name: str) -> list[str]:
    """Return the label of an effect, a long one as two lines that break before "vs."."""
    first, versus, second = name.partition(" vs. ")
    return [name] if len(name) <= _FOREST_LABEL or not versus else [first, f"vs. {second}"]


def _labels(name: str, y: float) -> Iterator[Label]:
    lines = _label_lines(name)
    for row, line in enumerate(lines):
        text = fitted(line, _FOREST_LONGEST)
        whole = line if text == line else name
        yield Label(round(y + 11 * (row - (len(lines) - 1) / 2), 1), text, whole)


def _signed(text: str) -> str:
    return text.replace("-", "\u2212")


def _ending(name: str) -> str:
    return name if len(name) <= _NAME_MAX else f"…{name[1 - _NAME_MAX :]}"  # model names differ at their ends


def _struck(row: Estimate, value: float | None) -> Cell:
    return Struck(number(value)) if row.struck and value is not None else value


def _interval(row: Estimate) -> str:
    interval = "" if row.low is None or row.high is None else f", {number(row.low)} to {number(row.high)}"
    return f"{row.name}: {number(row.value)}{interval}"
