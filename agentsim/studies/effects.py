"""Effects of a design's factors: main effects and the requested interactions, as contrasts within blocks.

The games of a block have one seed and one seating, and each is played in one cell of the design. An effect is the mean
over blocks of a weighted sum over the block's cells, with weights that add up to 0 (R. A. Fisher, The design of
experiments, 1935). Whatever all games of a block have in common cancels, and blocks are independent even if the games
within one are not. The intervals are those of paired differences (`intervals.paired_intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from agentsim.analysis import intervals
from agentsim.analysis.finished_games import RANK, WIN, Column, Measures, game_record, tabled
from agentsim.analysis.in_words import clearest_effect, effect_cell, ends
from agentsim.analysis.intervals import Array, Effect, known, paired_intervals
from agentsim.engine.letters import composed
from agentsim.engine.panel import DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted, listed
from agentsim.errors import UsageError, first_objection
from agentsim.records.load import load_history
from agentsim.records.run_files import MANIFEST, RunFiles
from agentsim.runs.batch.manifest import DesignRecord
from agentsim.studies.designs import EVERYONE, Contrast, Factorial, recorded_design

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
    columns: tuple[Column, ...]
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

    def without(self, measure: str) -> str:
        """Say why a measure has no effect here."""
        valid = list(dict.fromkeys(each for each, _ in self.columns))
        if measure in valid:
            return "of all players together it is the same in every game; name a --player"
        return f"no such measure in these games (valid: {', '.join(valid)})"


class DesignGames:
    """Reader of the finished games in a design's folder, which reads each game once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
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
        design = recorded_design(self._directory, manifest.design)
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


@dataclass(frozen=True)
class DesignEffects:
    """The effects of a batch's design. `blocks` counts the complete blocks, `incomplete` the others.

    `unseen` has the measures of the design without an effect: they are in no game, or the same in all.
    """

    design: str
    aliases: dict[str, list[str]]
    blocks: int
    incomplete: int
    unseen: tuple[str, ...]
    effects: tuple[FactorEffect, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `agentsim report --json` prints."""
        return asdict(self)


def design_effects(directory: Path) -> DesignEffects | None:
    """Return the effects of the design in a batch's folder, or None if it is no such batch or no game is finished."""
    blocks = DesignGames(directory).blocks()
    if blocks is None:
        return None
    found = effects(blocks, measures=blocks.record.table.measures)
    return DesignEffects(
        design=blocks.design.in_words,
        aliases=blocks.design.aliases(),
        blocks=blocks.complete,
        incomplete=len(blocks.seeds) - blocks.complete,
        unseen=tuple(name for name in blocks.record.table.measures if name not in {each.measure for each in found}),
        effects=tuple(found),
    )


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
        FactorEffect(measure, whose, *known(ends[:, at]), contrast.name, contrast.factors, *_spread(differences[:, at]))
        for at, (contrast, measure, whose, _) in enumerate(found)
    ]


def _columns(
    blocks: Blocks, measures: Sequence[str], factors: tuple[str, ...] | None, player: str | None
) -> Iterator[tuple[Contrast, str, str, Array]]:
    """Yield (contrast, measure, name of the players, the contrast's value in each block)."""
    places = {column: place for place, column in enumerate(blocks.columns)}
    wanted = measures or dict.fromkeys(measure for measure, _ in blocks.columns)
    for contrast in blocks.design.contrasts():
        if factors is not None and contrast.factors != factors:
            continue
        whose = members(blocks, contrast.factors)
        if player is not None:
            whose = [each for each in whose if each[0] == player] or [alone(blocks, player)]
        for measure in wanted:
            for name, own in whose:
                columns = [places[measure, each] for each in own if (measure, each) in places]
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
    together = intervals.by_seed(seeds)
    if len(together) == len(seeds):
        return differences
    there = ~np.isnan(differences)
    with np.errstate(invalid="ignore"):
        found: Array = (together @ np.where(there, differences, 0.0)) / (together @ there)
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


def design_panels(found: DesignEffects | None) -> list[Panel]:
    """Return a table of each effect and a plot of each of its measures.

    Interactions of players are in the table only.
    """
    if found is None:
        return []
    shown: list[Panel] = []
    for factors, group in groupby(found.effects, key=lambda each: each.factors):
        name, own = " x ".join(factors), list(group)
        shown.append(_factor(name, own, _INTERVALS if shown else _design_note(found)))
        plotted = dict.fromkeys(each.measure for each in own if not each.measure.endswith(_DEEDS))
        shown += [_plot(name, measure, [each for each in own if each.measure == measure]) for measure in plotted]
    return shown


def _factor(name: str, own: Sequence[FactorEffect], note: str) -> DataTable:
    several = len({each.effect for each in own}) > 1
    rows = []
    for each in own:
        alone = effect_cell(replace(each, mean=round(each.mean, 3)), "+.3f", each.blocks, "block")
        rows.append((each.measure, each.player, each.blocks, alone, ends(each.together, "+.3f")))
    columns = ("measure", "player", "blocks", "effect", "all together")
    whole = name if several else own[0].effect
    known = [(each.effect, each, each.blocks) for each in own]
    said = clearest_effect(known, "In these games", of=whole, unit="block")
    if not several:
        return DataTable(f"Effect of {whole}", columns, tuple(rows), note, sentence=said)
    named = tuple((each.effect, *row) for each, row in zip(own, rows, strict=True))
    return DataTable(f"Effect of {name}", ("", *columns), named, note, sentence=said)


def _plot(name: str, measure: str, own: Sequence[FactorEffect]) -> Estimates:
    several = len({each.effect for each in own}) > 1
    rows = tuple(
        Estimate(f"{each.player}, {each.effect}" if several else each.player, each.mean, each.low, each.high)
        for each in own
    )
    effect = name if several else own[0].effect
    return Estimates(f"{measure}: {effect}", rows, f"effect on {measure}", _INTERVALS)


_INTERVALS = (
    "Intervals of 95% of the mean of the blocks (Student's), for one look, or for a batch that --until-width ended: a "
    "batch that grows because of an effect that was seen has wrong ones."
)


def _design_note(found: DesignEffects) -> str:
    left_out = f" Left out: {counted(found.incomplete, 'block')} without all games." if found.incomplete else ""
    if found.unseen:
        left_out += f" In no game, or the same in all: {listed(found.unseen)}."
    return (
        f"Planned; {found.design}. The games of a block have one seed and one seating, one for each cell; an effect is "
        f"a difference within blocks, averaged over them; below 0 a rank is better. {_INTERVALS} Beside them "
        f"those that hold for all effects of the design together (the greatest |t|).{left_out}"
    )
