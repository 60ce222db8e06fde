"""The games of a design as blocks of measures; their effects are `effects`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from agentsim.analysis.arm_records import Column, deeds, results_of
from agentsim.analysis.inference import Array
from agentsim.errors import ScenarioError, UsageError, first_objection
from agentsim.history.load import load_history
from agentsim.history.record import FINISHED
from agentsim.history.run_files import MANIFEST
from agentsim.scenario.factorial import EVERYONE, DesignRecord, Factorial


class _Game(BaseModel):
    name: str
    seed: int
    cell: int = 0


class _Manifest(BaseModel):
    models: tuple[str, ...]
    games: tuple[_Game, ...]
    design: DesignRecord


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished game: measures by (measure, player or model), and what it cost; a deed that is absent is 0."""

    results: Mapping[Column, float]
    deeds: Mapping[Column, float]
    players: tuple[str, ...]
    calls: int
    cost_usd: float | None


@dataclass(frozen=True)
class Blocks:
    """A batch's design with the blocks that have begun: `values` are blocks by cells by columns, NaN where unknown.

    `seeds` are those of the blocks. `labels` are those by whom the game is measured: the players, or the models where
    these take the players' seats in turn.
    """

    design: Factorial
    record: DesignRecord
    players: tuple[str, ...]
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Array
    seeds: tuple[int, ...]
    games: tuple[Measured, ...]

    @property
    def complete(self) -> int:
        """Blocks in which every cell has a finished game."""
        return int(np.sum(np.isfinite(self.values).any(axis=2).sum(axis=1) == self.values.shape[1]))


class DesignGames:
    """Reads the finished games of a design's folder; each of them once, however often it is asked."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[str, Measured] = {}

    def blocks(self) -> Blocks | None:
        """What is finished by now; None where the folder is no batch of a design, or has no finished game."""
        path = self._directory / MANIFEST
        if not path.is_file() or b'"design"' not in (text := path.read_bytes()):
            return None
        try:
            manifest = _Manifest.model_validate_json(text)
            design = manifest.design.factorial()
        except ValidationError as error:
            raise UsageError(f"{path}: is not a batch's manifest: {': '.join(first_objection(error))}") from None
        except (ScenarioError, ValueError) as error:
            raise UsageError(f"{path}: is not a batch's manifest: {error}") from None
        size = len(design.cells)
        found: dict[tuple[int, int], Measured] = {}
        for number, game in enumerate(manifest.games):
            if (measured := self._measured(game, bool(manifest.models))) is not None:
                found[number // size, game.cell] = measured
        if not found:
            return None
        players = next(iter(found.values())).players
        named = dict.fromkeys(whose for each in found.values() for _, whose in each.results if whose not in players)
        places = {whose: place for place, whose in enumerate((*players, *named))}
        columns = dict.fromkeys(column for each in found.values() for column in each.results)
        done = {column for each in found.values() for column in each.deeds}
        done |= {(measure, whose) for measure, _ in done for whose in places}
        columns |= dict.fromkeys(sorted(done, key=lambda column: (column[0], places[column[1]])))
        blocks = {block: place for place, block in enumerate(sorted({block for block, _ in found}))}
        values = np.full((len(blocks), size, len(columns)), math.nan)
        for (block, cell), each in found.items():
            row = {**dict.fromkeys(done, 0.0), **each.deeds, **each.results}
            values[blocks[block], cell] = [row.get(column, math.nan) for column in columns]
        seeds = tuple(manifest.games[block * size].seed for block in blocks)
        labels = tuple(named) or players
        games = tuple(found.values())
        return Blocks(design, manifest.design, players, labels, tuple(columns), values, seeds, games)

    def _measured(self, game: _Game, by_model: bool) -> Measured | None:
        if game.name not in self._known:
            try:
                history = load_history(self._directory / f"{game.name}.json")
            except UsageError:
                return None
            if history.status not in FINISHED or history.outcome is None or history.seed != game.seed:
                return None
            found, done = results_of(game.name, history), deeds(history)
            models = {player.id: player.model for player in history.seated}
            if by_model:
                found, done = _by_model(found, models), _by_model(done, models)
            paid = history.paid
            self._known[game.name] = Measured(found, done, tuple(models), paid.calls, paid.cost_usd)
        return self._known[game.name]


def _by_model(measures: Mapping[Column, float], models: Mapping[str, str]) -> dict[Column, float]:
    """The measures of the players, and the means over the seats of each model."""
    seats = Counter(models.values())
    sums: defaultdict[Column, float] = defaultdict(float)
    for (measure, player), value in measures.items():
        sums[measure, models[player]] += value
    return {**measures, **{key: value / seats[key[1]] for key, value in sums.items()}}


def members(blocks: Blocks, factors: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Whose measures an effect of these factors is looked for in: a name, and the players (or models) whose mean it is.

    Those whom the design names; else those whom each of the factors is of, together; else all together and each alone.
    """
    if blocks.record.table.players:
        return [alone(blocks, each) for each in blocks.record.table.players]
    found = []
    for key in factors:
        own = blocks.record.carriers.get(key, ())
        if 0 < len(own) < len(blocks.players):
            found.append((", ".join(own) if len(own) < 4 else f"{own[0]} to {own[-1]}", own))
    if found:
        return list(dict.fromkeys(found))
    return [(EVERYONE, blocks.labels), *((each, (each,)) for each in blocks.labels)]


def alone(blocks: Blocks, player: str) -> tuple[str, tuple[str, ...]]:
    """A player or model by its name, or all players together."""
    return player, blocks.labels if player == EVERYONE else (player,)
