"""Effects of a design's factors, and how many blocks it takes to find one.

Main effects and the asked-for interactions are contrasts within blocks. The games of a block have one seed and one
seating, and each is played in one cell of the design. An effect is the mean over blocks of a sum over the block's cells
with weights that add up to 0 (R. A. Fisher, The design of experiments, 1935): what a block's games have in common drops
out, and blocks are independent whatever depends on what within. The intervals are those of paired differences
(`paired`), and where a batch may have ended early a confidence sequence.

An effect is found where Student's interval of 95% leaves out 0. With the true standard deviation S of a block's
contrast, N blocks and an effect D this has the chance P(|T| > t), T noncentral with sqrt(N) D / S. The pilot's s is not
S: over pilots with f degrees of freedom, the chance that N blocks give is that of a noncentral t with f degrees of
freedom and noncentrality t to be below sqrt(N) D / s, and N is chosen so that this is the power promised (S. A. Julious
and R. J. Owen, Sample size calculations for clinical studies allowing for uncertainty about the variance,
Pharmaceutical Statistics 5, 2006). f is that of the pilot's variance as it spreads (`freedom_of`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import nctdtr, stdtrit

from agentsim.analysis import inference
from agentsim.analysis.finished_games import RANK, WIN, Blocks, DesignGames, alone, members
from agentsim.analysis.inference import FEWEST, UPPER, Array
from agentsim.analysis.paired import POWER, Effect, confidence_sequence, fewest, known, paired_intervals
from agentsim.errors import UsageError
from agentsim.scenario.factorial import EVERYONE, Contrast, Factorial


@dataclass(frozen=True, slots=True)
class FactorEffect(Effect):
    """What a factor's level does to one measure, by player or model: the mean over `blocks` of the contrast.

    `sd` is the standard deviation of the contrast between blocks, `freedom` how well it is known (see `freedom_of`).
    """

    effect: str
    factors: tuple[str, ...]
    blocks: int
    sd: float | None
    freedom: float | None


@dataclass(frozen=True)
class DesignEffects:
    """The effects of a batch's design: `blocks` are those with all their games, `incomplete` have some.
    `unseen` are the measures of the design that have no effect here: they are in no game, or the same in all.

    `anytime` says that the intervals are those of a confidence sequence.
    """

    design: str
    aliases: dict[str, list[str]]
    anytime: bool
    blocks: int
    incomplete: int
    unseen: tuple[str, ...]
    effects: tuple[FactorEffect, ...]

    def to_json(self) -> dict[str, Any]:
        """As `agentsim report --json` prints it."""
        return asdict(self)


def design_effects(directory: Path) -> DesignEffects | None:
    """The effects of the design of a batch's folder; None where it is no such batch, or no game is finished."""
    blocks = DesignGames(directory).blocks()
    if blocks is None:
        return None
    anytime = blocks.record.until is not None
    found = effects(blocks, measures=blocks.record.table.measures, anytime=anytime)
    return DesignEffects(
        design=blocks.design.in_words,
        aliases=blocks.design.aliases(),
        anytime=anytime,
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
    anytime: bool = False,
) -> list[FactorEffect]:
    """The effects, or those of these measures, this factor (see `Factorial.effect`) and this player or model.

    A measure that is in no game has none, nor has that of all players together which is always the same (rank, win).
    `UsageError` where the player is in no game.
    """
    if player not in {None, EVERYONE, *blocks.players, *blocks.labels}:
        raise UsageError(f"{player}: plays in no game (valid: {', '.join((*blocks.players, EVERYONE))})")
    found = list(_columns(blocks, measures, blocks.design.effect(factor), player))
    if not found:
        return []
    differences = by_seed(np.stack([values for *_, values in found], axis=1), blocks.seeds)
    ends = confidence_sequence(differences) if anytime else paired_intervals(differences)
    return [
        FactorEffect(measure, whose, *known(ends[:, at]), contrast.name, contrast.factors, *_spread(differences[:, at]))
        for at, (contrast, measure, whose, _) in enumerate(found)
    ]


def _columns(
    blocks: Blocks, measures: Sequence[str], factors: tuple[str, ...] | None, player: str | None
) -> Iterator[tuple[Contrast, str, str, Array]]:
    """Contrast, measure, whose, and the contrast of each block."""
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
                # of all players together rank and win are always the same
                if columns and not (name == EVERYONE and measure in {RANK, WIN}):
                    values = blocks.values[:, :, columns].mean(axis=2)
                    yield contrast, measure, name, contrast_of(values, contrast)


def contrast_of(values: Array, contrast: Contrast) -> Array:
    """The contrast of each block, from values that are blocks by cells (by anything); NaN where a cell is missing."""
    weights = np.array(contrast.weights)
    used = weights != 0
    found: Array = np.tensordot(weights[used], values[:, used], axes=(0, 1))
    return found


def by_seed(differences: Array, seeds: Sequence[int]) -> Array:
    """The means over the blocks of one seed, which share their luck; NaN where no block of it is complete."""
    together = inference.by_seed(seeds)
    if len(together) == len(seeds):
        return differences
    there = ~np.isnan(differences)
    with np.errstate(invalid="ignore"):
        found: Array = (together @ np.where(there, differences, 0.0)) / (together @ there)
    return found


def freedom_of(values: Array) -> float:
    """The degrees of freedom of the chi-square that has the mean and the variance of a sample's variance.

    2 n / (k - (n - 3) / (n - 1)) of n values with the kurtosis k (B. O'Neill, Some useful moment results in sampling
    problems, American Statistician 68, 2014): n - 1 of normal ones, fewer where the tails are long.
    """
    number, centred = len(values), values - values.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return 2 * number / (kurtosis - (number - 3) / (number - 1))


def _spread(differences: Array) -> tuple[int, float | None, float | None]:
    """blocks, sd, freedom."""
    there = differences[~np.isnan(differences)]
    sd = float(there.std(ddof=1)) if len(there) > 1 else None
    if sd is not None and sd < 1e-9 * max(1.0, float(np.abs(there).max())):  # what rounding leaves of no difference
        sd = 0.0
    return len(there), sd, freedom_of(there) if sd else None


PILOT = 20
"""Blocks of a pilot for which the promised power is kept within 4 points, whatever the measure's distribution."""
_MOST_BLOCKS = 10_000_000


@dataclass(frozen=True, slots=True)
class Needed:
    """What it takes to find one effect; `pilot` is the pilot's, `power` that of the blocks that are planned.

    `blocks` and what follows are None where the pilot's blocks were all the same. `cost_usd` and `calls` are those of
    `games` games that are like the pilot's; dollars are None where a price is unknown.
    """

    pilot: FactorEffect
    blocks: int | None = None
    games: int | None = None
    calls: int | None = None
    cost_usd: float | None = None
    power: float | None = None


@dataclass(frozen=True)
class Plan:
    """How many blocks each effect needs to be found in the `size` given; `pilot` blocks say how the games spread."""

    design: str
    size: float
    pilot: int
    cells: int
    planned: int | None
    needed: tuple[Needed, ...]

    def to_json(self) -> dict[str, Any]:
        """As `agentsim plan --json` prints it."""
        return asdict(self)


def plan(
    design: Factorial,
    pilot: Path,
    *,
    size: float,
    measure: str | None = None,
    factor: str | None = None,
    player: str | None = None,
) -> Plan:
    """What a design needs, by a pilot of the same design in a folder; `UsageError` where it is no such one."""
    if not (math.isfinite(size) and size > 0):
        raise UsageError(f"--effect: must be a number above 0, found {size}")
    found = DesignGames(pilot).blocks()
    if found is None:
        raise UsageError(f"{pilot}: holds no finished games of a design; `agentsim batch --design` plays a pilot")
    if (found.design.table.factors, found.design.cells) != (design.table.factors, design.cells):
        raise UsageError(f"{pilot}: is of another design: factors, levels and fraction must be the same")
    if found.complete < FEWEST:
        raise UsageError(f"{pilot}: has {found.complete} complete blocks: a pilot needs {FEWEST}, and better {PILOT}")
    asked = replace(found, design=design, record=found.record.model_copy(update={"table": design.table}))
    rows = len(found.seeds) / len(set(found.seeds))  # of a paired batch several blocks have one seed
    calls = sum(each.calls for each in found.games) / len(found.games)
    costs = [each.cost_usd for each in found.games]
    cost = None if None in costs else sum(each or 0.0 for each in costs) / len(costs)
    times, needed = design.table.replicates, []
    measure = measure or found.usual
    planned = effects(asked, measures=(measure,), factor=factor, player=player)
    if not planned:
        raise UsageError(f"{measure}: {found.without(measure)}")
    for each in planned:
        if not each.sd or not each.freedom:
            needed.append(Needed(each))
            continue
        blocks = math.ceil(rows * blocks_needed(size, each.sd, each.freedom))
        games = blocks * len(design.cells)
        power = None if times is None else power_of(int(times / rows), size, each.sd, each.freedom)
        dollars = None if cost is None else cost * games
        needed.append(Needed(each, blocks, games, round(calls * games), dollars, power))
    return Plan(design.in_words, size, found.complete, len(design.cells), times, tuple(needed))


def power_of(blocks: int, size: float, sd: float, freedom: float) -> float:
    """The chance that so many blocks find an effect, over what a pilot with these degrees of freedom leaves open."""
    if blocks < 2:
        return 0.0
    found: float = nctdtr(freedom, stdtrit(blocks - 1, UPPER), math.sqrt(blocks) * size / sd)
    return found


def blocks_needed(size: float, sd: float, freedom: float) -> int:
    """The fewest blocks with a power of 80%; `sd` is the pilot's, with these degrees of freedom."""
    found = fewest(lambda number: power_of(number, size, sd, freedom) >= POWER, FEWEST - 1, _MOST_BLOCKS)
    if found is None:
        raise UsageError(f"--effect {size:g}: needs more than {_MOST_BLOCKS:,} blocks")
    return found
