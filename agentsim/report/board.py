"""The layout of boards: the last scene, and the changes from each scene to the next.

A space, a piece and a cell each have a track: the scenes at which it changed, and its new values. So a game of a
thousand turns takes a few hundred kilobytes, and a script can show any scene. The markup is `templates/board.html.j2`.
"""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple

from markupsafe import Markup

from agentsim.engine.panel import Board, Cell, Piece, Scene, Tile
from agentsim.report.markup import HEAT_STEPS, TemplateContext, cell, fitted, plain, tone, tone_of

CELL = 68.0
_MAX_SCENES = 2000
_RADIUS = 7.5
_BAR, _STRIP = 11.0, 13.0
_LABEL_CHARACTERS, _MARK_CHARACTERS = 13, 11
_CHARACTER, _LABEL = 5.2, 4.9  # widths of characters: bold ones in boxes, and those of labels
_NARROW = frozenset("iIjl.,'|:; tfr")
_SMALL, _LARGE, _PITCH = 8.0, 18.0, 11.0


class Box(NamedTuple):
    """A rectangle with CSS classes and an optional text."""

    x: float
    y: float
    width: float
    height: float
    classes: str
    text: str = ""


def board(panel: Board, players: Mapping[str, int]) -> TemplateContext:
    """Lay out the last scene, and the data with which a script shows the others.

    Of more than `_MAX_SCENES` scenes, an even selection is kept, with the first and the last.
    """
    count = len(panel.scenes)
    shown = min(count, _MAX_SCENES)
    scenes = [panel.scenes[round(i * (count - 1) / max(1, shown - 1))] for i in range(shown)] or [Scene("", ())]
    hottest = max((tile.heat or 0.0 for scene in scenes for tile in scene.tiles), default=0.0)
    forms: dict[Tile | None, int] = {None: 0}
    standing = [{(tile.column, tile.row): tile for tile in scene.tiles} for scene in scenes]
    spaces = list(dict.fromkeys(space for tiles in standing for space in tiles))
    at = [[forms.setdefault(tiles.get(space), len(forms)) for tiles in standing] for space in spaces]
    names = list(dict.fromkeys(piece.name for scene in scenes for piece in scene.pieces))
    spots = [_spots(scene.pieces) for scene in scenes]
    moves = {name: _track(spot.get(name) for spot in spots) for name in names}
    rows = tuple(tuple(map(_text, row)) for row in scenes[-1].rows)
    cells = [(number, column) for number, row in enumerate(rows) for column in range(len(row))]
    tracks = {
        "rounds": [scene.round for scene in scenes],
        "captions": [plain(scene.caption) for scene in scenes],
        "notes": [[plain(note) for note in scene.notes] for scene in scenes],
        "tiles": [_track(found) for found in at],
        "pieces": list(moves.values()),
        "cells": [_track(_cell(scene.rows, *cell) for scene in scenes) for cell in cells],
    }
    return TemplateContext(
        shape="board",
        panel=panel,
        cell=CELL,
        radius=_RADIUS,
        last=scenes[-1],
        rows=rows,
        # x, y and the index of the tile's form in the last scene
        spaces=[(x * CELL, y * CELL, found[-1]) for (x, y), found in zip(spaces, at, strict=True)],
        forms=[None if form is None else tile(form, players, hottest) for form in forms],
        # `at` is x, y and 1 if the piece is held, or None if it is not on the board in the last scene
        pieces=[
            TemplateContext(
                name=name, letter=_letter(name, names), tone=tone(players.get(name, index)), at=moves[name][-1]
            )
            for index, name in enumerate(names)
        ],
        tones={name: tone(index) for name, index in players.items()},
        tracks=tracks,
        packed=partial(_packed, tracks),
        scenes=len(scenes),
        skipped=count - shown,
    )


def _packed(tracks: Mapping[str, Any], forms: Sequence[str]) -> Markup:
    """Return the tracks and the markup of the forms as JSON, escaped for use inside a `<template>`."""
    text = json.dumps({"forms": [str(form) for form in forms], **tracks}, separators=(",", ":"))
    return Markup(escape(text, quote=False))  # noqa: S704 (escaped: it cannot end its element)


def _track(values: Iterable[Any]) -> list[Any]:
    """Return [scene, value, scene, value, ...]: the value from each of these scenes on."""
    track: list[Any] = []
    for number, value in enumerate(values):
        if not track or track[-1] != value:
            track += [number, value]
    return track


def _width(label: str) -> float:
    """Return about how wide a label is, in units of the drawing."""
    return sum(_LABEL * (0.55 if letter in _NARROW else 1.08) for letter in label)


def _text(value: Cell) -> str:
    return plain(cell(value).text)


def _cell(rows: Sequence[Sequence[Cell]], number: int, column: int) -> str:
    return _text(rows[number][column]) if number < len(rows) and column < len(rows[number]) else ""


def _spots(pieces: Sequence[Piece]) -> dict[str, list[float]]:
    """Return [x, y, 1 if held] by name. Pieces on one space are side by side, closer together if there are many."""
    spots: dict[str, list[float]] = {}
    crowds: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        crowds[piece.column, piece.row].append(piece)
    for (column, row), crowd in crowds.items():
        step = min(2 * _RADIUS + 1, (CELL - 2 * _RADIUS - 4) / max(1, len(crowd) - 1))
        first = CELL / 2 - step * (len(crowd) - 1) / 2
        for index, piece in enumerate(crowd):
            x = round(column * CELL + first + step * index, 1)
            spots[piece.name] = [x, round(row * CELL + 0.66 * CELL, 1), int(piece.held)]
    return spots


def _letter(name: str, names: Sequence[str]) -> str:
    """Return a short form of a name that no other name shares, if there is one."""
    own = _shorts(name)
    return plain(next((short for short in own if sum(short in _shorts(other) for other in names) == 1), own[-1]))


def _shorts(name: str) -> tuple[str, ...]:
    return name[:1], name[:2], name[:1] + name[-1:], name[-2:]


def tile(tile: Tile, players: Mapping[str, int], hottest: float) -> TemplateContext:
    """Lay out one space of a board, relative to its own corner. `hottest` is the highest heat of the board.

    `title` describes the space in words.
    """
    upright = tile.edge in {"left", "right"}
    side = _BAR if tile.hue is not None and upright else 0.0  # width taken by the bar
    lines = textwrap.wrap(plain(tile.label), _LABEL_CHARACTERS, max_lines=2 if tile.note else 3, placeholder="…")
    room = CELL - 6 - side
    hint = None
    if tile.short and tile.owner:  # to the left of the pieces
        hint = (side if tile.edge == "left" else 0.0) + 0.22 * CELL, plain(tile.owner[:2])
    elif tile.short and tile.marks:
        hint = CELL / 2, plain(tile.marks[0])
    bar = None
    if tile.hue is not None:
        x, y = (CELL - _BAR if tile.edge == edge else 0.0 for edge in ("right", "bottom"))
        bar = Box(x, y, _BAR if upright else CELL, CELL if upright else _BAR, f"hue {tile.hue}")
    heat = max(0, min(HEAT_STEPS, round(HEAT_STEPS * (tile.heat or 0.0) / hottest))) if hottest > 0 else 0
    owner = f"owner {tile.owner}" if tile.owner else ""
    return TemplateContext(
        tile=tile,
        title=", ".join([tile.label, *filter(None, (tile.note, tile.says)), *tile.marks, *([owner] if owner else [])]),
        classes=f"tile{'' if tile.heat is None else f' heat{heat}'}{' struck' if tile.struck else ''}",
        left=(side if tile.edge == "left" else 0.0) + 3.5,
        top=_BAR if tile.hue and tile.edge == "top" else _STRIP if tile.edge == "bottom" else 0.0,
        middle=(CELL + (side if tile.edge == "left" else -side)) / 2,
        # with the width to which a long line is compressed
        lines=[(line, room if _width(line) > room + 1.5 else None) for line in lines],
        bar=bar,
        blocks=list(_blocks(tile, upright)),
        boxes=list(_boxes(tile, players, side)),
        hint=hint,
    )


def _blocks(tile: Tile, upright: bool) -> Iterator[Box]:
    """Yield blocks along the edge, from the left or from the top. A large one takes the room of two."""
    across = (CELL - _BAR if tile.edge in {"right", "bottom"} else 0.0) + (_BAR - _SMALL) / 2
    along = 5.0
    for block in tile.blocks:
        length = _SMALL if block == "small" else _LARGE
        spot = (across, along, _SMALL, length) if upright else (along, across, length, _SMALL)
        yield Box(*spot, f"block {block}")
        along += length + _PITCH - _SMALL


def _boxes(tile: Tile, players: Mapping[str, int], side: float) -> Iterator[Box]:
    """Yield the owner as a strip at the outer edge, then marks on one line. Marks that do not fit are counted."""
    left = side if tile.edge == "left" else 0.0
    width = CELL - side
    y = 0.0 if tile.edge == "bottom" else CELL - _STRIP
    if tile.owner:
        classes = f"owner {tone(players.get(tile.owner, 0))}"
        yield Box(left, y, width, _STRIP, classes, fitted(tile.owner, int((width - 6) / _CHARACTER)))
        y += -16.0 if y else 16.0
    x, y, right = left + 3.0, y - 2 if y > CELL / 2 else y + 2, left + width
    for index, mark in enumerate(tile.marks):
        text = fitted(mark, _MARK_CHARACTERS)
        wide = round(_CHARACTER * len(text) + 7, 1)
        rest = len(tile.marks) - index
        room = right - 2 - (0 if rest == 1 else _CHARACTER * 2 + 9)
        if x + wide > room and index:
            yield Box(x, y, round(_CHARACTER * len(f"+{rest}") + 6, 1), _STRIP, "mark plain", f"+{rest}")
            return
        yield Box(x, y, min(wide, right - x - 2), _STRIP, f"mark {tone_of(mark, players)}", text)
        x = round(x + wide + 3, 1)
