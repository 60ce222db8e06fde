"""A board laid out: its last scene to be drawn, and all scenes as what changes from one to the next.

A place, a piece and a cell each have a track: the scenes at which something about it changed, and what it became. A
game of a thousand turns is a few hundred kilobytes so, and a script can go to any of them. How one tile is drawn is
`tiles`; tables are in `table`, charts in `charts`; the markup is `templates/board.html.j2`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from agentsim.engine.panel import Board, Cell, Piece, Scene, Tile
from agentsim.report.table import cell
from agentsim.report.text import plain
from agentsim.report.tiles import CELL, TileView, draw
from agentsim.report.tones import tone

__all__ = ["BoardView", "lay_out"]

_MAX_SCENES = 2000
_RADIUS = 7.5

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PieceView:
    """A token; `at` is its middle in the last scene, None where it is on no place then."""

    name: str
    letter: str
    tone: str
    at: tuple[float, float] | None
    held: bool


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board at its last scene, and what a script needs to show the others. `skipped` scenes are not shown."""

    title: str
    note: str
    width: float
    height: float
    cell: float
    radius: float
    last: Scene
    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...]
    ring: bool
    places: tuple[tuple[float, float, int], ...]  # x, y and which of the forms stands there in the last scene
    forms: tuple[TileView, ...]
    pieces: tuple[PieceView, ...]
    tones: Mapping[str, str]
    tracks: Mapping[str, Any]
    scenes: int
    skipped: int
    shape: str = "board"

    def packed(self, forms: Sequence[str]) -> Markup:
        """The tracks and the markup of the forms as JSON, fit to stand inside a `<template>`."""
        text = json.dumps({"forms": [str(form) for form in forms], **self.tracks}, separators=(",", ":"))
        return Markup(escape(text, quote=False))  # noqa: S704 (escaped: it cannot end its element)


def lay_out(board: Board, players: Mapping[str, int]) -> BoardView:
    """The board; of very many scenes an even choice, the first and the last among them."""
    count = len(board.scenes)
    shown = min(count, _MAX_SCENES)
    scenes = [board.scenes[round(i * (count - 1) / max(1, shown - 1))] for i in range(shown)] or [Scene("", ())]
    hottest = max((tile.heat or 0.0 for scene in scenes for tile in scene.tiles), default=0.0)
    forms: dict[Tile | None, int] = {None: 0}
    standing = [{(tile.column, tile.row): tile for tile in scene.tiles} for scene in scenes]
    places = list(dict.fromkeys(place for tiles in standing for place in tiles))
    at = [[forms.setdefault(tiles.get(place), len(forms)) for tiles in standing] for place in places]
    empty = TileView("", (), None, None, (), (), "", None, "")
    pieces, piece_tracks = _pieces(scenes, players)
    rows = tuple(tuple(_text(value) for value in row) for row in scenes[-1].rows)
    tracks: dict[str, Any] = {
        "captions": [plain(scene.caption) for scene in scenes],
        "notes": [[plain(note) for note in scene.notes] for scene in scenes],
        "tiles": [_track(found) for found in at],
        "pieces": piece_tracks,
        "cells": [
            _track([_cell(scene.rows, number, column) for scene in scenes])
            for number, row in enumerate(rows)
            for column in range(len(row))
        ],
    }
    return BoardView(
        title=board.title,
        note=board.note,
        width=board.columns * CELL,
        height=board.rows * CELL,
        cell=CELL,
        radius=_RADIUS,
        last=scenes[-1],
        rows=rows,
        headings=board.headings,
        ring=board.ring,
        places=tuple((x * CELL, y * CELL, found[-1]) for (x, y), found in zip(places, at, strict=True)),
        forms=tuple(empty if tile is None else draw(tile, players, hottest) for tile in forms),
        pieces=pieces,
        tones={name: tone(place) for name, place in players.items()},
        tracks=tracks,
        scenes=len(scenes),
        skipped=count - shown if count else 0,
    )


def _track(values: Iterable[Any]) -> list[Any]:
    """[scene, value, scene, value, ...]: what it is from which scene on."""
    track: list[Any] = []
    for number, value in enumerate(values):
        if not track or track[-1] != value:
            track += [number, value]
    return track


def _text(value: Cell) -> str:
    return plain(cell(value).text)


def _cell(rows: Sequence[Sequence[Cell]], number: int, column: int) -> str:
    return _text(rows[number][column]) if number < len(rows) and column < len(rows[number]) else ""


def _pieces(scenes: Sequence[Scene], players: Mapping[str, int]) -> tuple[tuple[PieceView, ...], list[list[Any]]]:
    names = list(dict.fromkeys(piece.name for scene in scenes for piece in scene.pieces))
    spots = [_spots(scene.pieces) for scene in scenes]
    views, tracks = [], []
    for order, name in enumerate(names):
        track = _track([spot.get(name) for spot in spots])
        tracks.append(track)
        last = track[-1]
        views.append(
            PieceView(
                name=name,
                letter=_letters(name, names),
                tone=tone(players.get(name, order)),
                at=(last[0], last[1]) if last else None,
                held=bool(last and last[2]),
            )
        )
    return tuple(views), tracks


def _letters(name: str, names: Sequence[str]) -> str:
    """One or two characters that no other name could have, where there are such: the first, with the next or last."""
    could = {other: _shorts(other) for other in names}
    own = _shorts(name)
    return plain(next((short for short in own if sum(short in each for each in could.values()) == 1), own[-1]))


def _shorts(name: str) -> tuple[str, ...]:
    return name[:1], name[:2], name[:1] + name[-1:], name[-2:]


def _spots(pieces: Sequence[Piece]) -> dict[str, list[float]]:
    """By name [x, y, 1 where it is held]; those of one place stand side by side, closer where they are many."""
    spots: dict[str, list[float]] = {}
    crowd: dict[Place, list[Piece]] = {}
    for piece in pieces:
        crowd.setdefault((piece.column, piece.row), []).append(piece)
    for (column, row), here in crowd.items():
        step = min(2 * _RADIUS + 1, (CELL - 2 * _RADIUS - 4) / max(1, len(here) - 1))
        first = CELL / 2 - step * (len(here) - 1) / 2
        for place, piece in enumerate(here):
            x = round(column * CELL + first + step * place, 1)
            spots[piece.name] = [x, round(row * CELL + 0.66 * CELL, 1), int(piece.held)]
    return spots
