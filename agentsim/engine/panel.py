"""Panels: what a game displays, as data; the report turns panels into HTML and SVG, exports into files.

They have no colors, markup or scripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple, TypeAlias

from agentsim.lazy import dataclass

Cell: TypeAlias = str | int | float | bool | None


class Struck(str):
    """A cell that is shown struck through, since its number must not be relied on; data files have the plain text."""

    __slots__ = ()


@dataclass(frozen=True)
class Frame:
    """Rows under column names, for export, without title and note; all cells of a column have the same meaning."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Progress:
    """The progress of a game and its players' standing, for spectators: `unit` number `done` of `of`.

    `players` are (id, words such as `$1,500`, whether still in the game), best first; `facts` are lines about the game.
    """

    unit: str
    done: int
    of: int
    players: tuple[tuple[str, str, bool], ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataTable:
    """Rows under column names; `heat` shades the numbers by their size.

    Otherwise `shade`, if given, is the strength of each cell's shade, from 0 to 1, or None for no shade. `sentence`
    states the result in words, with the numbers of the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    heat: bool = False
    shade: tuple[tuple[float | None, ...], ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class Series:
    """One named line, or one series of bars; `values[i]` belongs to the chart's `x[i]`, None is a gap."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over an ordered axis, bars over names, or stacked bars; a `step` line holds each value until the next.

    `rounds[i]` is the round of the log after which `x[i]` holds: a page marks the point of its reader there.
    """

    title: str
    kind: Literal["line", "step", "bar", "stacked"]
    x: tuple[str, ...]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""
    note: str = ""
    rounds: tuple[int, ...] = ()


class TurnedAt(NamedTuple):
    """A turning point that a game names, at the event `log[at]`; `text` defaults to that event's heading."""

    at: int
    what: str
    text: str = ""


@dataclass(frozen=True)
class Overview:
    """The overview of a game, for the first screen of its page.

    `score_chart` has a line for each player, or for each side or measure, over time. The highest line leads, or the
    lowest if `lowest` is set; a player's line ends when the player leaves the game. `margin` names the scores of the
    standings that decide the first place, each if those before are equal. `verdict` replaces the winner in a game about
    more than one. `why` says in a sentence or two what decided the game. `refusals` are the actions, as they are told,
    that say no without harm. `turns` come before the turning points that apply to every game. `labels` has a word about
    each player for the standings, such as its role.
    """

    score_chart: Chart | None = None
    lowest: bool = False
    margin: tuple[str, ...] = ()
    verdict: str = ""
    why: str = ""
    refusals: tuple[str, ...] = ()
    turns: tuple[TurnedAt, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One item by two measures; `label` names it, `series` is its group."""

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
class Estimate:
    """An estimate and its interval; without ends it is a point.

    A `struck` one is shown with its name struck through, since it must not be relied on.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    struck: bool = False


@dataclass(frozen=True)
class Estimates:
    """Estimates with their intervals, one below the other along one measured axis."""

    title: str
    rows: tuple[Estimate, ...]
    x_label: str
    note: str = ""


@dataclass(frozen=True)
class Forest:
    """A forest plot: groups of effects one below the other, each on its own scale, on a common line at zero.

    The title of a group says what is measured; its `x_label` and `note` are not shown.
    """

    title: str
    groups: tuple[Estimates, ...]
    note: str = ""


Hue: TypeAlias = Literal["brown", "sky", "pink", "orange", "red", "yellow", "green", "blue"]
"""The color of a group of tiles; `says` names the group for those who do not see it."""


@dataclass(frozen=True)
class Tile:
    """One space of a board: column and row from 0, a label, marks on it, and its owner.

    `hue` is a bar along its `edge`, with its `blocks` on it: each small (a house, say) or large. `struck` tiles are out
    of service. `heat` shades the tile by its size among all tiles of the board. `note` is a line of small print,
    `short` a label of up to four characters for small screens, `says` a description in words of what only the drawing
    shows.
    """

    column: int
    row: int
    label: str
    marks: tuple[str, ...] = ()
    owner: str | None = None
    hue: Hue | None = None
    edge: Literal["top", "right", "bottom", "left"] = "top"
    blocks: tuple[Literal["small", "large"], ...] = ()
    struck: bool = False
    heat: float | None = None
    note: str = ""
    short: str = ""
    says: str = ""


@dataclass(frozen=True)
class Piece:
    """A token on a board, named after its player; `held` if it cannot move."""

    name: str
    column: int
    row: int
    held: bool = False


@dataclass(frozen=True)
class Scene:
    """A board at one moment: its tiles and pieces, a row of figures per player (its name first), and notes.

    `round` is the round of the log after which it looks like this, or None.
    """

    caption: str
    tiles: tuple[Tile, ...]
    pieces: tuple[Piece, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    round: int | None = None


@dataclass(frozen=True)
class Board:
    """Spaces on a grid, at one or more moments that a reader can step through.

    `headings` are those of the scenes' rows. A `ring` uses only the outermost spaces, with rows and notes inside.
    """

    title: str
    columns: int
    rows: int
    scenes: tuple[Scene, ...]
    note: str = ""
    headings: tuple[str, ...] = ()
    ring: bool = False


@dataclass(frozen=True)
class Node:
    """A node of a network; nodes of one `group` are side by side and share a color."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class Edge:
    """A transfer between two nodes: its amount (`weight`, above 0) and its `kind`."""

    source: str
    target: str
    weight: float
    kind: str = ""


@dataclass(frozen=True)
class Network:
    """The transfers between nodes; edges between other names are left out."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    note: str = ""


@dataclass(frozen=True)
class ThreadPost:
    """A contribution to a discussion; `answers` is the number of the post that it replies to."""

    number: int
    author: str
    when: str
    text: str
    answers: int | None = None


@dataclass(frozen=True)
class Threads:
    """A discussion in chronological order; replies are shown beneath the posts that they answer."""

    title: str
    posts: tuple[ThreadPost, ...]
    note: str = ""


Panel: TypeAlias = DataTable | Chart | Scatter | Estimates | Forest | Board | Network | Threads
