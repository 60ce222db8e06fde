"""Effects of a design's factors: main effects and the asked-for interactions, as contrasts within blocks.

The games of a block have one seed and one seating, and each is played in one cell of the design. An effect is the mean
over blocks of a sum over the block's cells with weights that add up to 0 (R. A. Fisher, The design of experiments,
1935): what a block's games have in common drops out, and blocks are independent whatever depends on what within. The
intervals are those of paired differences (`arms.paired_intervals`). Where a batch may have ended early they are a
confidence sequence, which holds at all times together (`confidence_sequence`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentsim.analysis.arms import paired_intervals
from agentsim.analysis.design_records import Blocks, DesignGames, alone, members
from agentsim.analysis.inference import Array
from agentsim.errors import UsageError
from agentsim.scenario.factorial import EVERYONE, Contrast

ALPHA = 0.05
TIGHTEST = 50
"""The number of blocks at which a confidence sequence is narrowest for its number."""
FEWEST_SEEN = 20
"""Fewer blocks give no confidence sequence, which is an asymptotic one."""


@dataclass(frozen=True, slots=True)
class FactorEffect:
    """What a factor's level does to one measure, by player or model: the mean over `blocks` of the contrast.

    `low` and `high` end the interval of 95% of this effect alone, `low_adj` and `high_adj` that which holds for all
    effects of the report together. They are None of too few blocks, and where all blocks give the same. `sd` is the
    standard deviation of the contrast between blocks, `freedom` how well it is known (see `freedom_of`).
    """

    effect: str
    factors: tuple[str, ...]
    measure: str
    player: str
    mean: float
    low: float | None
    high: float | None
    low_adj: float | None
    high_adj: float | None
    blocks: int
    sd: float | None
    freedom: float | None

    @property
    def width(self) -> float:
        """That of the interval; infinite where there is none."""
        return math.inf if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True)
class DesignEffects:
    """The effects of a batch's design: `blocks` are those with all their games, `incomplete` have some.

    `anytime` says that the intervals are those of a confidence sequence.
    """

    design: str
    aliases: dict[str, list[str]]
    anytime: bool
    blocks: int
    incomplete: int
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
    return DesignEffects(
        design=blocks.design.in_words,
        aliases=blocks.design.aliases(),
        anytime=anytime,
        blocks=blocks.complete,
        incomplete=len(blocks.seeds) - blocks.complete,
        effects=tuple(effects(blocks, measures=blocks.record.table.measures, anytime=anytime)),
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

    `UsageError` where a measure, or the player, is in no game.
    """
    if player not in {None, EVERYONE, *blocks.players, *blocks.labels}:
        raise UsageError(f"{player}: plays in no game (valid: {', '.join((*blocks.players, EVERYONE))})")
    found = list(_columns(blocks, measures, blocks.design.effect(factor), player))
    if missing := [measure for measure in measures if measure not in {each[1] for each in found}]:
        valid = ", ".join(dict.fromkeys(measure for measure, _ in blocks.columns))
        raise UsageError(f"{missing[0]}: no such measure in these games (valid: {valid})")
    differences = by_seed(np.stack([values for *_, values in found], axis=1), blocks.seeds)
    ends = confidence_sequence(differences) if anytime else paired_intervals(differences)
    return [
        FactorEffect(contrast.name, contrast.factors, measure, whose, *_row(ends[:, place], differences[:, place]))
        for place, (contrast, measure, whose, _) in enumerate(found)
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
                if columns and not (name == EVERYONE and measure in {"rank", "win"}):
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
    known = {seed: place for place, seed in enumerate(dict.fromkeys(seeds))}
    if len(known) == len(seeds):
        return differences
    together = np.eye(len(known))[:, [known[seed] for seed in seeds]]
    there = ~np.isnan(differences)
    with np.errstate(invalid="ignore"):
        found: Array = (together @ np.where(there, differences, 0.0)) / (together @ there)
    return found


def confidence_sequence(differences: Array, alpha: float = ALPHA) -> Array:
    """Rows mean, low, high, low_adj, high_adj for each column of blocks by effects; NaN stands for a missing block.

    After t blocks the interval of a mean with standard deviation s is +- s sqrt(2 (t r^2 + 1) / (t^2 r^2) log(sqrt(t
    r^2 + 1) / alpha)), an asymptotic confidence sequence (I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A.
    Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 52, 2024):
    whenever one looks, and whatever makes one stop. r makes it narrowest after `TIGHTEST` blocks. Those that hold
    together have alpha divided by their number (Bonferroni). NaN of fewer than `FEWEST_SEEN` blocks, and where all
    blocks are the same.
    """
    there = ~np.isnan(differences)
    counts = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, differences, 0.0).sum(axis=0) / counts
    squares = (np.where(there, differences - mean, 0.0) ** 2).sum(axis=0)
    sd = np.sqrt(squares / np.maximum(counts - 1, 1))
    sound = (there.sum(axis=0) >= FEWEST_SEEN) & (squares > 1e-12 * np.maximum(1.0, mean**2))
    found = np.full((5, differences.shape[1]), np.nan)
    found[0] = np.where(there.any(axis=0), mean, np.nan)
    for row, level in ((1, alpha), (3, alpha / max(1, len(mean)))):
        reach = sd * sequence_factor(counts, level)
        found[row : row + 2] = np.where(sound, [mean - reach, mean + reach], np.nan)
    return found


def sequence_factor(counts: Array, alpha: float = ALPHA) -> Array:
    """Half the width of a confidence sequence after so many blocks, in standard deviations."""
    chance = -2 * math.log(alpha)
    mixed = counts * (chance + math.log(chance + 1)) / TIGHTEST
    found: Array = np.sqrt(2 * (mixed + 1) / (counts * mixed) * np.log(np.sqrt(mixed + 1) / alpha))
    return found


def freedom_of(values: Array) -> float:
    """The degrees of freedom of the chi-square that has the mean and the variance of a sample's variance.

    2 n / (k - (n - 3) / (n - 1)) of n values with the kurtosis k (B. O'Neill, Some useful moment results in sampling
    problems, American Statistician 68, 2014): n - 1 of normal ones, fewer where the tails are long.
    """
    number, centred = len(values), values - values.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return 2 * number / (kurtosis - (number - 3) / (number - 1))


def _row(ends: Array, differences: Array) -> tuple[Any, ...]:
    """mean, low, high, low_adj, high_adj, blocks, sd, freedom."""
    known = differences[~np.isnan(differences)]
    sd = float(known.std(ddof=1)) if len(known) > 1 else None
    if sd is not None and sd < 1e-9 * max(1.0, float(np.abs(known).max())):  # what rounding leaves of no difference
        sd = 0.0
    return (
        *(None if math.isnan(end) else float(end) for end in ends),
        len(known),
        sd,
        freedom_of(known) if sd else None,
    )
