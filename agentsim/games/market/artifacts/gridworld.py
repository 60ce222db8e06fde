"""The gridworld: agents on a grid, one to a cell. What places are good for is for other artifacts to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from agentsim.engine import Choice, Event, Everyone, GameConfig, LogEntry
from agentsim.engine.capability import Refused
from agentsim.engine.panel import Board, Panel, Piece, Scene, Tile
from agentsim.engine.wording import Template
from agentsim.games.market.artifact import Answer, Artifact, action, query
from agentsim.games.market.trading_panels import of, scenes
from agentsim.games.market.world import World

MOST_CELLS = 400  # of a grid that is drawn
STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}


class GridworldSettings(GameConfig):
    """`[game_config.settings.gridworld]`."""

    columns: Annotated[int, Field(ge=1, le=100)] = 8
    rows: Annotated[int, Field(ge=1, le=100)] = 8
    sight: Annotated[int, Field(ge=1, le=10)] = Field(default=2, description="How many cells away an agent sees")


class Moved(Event, heading="{agent} stands at {column}, {row}", content="Of {columns} columns and {rows} rows."):
    """Where an agent stands now; columns and rows count from 0, at the top left."""

    agent: str
    column: int
    row: int
    columns: int
    rows: int


class Gridworld(Artifact):
    name: ClassVar[str] = "gridworld"
    description: ClassVar[Template] = (
        "a grid of {columns} columns and {rows} rows, counted from 0 at the north-west corner, on which every agent "
        "has a cell of its own."
    )
    settings: ClassVar[type[GameConfig]] = GridworldSettings

    def __init__(self, world: World, settings: GridworldSettings) -> None:
        super().__init__(world, settings)
        cells = [(column, row) for row in range(settings.rows) for column in range(settings.columns)]
        if len(world.agents) > len(cells):
            raise ValueError(f"{len(world.agents)} agents do not fit on {len(cells)} cells")
        drawn = world.chance("gridworld").shuffled(cells)
        self.places = dict(zip(world.agents, drawn, strict=False))
        self._by_cell = {cell: agent for agent, cell in self.places.items()}

    @action("go to the next cell, if it is free", direction=Choice(tuple(STEPS), about="which way"))
    def move(self, agent: str, direction: str) -> str:
        (column, row), (right, down) = self.places[agent], STEPS[direction]
        cell = (column + right, row + down)
        if not (0 <= cell[0] < self.config.columns and 0 <= cell[1] < self.config.rows):
            raise Refused(f"the grid ends {direction} of you")
        if cell in self._by_cell:
            raise Refused(f"{self._by_cell[cell]} stands {direction} of you")
        del self._by_cell[self.places[agent]]
        self.places[agent], self._by_cell[cell] = cell, agent
        self._tell(agent)
        return f"You stand at column {cell[0]}, row {cell[1]}."

    @query("your cell, and who stands near you")
    def neighbourhood(self, agent: str) -> Answer:
        (column, row), sight = self.places[agent], self.config.sight
        columns, rows = (range(middle - sight, middle + sight + 1) for middle in (column, row))
        cells = ((x, y) for y in rows for x in columns if self._by_cell.get((x, y), agent) != agent)
        near = [{"agent": self._by_cell[x, y], "column": x, "row": y} for x, y in cells]
        return {"column": column, "row": row, "near": near}

    def shown(self, agent: str) -> Answer:
        column, row = self.places[agent]
        return {"column": column, "row": row}

    def round_began(self, number: int) -> None:
        if number == 1:
            for agent in self.world.agents:
                self._tell(agent)

    def check(self) -> Sequence[str]:
        if len(self._by_cell) != len(self.places):
            return ["every agent has a cell of its own"]
        return ()

    @classmethod
    def panels(cls, log: Sequence[LogEntry]) -> list[Panel]:
        """A board with a scene for each round shown; none of a grid too large to be drawn."""
        moves = of(log, Moved)
        if not moves or moves[0].columns * moves[0].rows > MOST_CELLS:
            return []
        columns, rows = moves[0].columns, moves[0].rows
        tiles = tuple(Tile(column, row, f"{column}, {row}") for row in range(rows) for column in range(columns))
        pieces: dict[str, Piece] = {}
        drawn: list[Scene] = []

        def follow(event: Event) -> None:
            if isinstance(event, Moved):
                pieces[event.agent] = Piece(event.agent, event.column, event.row)

        for number in scenes(log, follow):
            drawn += [Scene(f"Round {number}", tiles, tuple(pieces.values()), round=number)] if number else []
        return [
            Board("Grid", columns, rows, tuple(drawn), "Cells are column, row, counted from the north-west corner.")
        ]

    def _tell(self, agent: str) -> None:
        column, row = self.places[agent]
        self.world.tell(Moved(agent, column, row, self.config.columns, self.config.rows), to=Everyone)
