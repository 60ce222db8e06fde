"""Effects of a design's factors: main effects and the requested interactions, as contrasts within blocks.

The games of a block have one seed and one seating, and each is played in one cell of the design. An effect is the mean
over blocks of a weighted sum over the block's cells, with weights that add up to 0 (R. A. Fisher, The design of
experiments, 1935). Whatever all games of a block have in common cancels, and blocks are independent even if the games
within one are not. The intervals are those of paired differences (`intervals.paired_intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from agentsim.analysis import intervals
from agentsim.analysis.estimate_text import clearest_effect, effect_cell, ends, written
from agentsim.analysis.finished_games import (
    RANK,
    WIN,
    GameRecord,
    MeasureKey,
    Measures,
    game_record,
    no_such_measure,
    tabled,
)
from agentsim.analysis.intervals import Array, Effect, Interval, estimate_row, paired_intervals
from agentsim.engine.letters import composed
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Forest, Panel
from agentsim.engine.wording import counted, decimals, listed
from agentsim.errors import UsageError, first_objection
from agentsim.games import score_words
from agentsim.lazy import dataclass
from agentsim.records.load import load_history
from agentsim.records.run_files import MANIFEST, RunFiles
from agentsim.runs.batch.manifest import DesignRecord
from agentsim.studies.designs import EVERYONE, Contrast, Factorial, load_design

_DEEDS = (" (done)", " (received)")


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
    """One finished game: its measures by player or model, its calls and its cost."""

    measures: Measures
    game: str
    players: tuple[str, ...]
    calls: int
    cost_usd: float | None


@dataclass(frozen=True)
class Blocks:
    """A batch's design with the blocks that have begun. `values` are blocks by cells by columns, NaN if unknown.

    `seeds` has the seed of each block. `labels` are the players, or the models if these take the players' seats in
    turn.
    """

    design: Factorial
    record: DesignRecord
    players: tuple[str, ...]
    labels: tuple[str, ...]
    columns: tuple[MeasureKey, ...]
    values: Array
    seeds: tuple[int, ...]
    games: tuple[MeasuredGame, ...]

    @property
    def complete(self) -> int:
        """The number of blocks in which every cell has a finished game."""
        return int(np.sum(np.isfinite(self.values).any(axis=2).sum(axis=1) == self.values.shape[1]))

    @property
    def usual(self) -> str:
        """The default measure: win, or the first score if no player is ranked."""
        names = [measure for measure, _ in self.columns]
        return WIN if WIN in names else next(iter(names), WIN)

    @property
    def measures(self) -> list[str]:
        """The measures of the games, results before interactions."""
        return list(dict.fromkeys(measure for measure, _ in self.columns))

    def check(self, measure: str) -> None:
        """Raise `UsageError` if no game has the measure."""
        if measure not in self.measures:
            raise UsageError(f"--measure {no_such_measure(measure, self.measures)}")

    def without(self, measure: str) -> str:
        """Say why a measure has no effect here."""
        if measure in self.measures:
            return f"{measure}: of all players together it is the same in every game; name a --player"
        return no_such_measure(measure, self.measures)


class DesignGames:
    """Reader of the finished games in a design's folder, which reads each game once.

    `records` are those of games that have been read already.
    """

    def __init__(self, directory: Path, records: Iterable[GameRecord] = ()) -> None:
        self._directory = directory
        self._records = {record.name: record for record in records}
        self._known: dict[str, MeasuredGame] = {}

    def blocks(self) -> Blocks | None:
        """Return the games that are finished by now, or None if there are none or the folder is not a design's batch.

        Raises `UsageError` if the manifest is invalid.
        """
        path = self._directory / MANIFEST
        if not path.is_file() or b'"design"' not in (text := path.read_bytes()):
            return None
        try:
            manifest = _Manifest.model_validate_json(text)
        except ValidationError as error:
            raise UsageError(f"{path}: is not a batch's manifest: {': '.join(first_objection(error))}") from None
        design = load_design(self._directory, manifest.design)
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
        blocks = {block: index for index, block in enumerate(sorted({block for block, _ in found}))}
        values = np.full((len(blocks), size, len(columns)), math.nan)
        for (block, cell), row in zip(found, rows, strict=True):
            values[blocks[block], cell] = row
        seeds = tuple(manifest.games[block * size].seed for block in blocks)
        labels = tuple(named) or players
        games = tuple(found.values())
        return Blocks(design, manifest.design, players, labels, columns, values, seeds, games)

    def _measured(self, game: _Game, by_model: bool) -> MeasuredGame | None:
        if game.name not in self._known:
            record = self._records.get(game.name) or self._read(game.name)
            if record is None or record.seed != game.seed:
                return None
            models = {entrant.player: entrant.model for entrant in record.entrants}
            found = Measures.of(record)
            found = found.with_models(models) if by_model else found
            self._known[game.name] = MeasuredGame(found, record.game, tuple(models), record.calls, record.cost_usd)
        return self._known[game.name]

    def _read(self, name: str) -> GameRecord | None:
        try:
            return game_record(name, load_history(RunFiles(self._directory, name).history))
        except UsageError:
            return None


def members(blocks: Blocks, factors: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the players for whom an effect of these factors is estimated, as (name, players or models to average).

    They are the players that the design names; else, for each factor that belongs to some of the players, those
    together; else all together and each alone.
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
    """Return (name, labels) of a player or model, or of all players together."""
    return player, blocks.labels if player == EVERYONE else (player,)


@dataclass(frozen=True, slots=True)
class FactorEffect(Effect):
    """The effect of a factor's level on one measure of a player or model: the mean over `blocks` of the contrast.

    `sd` is the standard deviation of the contrast between blocks, `freedom` its degrees of freedom (see `freedom_of`).
    """

    effect: str
    factors: tuple[str, ...]
    blocks: int
    sd: float | None
    freedom: float | None


@dataclass(frozen=True, slots=True)
class CellMean:
    """The mean of a measure of a player or model over the games of one cell; `levels` has a label by factor."""

    measure: str
    player: str
    cell: int
    levels: dict[str, str]
    games: int
    mean: Interval


@dataclass(frozen=True)
class DesignEffects:
    """The effects of a batch's design. `blocks` counts the complete blocks, `incomplete` the others.

    `unseen` has the measures of the design without an effect: they are in no game, or the same in all. `names` are
    those of the factors, by key, `labels` those of the levels of each cell. `main` has the measures and players that a
    report begins with; they are `planned` unless the caller asked for measures that the design does not name.
    """

    game: str
    design: str
    aliases: dict[str, list[str]]
    names: dict[str, str]
    labels: tuple[tuple[str, ...], ...]
    blocks: int
    incomplete: int
    unseen: tuple[str, ...]
    effects: tuple[FactorEffect, ...]
    cells: tuple[CellMean, ...]
    main: tuple[MeasureKey, ...]
    planned: bool

    @property
    def shown(self) -> list[FactorEffect]:
        """The effects on the main measures."""
        return [each for each in self.effects if (each.measure, each.player) in self.main]

    @property
    def with_game_words(self) -> DesignEffects:
        """These effects with the names of scores in the game's words."""
        label = score_words(self.game).label
        return replace(
            self,
            effects=tuple(replace(each, measure=label(each.measure)) for each in self.effects),
            cells=tuple(replace(each, measure=label(each.measure)) for each in self.cells),
            main=tuple((label(measure), player) for measure, player in self.main),
        )

    def to_json(self) -> dict[str, Any]:
        """Return what `agentsim report --json` prints."""
        return asdict(self)


def design_effects(
    directory: Path, measures: Sequence[str] = (), records: Iterable[GameRecord] = ()
) -> DesignEffects | None:
    """Return the effects of the design in a batch's folder, or None if it is no such batch or no game is finished.

    `measures` take the place of the design's; `records` are those of games that have been read already. Raises
    `UsageError` if one of them is in no game.
    """
    blocks = DesignGames(directory, records).blocks()
    if blocks is None:
        return None
    for measure in measures:
        blocks.check(measure)
    own = blocks.record.table.measures
    asked = tuple(measures) or own
    found = effects(blocks, measures=asked)
    main = main_columns(blocks, found, measured=bool(asked))
    return DesignEffects(
        game=blocks.games[0].game,
        design=blocks.design.in_words,
        aliases=blocks.design.aliases(),
        names=blocks.design.names,
        labels=tuple(map(blocks.design.cell_labels, range(len(blocks.design.cells)))),
        blocks=blocks.complete,
        incomplete=len(blocks.seeds) - blocks.complete,
        unseen=tuple(name for name in asked if name not in {each.measure for each in found}),
        effects=tuple(found),
        cells=tuple(cell_means(blocks, main)),
        main=main,
        planned=not own or set(asked) <= {*own},
    )


def main_columns(blocks: Blocks, found: Sequence[FactorEffect], *, measured: bool) -> tuple[MeasureKey, ...]:
    """Return the measures and players of the effects that a report begins with.

    They are those that the design names. Without `measured`, which says that measures are named, interactions between
    players are left out; without players, so is each player alone of a measure that has a mean of all.
    """
    columns = list(dict.fromkeys((each.measure, each.player) for each in found))
    if not measured:
        columns = [column for column in columns if not column[0].endswith(_DEEDS)] or columns
    if blocks.record.table.players:
        return tuple(columns)
    first = {members(blocks, (key,))[0][0] for key in blocks.design.factors}
    models = set(blocks.labels) - set(blocks.players)
    kept = [column for column in columns if column[1] in first | models]
    if measured:
        missing = {measure for measure, _ in columns} - {measure for measure, _ in kept}
        kept = [column for column in columns if column in kept or column[0] in missing]
    return tuple(kept or columns)


def cell_means(blocks: Blocks, columns: Sequence[MeasureKey]) -> Iterator[CellMean]:
    """Yield the mean of each column in each cell, with the interval of the mean of a condition."""
    whose = {name: own for effect in blocks.design.contrasts() for name, own in members(blocks, effect.factors)}
    index_of = {column: index for index, column in enumerate(blocks.columns)}
    membership = intervals.clusters(blocks.seeds)
    for cell, (measure, player) in product(range(len(blocks.design.cells)), columns):
        own = [index_of[measure, each] for each in whose[player] if (measure, each) in index_of]
        values = blocks.values[:, cell, own].mean(axis=1)
        there = ~np.isnan(values)
        if not there.any():
            continue
        sums, counts = np.where(there, values, 0.0)[:, None], there.astype(np.float64)[:, None]
        centre, within = (0.5, (0.0, 1.0)) if measure == WIN else (None, (-math.inf, math.inf))
        (ends,) = intervals.ratio_intervals(membership @ sums, membership @ counts, centre=centre, within=within)
        mean = intervals.interval(float(sums.sum() / counts.sum()), ends)
        levels = dict(zip(blocks.design.names.values(), blocks.design.cell_labels(cell), strict=True))
        yield CellMean(measure, player, cell, levels, int(there.sum()), mean)


def effects(
    blocks: Blocks,
    *,
    measures: Sequence[str] = (),
    factor: str | None = None,
    player: str | None = None,
) -> list[FactorEffect]:
    """Return the effects, limited to these measures, this factor (see `Factorial.effect`) and this player or model.

    A measure that is in no game has no effect. Nor has rank or win of all players together, which is always the same.
    Raises `UsageError` if the player is in no game.
    """
    player = None if player is None else composed(player)
    if player not in {None, EVERYONE, *blocks.players, *blocks.labels}:
        raise UsageError(f"{player}: plays in no game (valid: {', '.join((*blocks.players, EVERYONE))})")
    found = list(_columns(blocks, measures, blocks.design.effect(factor), player))
    if not found:
        return []
    differences = by_seed(np.stack([values for *_, values in found], axis=1), blocks.seeds)
    ends = paired_intervals(differences)
    return [
        FactorEffect(
            measure, whose, *estimate_row(ends[:, at]), contrast.name, contrast.factors, *_spread(differences[:, at])
        )
        for at, (contrast, measure, whose, _) in enumerate(found)
    ]


def _columns(
    blocks: Blocks, measures: Sequence[str], factors: tuple[str, ...] | None, player: str | None
) -> Iterator[tuple[Contrast, str, str, Array]]:
    """Yield (contrast, measure, name of the players, the contrast's value in each block)."""
    index_of = {column: index for index, column in enumerate(blocks.columns)}
    wanted = measures or dict.fromkeys(measure for measure, _ in blocks.columns)
    for contrast in blocks.design.contrasts():
        if factors is not None and contrast.factors != factors:
            continue
        whose = members(blocks, contrast.factors)
        if player is not None:
            whose = [each for each in whose if each[0] == player] or [alone(blocks, player)]
        for measure in wanted:
            for name, own in whose:
                columns = [index_of[measure, each] for each in own if (measure, each) in index_of]
                # rank and win are constant over all players together
                if columns and not (name == EVERYONE and measure in {RANK, WIN}):
                    values = blocks.values[:, :, columns].mean(axis=2)
                    yield contrast, measure, name, contrast_of(values, contrast)


def contrast_of(values: Array, contrast: Contrast) -> Array:
    """Return the contrast of each block from values that are blocks by cells (by anything).

    NaN if a cell is missing.
    """
    weights = np.array(contrast.weights)
    used = weights != 0
    found: Array = np.tensordot(weights[used], values[:, used], axes=(0, 1))
    return found


def by_seed(differences: Array, seeds: Sequence[int]) -> Array:
    """Return the means over the blocks of one seed, which share their luck. NaN if no block of it is complete."""
    membership = intervals.by_seed(seeds)
    if len(membership) == len(seeds):
        return differences
    there = ~np.isnan(differences)
    with np.errstate(invalid="ignore"):
        found: Array = (membership @ np.where(there, differences, 0.0)) / (membership @ there)
    return found


def freedom_of(values: Array) -> float:
    """Return the degrees of freedom of the chi-square that has the mean and the variance of a sample's variance.

    They are 2 n / (k - (n - 3) / (n - 1)) for n values with the kurtosis k (B. O'Neill, Some useful moment results in
    sampling problems, American Statistician 68, 2014): n - 1 for normal values, fewer if the tails are long.
    """
    number, centred = len(values), values - values.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return 2 * number / (kurtosis - (number - 3) / (number - 1))


def _spread(differences: Array) -> tuple[int, float | None, float | None]:
    """Return (blocks, sd, freedom)."""
    there = differences[~np.isnan(differences)]
    sd = float(there.std(ddof=1)) if len(there) > 1 else None
    if sd is not None and sd < 1e-9 * max(1.0, float(np.abs(there).max())):  # a rounding error of 0
        sd = 0.0
    return len(there), sd, freedom_of(there) if sd else None


def design_panels(found: DesignEffects) -> list[Panel]:
    """Return the main effects as a table, the cell means, and a forest plot of the same effects."""
    found = found.with_game_words
    rows = found.shown
    if not rows:
        return [DataTable(_title(found), ("effect",), (), _design_note(found))]
    digits, alone = _digits(found), len({each.player for each in rows}) == 1
    cells = []
    for each in rows:
        form = f"+.{digits[each.measure]}f"
        shown = replace(each, mean=round(each.mean, digits[each.measure]))
        own = (effect_cell(shown, form, each.blocks, "block"), ends(each.simultaneous, form))
        cells.append((each.effect, each.measure, *(() if alone else (each.player,)), *own))
    columns = ("effect", "measure", *(() if alone else ("player",)), "estimate (95% interval)", "simultaneous")
    known = [(each.effect, each, each.blocks) for each in found.effects]
    said = clearest_effect(known, "In these games", of="any factor", unit="block")
    groups = tuple(
        Estimates(
            f"{measure} of {player}",
            tuple(Estimate(each.effect, each.mean, each.low, each.high) for each in group),
            measure,
        )
        for (measure, player), group in _by_column(rows).items()
    )
    return [
        DataTable(
            _title(found), columns, tuple(cells), _design_note(found, rows[0].player if alone else ""), sentence=said
        ),
        *_cell_tables(found, digits),
        Forest("Forest plot", groups, "Effects with 95% intervals; right of the line the first-named level is higher."),
    ]


CELLS = "Cell means"


def _title(found: DesignEffects) -> str:
    return "Planned effects" if found.planned else "Effects"


def all_effects(found: DesignEffects) -> list[Panel]:
    """Return a table of every effect that `design_panels` leaves out, by factor."""
    shown: list[Panel] = []
    found = found.with_game_words
    left = [each for each in found.effects if (each.measure, each.player) not in found.main]
    for factors, group in groupby(left, key=lambda each: each.factors):
        own = list(group)
        rows = []
        for each in own:
            alone = effect_cell(replace(each, mean=round(each.mean, 3)), "+.3f", each.blocks, "block")
            rows.append((each.effect, each.measure, each.player, each.blocks, alone, ends(each.simultaneous, "+.3f")))
        columns = ("effect", "measure", "player", "blocks", "estimate (95% interval)", "simultaneous")
        title = f"Further effects of {' x '.join(found.names[key] for key in factors)}"
        shown.append(DataTable(title, columns, tuple(rows), _INTERVALS))
    return shown


def _by_column(rows: Sequence[FactorEffect]) -> dict[MeasureKey, list[FactorEffect]]:
    found: dict[MeasureKey, list[FactorEffect]] = {}
    for each in rows:
        found.setdefault((each.measure, each.player), []).append(each)
    return found


def _cell_tables(found: DesignEffects, digits: Mapping[str, int]) -> Iterator[DataTable]:
    """Yield tables with a row for each cell and a column for each measure, at most `_MOST_MEANS` in each."""
    by_cell: dict[int, dict[MeasureKey, CellMean]] = {}
    for each in found.cells:
        by_cell.setdefault(each.cell, {})[each.measure, each.player] = each
    columns = list(found.main)
    tables = [columns[at : at + _MOST_MEANS] for at in range(0, len(columns), _MOST_MEANS)]
    for number, shown in enumerate(tables, start=1):
        rows: list[tuple[Cell, ...]] = []
        for means in by_cell.values():
            own = [means[column] for column in shown if column in means]
            if not own:
                continue
            values = (written(means[c].mean, f".{digits[c[0]]}f") if c in means else None for c in shown)
            rows.append((*own[0].levels.values(), max(each.games for each in own), *values))
        heads = (*found.names.values(), "games", *(f"{measure} of {player}" for measure, player in shown))
        title = f"{CELLS} ({number} of {len(tables)})" if len(tables) > 1 else CELLS
        note = "Means of the games of a cell with 95% intervals (cluster jackknife)." if number == 1 else ""
        yield DataTable(title, heads, tuple(rows), note)


def _digits(found: DesignEffects) -> dict[str, int]:
    """Return the decimals of each measure, by which its widest half interval keeps two significant digits."""
    widest: dict[str, float] = {}
    for measure, interval in (
        *((each.measure, each.pointwise) for each in found.effects),
        *((each.measure, each.mean) for each in found.cells),
    ):
        half = interval.width / 2 if math.isfinite(interval.width) else 0.0
        widest[measure] = max(widest.get(measure, 0.0), half)
    return {measure: decimals(half) for measure, half in widest.items()}


_MOST_MEANS = 3
_INTERVALS = (
    "Intervals of 95% of the mean of the blocks (Student's), for one look, or for a batch that --until-width ended."
)


def _design_note(found: DesignEffects, player: str = "") -> str:
    blocks = counted(found.blocks, "complete block")
    left_out = f" Left out: {counted(found.incomplete, 'block')} without all games." if found.incomplete else ""
    if found.unseen:
        left_out += f" In no game, or the same in all: {listed(found.unseen)}."
    whose = f"Measures of {player}. " if player else ""
    return (
        f"{whose}Differences within {blocks} ({found.design}); below 0 a rank is better. {_INTERVALS} Simultaneous "
        f"ones hold for all {counted(len(found.effects), 'effect')} of the design together.{left_out}"
    )
