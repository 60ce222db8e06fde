"""A board laid out: tiles with their wrapped labels, owners and marks, at several moments.

Tables are in `table`, charts in `charts`; the markup is `templates/panels.html.j2`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentsim.engine.panel import Board, Tile
from agentsim.report.text import plain
from agentsim.report.tones import tone

__all__ = ["BoardView", "lay_out"]

CELL, ROW = 80.0, 62.0
_MAX_FRAMES = 200
_LABEL_CHARACTERS = 13
_MARK_CHARACTERS = 8
_CHARACTER = 5.8


@dataclass(frozen=True, slots=True)
class Chip:
    """A mark on a tile."""

    x: float
    width: float
    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile; `title` says all of it in words."""

    x: float
    y: float
    lines: tuple[str, ...]
    chips: tuple[Chip, ...]
    owner: str | None
    title: str


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board at one or more moments; `skipped` moments are not shown."""

    title: str
    note: str
    width: float
    height: float
    cell: float
    row: float
    frames: tuple[tuple[str, tuple[TileView, ...]], ...]
    skipped: int
    shape: str = "board"


def lay_out(board: Board, players: Mapping[str, int]) -> BoardView:
    """The board; of very many frames an even choice, the first and the last among them."""
    count = len(board.frames)
    shown = min(count, _MAX_FRAMES)
    chosen = [round(i * (count - 1) / max(1, shown - 1)) for i in range(shown)]
    return BoardView(
        title=board.title,
        note=board.note,
        width=board.columns * CELL,
        height=board.rows * ROW,
        cell=CELL,
        row=ROW,
        frames=tuple(
            (caption, tuple(_tile(tile, players) for tile in tiles))
            for caption, tiles in (board.frames[i] for i in chosen)
        ),
        skipped=count - shown,
    )


def _tile(tile: Tile, players: Mapping[str, int]) -> TileView:
    label = plain(tile.label)
    lines = textwrap.wrap(label, _LABEL_CHARACTERS, max_lines=2 if tile.marks else 3, placeholder="…")
    says = [tile.label, *tile.marks] + ([f"owner {tile.owner}"] if tile.owner else [])
    return TileView(
        x=tile.column * CELL,
        y=tile.row * ROW,
        lines=tuple(lines),
        chips=tuple(_chips(tile.marks, players)),
        owner=tone(players.get(tile.owner, 0)) if tile.owner else None,
        title=", ".join(says),
    )


def _chips(marks: Sequence[str], players: Mapping[str, int]) -> list[Chip]:
    """Marks in one line; what does not fit is counted (and named in the tile's title)."""
    chips: list[Chip] = []
    x = 5.0
    for place, mark in enumerate(marks):
        text = plain(mark)
        text = text if len(text) <= _MARK_CHARACTERS else text[: _MARK_CHARACTERS - 1] + "…"
        width = round(_CHARACTER * len(text) + 8, 1)
        rest = len(marks) - place
        room = CELL - 4 - (0 if rest == 1 else _CHARACTER * 2 + 10)
        if x + width > room and chips:
            chips.append(Chip(x, round(_CHARACTER * len(f"+{rest}") + 6, 1), f"+{rest}", "plain"))
            break
        chips.append(Chip(x, width, text, tone(players[mark]) if mark in players else "plain"))
        x = round(x + width + 3, 1)
    return chips
