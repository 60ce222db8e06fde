"""Finished games of folders: their records, what is measured in them by player, and a design's games as blocks.

Measures are rank, win, scores of the outcome, deeds. The effects of a design's factors are `design_effects`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from agentsim.analysis.game_records import Column, GameRecord, game_record
from agentsim.analysis.inference import Array
from agentsim.errors import ScenarioError, UsageError, first_objection
from agentsim.history.load import load_history, parsed, read, runs_with_history
from agentsim.history.record import History
from agentsim.history.run_files import MANIFEST, RunFiles
from agentsim.scenario.factorial import EVERYONE, DesignRecord, Factorial

RANK, WIN = "rank", "win"


def histories(directory: Path, holding: bytes = b"") -> Iterator[tuple[str, History | UsageError]]:
    """By name, each history in a folder whose file holds these bytes, or why it cannot be read."""
    for files in runs_with_history(directory):
        path = files.history
        try:
            raw = read(path)
            if holding in raw:
                yield files.name, parsed(raw, path)
        except UsageError as error:
            yield files.name, error


@dataclass(frozen=True)
class Games:
    """The games that can be compared, in the order of their names; by name, why others cannot.

    `copies` has games of bots that repeat another game, by name, and that game's name: they are no further evidence.
    """

    games: tuple[GameRecord, ...]
    skipped: Mapping[str, str]
    copies: Mapping[str, str] = field(default_factory=dict)


def read_games(*directories: Path) -> Games:
    """The games of some folders; `UsageError` where one holds none that is finished.

    Of several folders games are called `folder/name`. Copies are looked for in each folder by itself.
    """
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    if twice := [path for path in directories if directories.count(path) > 1]:
        raise UsageError(f"{twice[0]}: is given twice")
    names = [path.resolve().name for path in directories]
    for directory, name in zip(directories, names, strict=True):
        called = name if names.count(name) == 1 else str(directory)
        before = f"{called}/" if len(directories) > 1 else ""
        one = _read(directory)
        skipped |= {f"{before}{name}": why for name, why in one.skipped.items()}
        copies |= {f"{before}{name}": f"{before}{other}" for name, other in one.copies.items()}
        for game in one.games:
            parent = None if game.parent is None else f"{before}{game.parent}"
            found.append(replace(game, name=f"{before}{game.name}", parent=parent, folder=called))
    return Games(tuple(found), skipped, copies)


def _read(directory: Path) -> Games:
    if not directory.is_dir():
        raise UsageError(f"{directory}: is not a directory")
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, history in histories(directory):
        record = None if isinstance(history, UsageError) else game_record(name, history)
        if record is None:
            skipped[name] = str(history) if isinstance(history, UsageError) else "is not finished"
        elif len({entrant.player for entrant in record.entrants}) < max(1, len(record.entrants)):
            skipped[name] = "does not name each player once"
        elif record.certain is not None and first.setdefault(record.certain, record.name) != record.name:
            copies[record.name] = first[record.certain]
        else:
            found.append(record)
    if not found:
        because = next((f" ({name}: {why})" for name, why in skipped.items()), "")
        raise UsageError(f"{directory}: holds no finished game{because}")
    known = (replace(each, parent=copies.get(each.parent, each.parent)) if each.parent else each for each in found)
    return Games(tuple(known), skipped, copies)


def without_branches(games: Sequence[GameRecord]) -> list[GameRecord]:
    """The games without branches of other games here: a branch repeats its parent's past, which would count twice."""
    by_name = {game.name: game for game in games}

    def repeats(game: GameRecord) -> bool:
        seen: set[str] = set()
        last = game
        while last.parent in by_name and last.name not in seen:
            seen.add(last.name)
            last = by_name[last.parent]
        return last.name != game.name  # two runs that name each other as parent are none's branch

    return [game for game in games if not repeats(game)]


@dataclass(frozen=True, slots=True)
class Measures:
    """By measure and player: what the outcome gives, and deeds; a deed that is absent was not done."""

    results: Mapping[Column, float]
    deeds: Mapping[Column, float]

    @classmethod
    def of(cls, game: GameRecord) -> Measures:
        """By measure, then by player in the order of the table; no ranks and wins where no player is ranked."""
        places = list(zip(game.entrants, game.wins, strict=True)) if game.ranked else []
        results = {(RANK, each.player): each.rank for each, _ in places}
        results |= {(WIN, each.player): win for each, win in places}
        for measure in dict.fromkeys(measure for each in game.entrants for measure in each.scores):
            own = (each for each in game.entrants if measure in each.scores)
            results |= {(measure, each.player): each.scores[measure] for each in own}
        return cls(results, game.deeds)

    def with_models(self, models: Mapping[str, str]) -> Measures:
        """The same, and behind it the means over the seats of each model, which are given by player."""
        return Measures(_with_means(self.results, models), _with_means(self.deeds, models))


def _with_means(measures: Mapping[Column, float], models: Mapping[str, str]) -> dict[Column, float]:
    seats = Counter(models.values())
    sums: defaultdict[Column, float] = defaultdict(float)
    for (measure, player), value in measures.items():
        sums[measure, models[player]] += value
    return {**measures, **{key: value / seats[key[1]] for key, value in sums.items()}}


def tabled(games: Sequence[Measures], *, everyone: bool = False) -> tuple[tuple[Column, ...], list[list[float]]]:
    """The columns of these games, results before deeds, and their values by game.

    A score that is not there is NaN, a deed 0. With `everyone` each deed has a column for all who have results.
    """
    results = dict.fromkeys(column for game in games for column in game.results)
    places = {whose: place for place, whose in enumerate(dict.fromkeys(whose for _, whose in results))}
    done = {column for game in games for column in game.deeds}
    if everyone:
        done = {(deed, whose) for deed, _ in done for whose in places}
    deeds = sorted(done, key=lambda column: (column[0], places[column[1]]))
    rows = [
        [*(each.results.get(c, math.nan) for c in results), *(each.deeds.get(c, 0.0) for c in deeds)] for each in games
    ]
    return (*results, *deeds), rows


class _Game(BaseModel):
    name: str
    seed: int
    cell: int = 0


class _Manifest(BaseModel):
    models: tuple[str, ...]
    games: tuple[_Game, ...]
    design: DesignRecord


@dataclass(frozen=True, slots=True)
class MeasuredGame:
    """One finished game: what is measured by player or model, and what it cost."""

    measures: Measures
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
    games: tuple[MeasuredGame, ...]

    @property
    def complete(self) -> int:
        """Blocks in which every cell has a finished game."""
        return int(np.sum(np.isfinite(self.values).any(axis=2).sum(axis=1) == self.values.shape[1]))

    @property
    def usual(self) -> str:
        """The measure that is meant where none is named: win, or the first score where no player is ranked."""
        names = [measure for measure, _ in self.columns]
        return WIN if WIN in names else next(iter(names), WIN)

    def without(self, measure: str) -> str:
        """Why a measure has no effect here, in words."""
        valid = list(dict.fromkeys(each for each, _ in self.columns))
        if measure in valid:
            return "of all players together it is the same in every game; name a --player"
        return f"no such measure in these games (valid: {', '.join(valid)})"


class DesignGames:
    """Reads the finished games of a design's folder; each of them once, however often it is asked."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[str, MeasuredGame] = {}

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
        found: dict[tuple[int, int], MeasuredGame] = {}
        for number, game in enumerate(manifest.games):
            if (measured := self._measured(game, bool(manifest.models))) is not None:
                found[number // size, game.cell] = measured
        if not found:
            return None
        players = next(iter(found.values())).players
        columns, rows = tabled([each.measures for each in found.values()], everyone=True)
        named = dict.fromkeys(whose for _, whose in columns if whose not in players)
        blocks = {block: place for place, block in enumerate(sorted({block for block, _ in found}))}
        values = np.full((len(blocks), size, len(columns)), math.nan)
        for (block, cell), row in zip(found, rows, strict=True):
            values[blocks[block], cell] = row
        seeds = tuple(manifest.games[block * size].seed for block in blocks)
        labels = tuple(named) or players
        games = tuple(found.values())
        return Blocks(design, manifest.design, players, labels, columns, values, seeds, games)

    def _measured(self, game: _Game, by_model: bool) -> MeasuredGame | None:
        if game.name not in self._known:
            try:
                history = load_history(RunFiles(self._directory, game.name).history)
            except UsageError:
                return None
            record = game_record(game.name, history)
            if record is None or record.seed != game.seed:
                return None
            models = {entrant.player: entrant.model for entrant in record.entrants}
            found, paid = Measures.of(record), history.paid
            found = found.with_models(models) if by_model else found
            self._known[game.name] = MeasuredGame(found, tuple(models), paid.calls, paid.cost_usd)
        return self._known[game.name]


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
