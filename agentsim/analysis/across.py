"""Across games: how strong labels are in several games, of which each weighs the same, and how far the games agree.

A label's strengths in the games are Plackett-Luce's, and spread around one of its own (docs/inference.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.special import gammaln, polygamma

from agentsim.analysis.game_records import GameRecord
from agentsim.analysis.inference import DEALS, SEED, Array, Interval, blocks, stages
from agentsim.analysis.posterior import AGREED, CHAINS, MOST_SWEEPS, PRIOR, SWEEPS, Stages, credible, independence
from agentsim.analysis.posterior import agreement as scale_reduction

_SPREADS = np.geomspace(0.1, 4.0, 60)
"""Standard deviations of a label's log strength between games; below the first, chains would hardly move."""


@dataclass(frozen=True, slots=True)
class AcrossLine:
    """One label: its log strength in each game, the mean over these games, and that over games like these.

    `best` is how likely it is the strongest of all, in the mean over these games.
    """

    label: str
    by_game: tuple[Interval, ...]
    strength: Interval
    elsewhere: Interval
    best: float


@dataclass(frozen=True)
class Across:
    """The labels that played every game, strongest first; `apart` are the others. `games` counts those of each game.

    `spread` is the standard deviation of a label's log strength between games; `w` Kendall's coefficient of concordance
    of the games' orders (0 to 1), with its p-value if these had nothing in common.
    """

    games: Mapping[str, int]
    lines: tuple[AcrossLine, ...]
    apart: tuple[str, ...]
    spread: Interval
    w: float
    w_p: float


def across(games: Mapping[str, Sequence[GameRecord]]) -> Across | None:
    """The fit over several games by name; None where fewer than two labels played all of them."""
    seated = [{each.label for game in own for each in game.entrants} for own in games.values()]
    labels = sorted(set.union(*seated))
    common = [place for place, label in enumerate(labels) if all(label in each for each in seated)]
    if len(common) < 2 or len(games) < 2:
        return None
    ranked, weights = [], []
    for own in games.values():
        ranked.append([
            stages([e.rank for e in game.entrants], [labels.index(e.label) for e in game.entrants], len(labels))
            for game in own
        ])  # fmt: skip
        weights.append(independence(ranked[-1], len(labels), blocks([game.seed for game in own])))
    by_game, elsewhere, spread = drawn(ranked, len(labels), weights)
    by_game, elsewhere = (
        each[..., common] - each[..., common].mean(-1, keepdims=True) for each in (by_game, elsewhere)
    )
    mean = by_game.mean(axis=1)
    best = np.bincount(mean.argmax(axis=1), minlength=len(common)) / len(mean)
    in_each = [credible(by_game[:, game]) for game in range(len(games))]
    columns = zip([labels[place] for place in common], zip(*in_each, strict=True), credible(mean), strict=True)
    lines = [
        AcrossLine(label, own, strength, outside, float(chance))
        for (label, own, strength), outside, chance in zip(columns, credible(elsewhere), best, strict=True)
    ]
    w, w_p = concordance(by_game.mean(axis=0))
    return Across(
        games={name: len(own) for name, own in games.items()},
        lines=tuple(sorted(lines, key=lambda line: -line.strength.value)),
        apart=tuple(label for place, label in enumerate(labels) if place not in common),
        spread=credible(spread[:, None])[0],
        w=w,
        w_p=w_p,
    )


def drawn(
    games: Sequence[Sequence[Stages]],
    size: int,
    weights: Sequence[float] | None = None,
    *,
    chains: int = CHAINS,
    seed: int = SEED,
) -> tuple[Array, Array, Array]:
    """Draws of log strengths by games and labels, of labels' own log strengths, and of the spread between games.

    Strength in a game is gamma distributed around the label's own, which has the prior of `posterior`. The spread is
    half-normal with a scale of 1. Gibbs sampling as there, with the spread drawn from a grid. A label's own strength is
    moved with its strengths in the games, and then alone by a Metropolis step: chains that do both move well whatever
    the spread (Y. Yu and X.-L. Meng, To center or not to center: that is not the question, 2011).
    """
    generator, many = np.random.default_rng(seed), len(games)
    rows, times, taken = [], [], []
    for each, weight in zip(games, weights or [1.0] * many, strict=True):
        stood, often = np.unique(
            np.concatenate([np.zeros((0, size)), *(field for field, _ in each)]), axis=0, return_counts=True
        )
        rows.append(stood)
        times.append(weight * often)
        taken.append(weight * sum((wins for _, wins in each), np.zeros(size)))
    stood, counts, wins = block_diag(*rows), np.concatenate(times), np.concatenate(taken)
    won = np.sum(taken, axis=0)
    grid = _shapes()
    known = many * size * (grid * np.log(grid) - gammaln(grid)) - _SPREADS**2 / 2 + np.log(_SPREADS)
    own = generator.standard_gamma(PRIOR, size=(chains, size)) + 1e-12
    place = generator.integers(len(grid), size=chains)
    strength = np.tile(own, many)
    sweeps = SWEEPS
    while True:
        kept = np.empty((SWEEPS, chains, many + 1, size))
        spreads = np.empty((SWEEPS, chains))
        for number in range(-sweeps, sweeps):
            shape = grid[place][:, None]
            waited = generator.standard_gamma(counts, size=(chains, len(counts))) / (strength @ stood.T)
            rates = waited @ stood
            strength = generator.standard_gamma(shape + wins) / (shape / np.tile(own, many) + rates) + 1e-300
            by_game = strength.reshape(chains, many, size)
            told = (strength * rates).reshape(by_game.shape).sum(axis=1)  # together: the ratios stay
            scale = generator.standard_gamma(PRIOR + won, size=(chains, size)) / (PRIOR * own + told)
            own *= scale
            by_game *= scale[:, None]
            total = (by_game / own[:, None]).sum(axis=2) * shape  # the scale in each game is free: it is drawn anew
            by_game *= (generator.standard_gamma(shape * size, size=(chains, many)) / total)[:, :, None]
            near = shape * by_game.sum(axis=1) / generator.standard_gamma(many * shape, size=(chains, size))
            likelier = PRIOR * (np.log(near) - near - np.log(own) + own)  # by the prior alone: `near` fits the games
            own = np.where(-generator.standard_exponential(size=own.shape) < likelier, near, own)
            scale = generator.standard_gamma(size * PRIOR, size=(chains, 1)) / (PRIOR * own.sum(axis=1, keepdims=True))
            own *= scale
            by_game *= scale[:, :, None]
            ratio = by_game / own[:, None]
            told = (np.log(ratio) - ratio).sum(axis=(1, 2))
            chance = known + told[:, None] * grid
            place = (chance + generator.gumbel(size=chance.shape)).argmax(axis=1)
            if number >= 0:
                at = number * SWEEPS // sweeps
                kept[at, :, :many], kept[at, :, many], spreads[at] = np.log(by_game), np.log(own), _SPREADS[place]
        kept -= kept.mean(axis=3, keepdims=True)
        figures = [kept[:, :, :many].mean(axis=2), kept[:, :, many], np.log(spreads)[:, :, None]]
        if max(map(scale_reduction, figures)) < AGREED or 2 * sweeps > MOST_SWEEPS:
            return kept[:, :, :many].reshape(-1, many, size), kept[:, :, many].reshape(-1, size), spreads.ravel()
        sweeps *= 2


def _shapes() -> Array:
    """The shapes of gamma distributions whose logarithms have the standard deviations `_SPREADS`."""
    shapes = np.geomspace(0.05, 200.0, 20_000)
    return np.interp(_SPREADS, np.sqrt(polygamma(1, shapes))[::-1], shapes[::-1])


def concordance(means: Array) -> tuple[float, float]:
    """Kendall's W of games by labels, and its p-value if the order of each game were any.

    M. Kendall and B. Babington Smith, The problem of m rankings, 1939; the p-value by permutation.
    """
    from scipy.stats import rankdata  # `scipy.stats` takes a second

    ranks = rankdata(means, axis=1)
    many, size = ranks.shape
    dealt = np.random.default_rng(SEED).permuted(np.broadcast_to(ranks, (DEALS, many, size)), axis=2)
    spread, far = dealt.sum(axis=1).var(axis=1), ranks.sum(axis=0).var()
    p = (1 + np.count_nonzero(spread >= far * (1 - 1e-9))) / (1 + DEALS)
    return float(12 * far / (many**2 * (size**2 - 1))), float(p)
