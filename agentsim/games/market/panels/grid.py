"""Where agents stand in the gridworld, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Board, Panel, Piece, Scene, Tile
from agentsim.games.market.artifacts.gridworld import Moved
from agentsim.games.market.panels.spots import rounds, spots

MOST_CELLS = 400  # of a grid that is drawn


def grid(log: Sequence[LogEntry]) -> list[Panel]:
    """A board with a scene for each round shown; nothing where there is no grid, or one too large to be drawn."""
    moves = [told.event for told in log if isinstance(told.event, Moved)]
    if not moves or moves[0].columns * moves[0].rows > MOST_CELLS:
        return []
    columns, rows = moves[0].columns, moves[0].rows
    tiles = tuple(Tile(column, row, f"{column}, {row}") for row in range(rows) for column in range(columns))
    shown = set(spots(rounds(log)))
    places: dict[str, tuple[int, int]] = {}
    scenes: list[Scene] = []
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        for told in told_in_round:
            if isinstance(told.event, Moved):
                places[told.event.agent] = (told.event.column, told.event.row)
        if number in shown:
            scenes.append(Scene(f"Round {number}", tiles, _pieces(places)))
    return [Board("Grid", columns, rows, tuple(scenes), "Cells are column, row, counted from the north-west corner.")]


def _pieces(places: Mapping[str, tuple[int, int]]) -> tuple[Piece, ...]:
    return tuple(Piece(agent, *cell) for agent, cell in places.items())
