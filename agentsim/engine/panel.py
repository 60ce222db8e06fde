"""Panels: what a game shows of itself, as data; the report turns them into HTML and SVG, exports into files.

Colours, markup and scripts do not belong here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Frame:
    """Rows under column names, for export: no title, no note, and every cell of a column means the same."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Progress:
    """How far a game is, and how its players stand now, for those who look on: `unit` number `done` of `of`.

    `players` are (id, words such as `$1,500`, whether still in the game), best first; `facts` are words on the whole.
    """

    unit: str
    done: int
    of: int
    players: tuple[tuple[str, str, bool], ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataTable:
    """Rows under column names; `heat` asks for the numbers to be shaded by their size.

    Otherwise `shade`, where it is given, says how strongly each cell of each row is, from 0 to 1; None is not at all.
    `sentence` is what one may write of it, in the numbers that stand there.
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
    """One named line, or one colour of bars; `values[i]` belongs to the chart's `x[i]`, None is a gap."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over an ordered axis, bars over names, or stacked bars; a `step` holds each value until the next.

    `rounds[i]` is the round of the log after which `x[i]` stands: a page marks there where its reader is.
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
    """A turning point that a game names: `log[at]` tells of it. Without `text` that event's heading stands there."""

    at: int
    what: str
    text: str = ""


@dataclass(frozen=True)
class Course:
    """How a game went, for the first screen of its page.

    `standing` is a line for each player, or for each side or measure, over time. The highest line leads, or the lowest
    where `lowest` says so; a player's line ends where it leaves the game. `margin` names the scores of the standings
    that decide the first place, each where those before are equal. `verdict` is said in place of a winner where the
    game is about more than one. `why` says in a sentence or two what decided it. `refusals` are the deeds, as they are
    told, that say no and harm no one. `turns` go before the turning points that hold for every game.
    """

    standing: Chart | None = None
    lowest: bool = False
    margin: tuple[str, ...] = ()
    verdict: str = ""
    why: str = ""
    refusals: tuple[str, ...] = ()
    turns: tuple[TurnedAt, ...] = ()


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
class Estimate:
    """An estimate and its interval; without ends it is a point."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Estimates:
    """Estimates with their intervals, one below the other along one measured axis."""

    title: str
    rows: tuple[Estimate, ...]
    x_label: str
    note: str = ""


Hue: TypeAlias = Literal["brown", "sky", "pink", "orange", "red", "yellow", "green", "blue"]
"""The colour of a family of tiles; `says` names the family for those who do not see it."""


@dataclass(frozen=True)
class Tile:
    """One place of a board: column and row from 0, a label, marks on it, and whose it is.

    `hue` is a bar along its `edge`, on which its `blocks` stand: each small (a house, say) or large. `struck` tiles are
    out of service. `heat` shades the tile by its size among all tiles of the board. `note` is a line of small print,
    `short` a label of up to four characters for small screens, `says` what a drawing alone would keep from a reader.
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
    """A token on a board, called after its player; `held` where it cannot move."""

    name: str
    column: int
    row: int
    held: bool = False


@dataclass(frozen=True)
class Scene:
    """A board at one moment: its tiles and pieces, a row of figures for each player (its name first), what happened.

    `round` is the round of the log after which it stands so, None where it has no such place.
    """

    caption: str
    tiles: tuple[Tile, ...]
    pieces: tuple[Piece, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    round: int | None = None


@dataclass(frozen=True)
class Board:
    """Places on a grid, at one or more moments that a reader can step through.

    `headings` stand above the scenes' rows, which are as many in every scene. In a `ring` only the outermost places are
    taken, and rows and notes stand inside.
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
    """A node of a network; those of one `group` stand side by side and share a colour."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class Tie:
    """What went from one node to another: so much of it (`weight`, above 0), of one `kind`."""

    source: str
    target: str
    weight: float
    kind: str = ""


@dataclass(frozen=True)
class Network:
    """Who had to do with whom; ties between names that are no nodes are left out."""

    title: str
    nodes: tuple[Node, ...]
    ties: tuple[Tie, ...]
    note: str = ""


@dataclass(frozen=True)
class ThreadPost:
    """A contribution to a discussion; `answers` is the number of the one that it replies to."""

    number: int
    author: str
    when: str
    text: str
    answers: int | None = None


@dataclass(frozen=True)
class Threads:
    """A discussion, in the order in which it was held; answers are shown beneath what they answer."""

    title: str
    posts: tuple[ThreadPost, ...]
    note: str = ""


Panel: TypeAlias = DataTable | Chart | Scatter | Estimates | Board | Network | Threads
