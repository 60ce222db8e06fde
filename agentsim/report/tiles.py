"""Tiles: one place of a board as it is drawn: its bar, blocks, wrapped label, marks and owner.

How tiles make a board, and what changes from scene to scene, is `board`; the markup is `templates/board.html.j2`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentsim.engine.panel import Tile
from agentsim.report.text import fitted, plain
from agentsim.report.tones import HEAT_STEPS, tone, tone_of

__all__ = ["CELL", "TileView", "draw"]

CELL = 68.0
_BAR = 11.0
_STRIP = 13.0
_LABEL_CHARACTERS = 13
_MARK_CHARACTERS = 11
_CHARACTER, _LABEL = 5.2, 4.9  # widths of characters: of bold ones in boxes, of those of labels
_SMALL, _LARGE, _PITCH = 8.0, 18.0, 11.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with its classes, and with words in it or none."""

    x: float
    y: float
    width: float
    height: float
    classes: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class TileView:
    """What stands on one place, from its own corner; `title` says all of it in words."""

    classes: str
    lines: tuple[tuple[float, float, str, float | None], ...]  # x, y, words, and the width to press long ones into
    note: tuple[float, float, str] | None
    bar: Box | None
    blocks: tuple[Box, ...]
    boxes: tuple[Box, ...]
    short: str
    hint: tuple[float, str] | None  # x and the owner's initials, or the first mark, where there is no room for more
    title: str


def draw(tile: Tile, players: Mapping[str, int], hottest: float) -> TileView:
    """The tile; `hottest` is the highest heat of its board."""
    bar = _bar(tile)
    left = _BAR if tile.hue and tile.edge == "left" else 0.0
    narrow = tile.hue is not None and tile.edge in {"left", "right"}
    top = _BAR if tile.hue and tile.edge == "top" else _STRIP if tile.edge == "bottom" else 0.0
    lines = textwrap.wrap(plain(tile.label), _LABEL_CHARACTERS, max_lines=2 if tile.note else 3, placeholder="…")
    room = CELL - 6 - (_BAR if narrow else 0.0)
    shown = tuple(
        (left + 3.5, top + 10.5 + 10 * place, line, room if len(line) * _LABEL > room + 1.5 else None)
        for place, line in enumerate(lines)
    )
    note = (left + 3.5, top + 11.5 + 10 * len(lines), plain(tile.note)) if tile.note else None
    says = [tile.label, *([tile.note] if tile.note else []), *([tile.says] if tile.says else []), *tile.marks]
    heat = "" if tile.heat is None else f" heat{_step(tile.heat, hottest)}"
    return TileView(
        classes=f"tile{heat}{' struck' if tile.struck else ''}",
        lines=shown,
        note=note,
        bar=bar,
        blocks=tuple(_blocks(tile)),
        boxes=tuple(_boxes(tile, players, narrow)),
        short=plain(tile.short),
        hint=_hint(tile) if tile.short else None,
        title=", ".join(says + ([f"owner {tile.owner}"] if tile.owner else [])),
    )


def _hint(tile: Tile) -> tuple[float, str] | None:
    if tile.owner:  # to the left of the pieces
        return 0.3 * CELL, plain(tile.owner[:2])
    return (CELL / 2, plain(tile.marks[0])) if tile.marks else None


def _step(heat: float, hottest: float) -> int:
    return max(0, min(HEAT_STEPS, round(HEAT_STEPS * heat / hottest))) if hottest > 0 else 0


def _bar(tile: Tile) -> Box | None:
    if tile.hue is None:
        return None
    x, y = (CELL - _BAR if tile.edge == side else 0.0 for side in ("right", "bottom"))
    upright = tile.edge in {"left", "right"}
    return Box(x, y, _BAR if upright else CELL, CELL if upright else _BAR, f"hue {tile.hue}")


def _blocks(tile: Tile) -> Iterator[Box]:
    """Along the edge, from the left or from the top; a large one is as wide as two."""
    upright = tile.edge in {"left", "right"}
    across = (CELL - _BAR if tile.edge in {"right", "bottom"} else 0.0) + (_BAR - _SMALL) / 2
    along = 5.0
    for block in tile.blocks:
        length = _SMALL if block == "small" else _LARGE
        x, y = (across, along) if upright else (along, across)
        size = (_SMALL, length) if upright else (length, _SMALL)
        yield Box(x, y, *size, f"block {block}")
        along += length + _PITCH - _SMALL


def _boxes(tile: Tile, players: Mapping[str, int], narrow: bool) -> Iterator[Box]:
    """Whose it is, as a strip at the outer edge; or marks in one line, of which what does not fit is counted."""
    left = _BAR if narrow and tile.edge == "left" else 0.0
    width = CELL - (_BAR if narrow else 0.0)
    y = 0.0 if tile.edge == "bottom" else CELL - _STRIP
    if tile.owner:
        most = int((width - 12) / _CHARACTER)
        classes = f"owner {tone(players.get(tile.owner, 0))}"
        yield Box(left, y, width, _STRIP, classes, fitted(tile.owner, most))
        y += -16.0 if y else 16.0
    yield from _chips(tile.marks, players, left, y - 2 if y > CELL / 2 else y + 2, left + width)


def _chips(marks: Sequence[str], players: Mapping[str, int], left: float, y: float, right: float) -> Iterator[Box]:
    x = left + 3.0
    for place, mark in enumerate(marks):
        text = fitted(mark, _MARK_CHARACTERS)
        width = round(_CHARACTER * len(text) + 7, 1)
        rest = len(marks) - place
        room = right - 2 - (0 if rest == 1 else _CHARACTER * 2 + 9)
        if x + width > room and place:
            yield Box(x, y, round(_CHARACTER * len(f"+{rest}") + 6, 1), _STRIP, "mark plain", f"+{rest}")
            return
        yield Box(x, y, min(width, right - x - 2), _STRIP, f"mark {tone_of(mark, players)}", text)
        x = round(x + width + 3, 1)
