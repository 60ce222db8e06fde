"""Panels: what a game shows of itself, as data; the report turns them into HTML and SVG, exports into files.

Colours, markup and scripts do not belong here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Board", "Cell", "Chart", "Frame", "Panel", "Point", "Scatter", "Series", "Table", "Tile"]

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Frame:
    """Rows under column names, for export: no title, no note, and every cell of a column means the same."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """Rows under column names; `heat` asks for the numbers to be shaded by their size."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    heat: bool = False


@dataclass(frozen=True)
class Series:
    """One named line, or one colour of bars; `values[i]` belongs to the chart's `x[i]`, None is a gap."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over an ordered axis, bars over names, or stacked bars."""

    title: str
    kind: Literal["line", "bar", "stacked"]
    x: tuple[str, ...]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Point:
    """One thing at two measures; `label` names it, `series` says whose it is."""

    x: float
    y: float
    label: str
    series: str = ""


@dataclass(frozen=True)
class Scatter:
    """Points over two measured axes."""

    title: str
    points: tuple[Point, ...]
    x_label: str
    y_label: str
    note: str = ""


@dataclass(frozen=True)
class Tile:
    """One place of a board: column and row from 0, a label, marks on it, and whose colour it has."""

    column: int
    row: int
    label: str
    marks: tuple[str, ...] = ()
    owner: str | None = None


@dataclass(frozen=True)
class Board:
    """Places on a grid, at one or more moments (`frames`: caption and tiles) that a reader can step through."""

    title: str
    columns: int
    rows: int
    frames: tuple[tuple[str, tuple[Tile, ...]], ...]
    note: str = ""


Panel: TypeAlias = Table | Chart | Scatter | Board
