"""branches: runs that share a past, beside the run that they left: what each player's rank changed by, paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.intervals import blocks, bootstrap, ratio_intervals
from agentsim.analysis.record import GameRecord
from agentsim.analysis.standings import SEED, Interval

__all__ = ["Shift", "shifts", "without_branches"]


@dataclass(frozen=True, slots=True)
class Shift:
    """One player in the branches that do one thing: their number, its mean rank in trunks and branches, the difference.

    Each branch is paired with its own trunk; the difference's interval is drawn over the branches, those of trunks of
    one seed together.
    """

    fork: str
    player: str
    branches: int
    trunk_rank: float
    branch_rank: float
    difference: Interval


def without_branches(games: Sequence[GameRecord]) -> list[GameRecord]:
    """The games without the branches of others here: a branch repeats its trunk, and would count it twice."""
    names = {game.name for game in games}
    return [game for game in games if game.trunk not in names]


def shifts(games: Sequence[GameRecord]) -> list[Shift]:
    """Every player's shift, by what the branches do; branches whose trunk is not among the games are left out."""
    by_name = {game.name: game for game in games}
    pairs: dict[str, list[tuple[GameRecord, GameRecord]]] = {}
    for game in games:
        if game.trunk in by_name:
            pairs.setdefault(game.fork, []).append((by_name[game.trunk], game))
    found = []
    for fork, both in pairs.items():
        for player in dict.fromkeys(entrant.player for trunk, _ in both for entrant in trunk.entrants):
            ranks = [(trunk.seed, _rank(trunk, player), _rank(branch, player)) for trunk, branch in both]
            known = [(seed, one, other) for seed, one, other in ranks if one is not None and other is not None]
            if known:
                found.append(_shift(fork, player, known))
    return found


def _shift(fork: str, player: str, ranks: Sequence[tuple[int, float, float]]) -> Shift:
    before, after = (np.array(side, dtype=np.float64) for side in zip(*(both for _, *both in ranks), strict=True))
    together = blocks([seed for seed, *_ in ranks])
    sums, counts = together @ (after - before)[:, None], together @ np.ones((len(ranks), 1))
    ends = ratio_intervals(sums, counts, bootstrap(len(together), SEED))[0]
    low, high = (None if np.isnan(end) else float(end) for end in ends)
    difference = Interval(float((after - before).mean()), low, high)
    return Shift(fork, player, len(ranks), float(before.mean()), float(after.mean()), difference)


def _rank(game: GameRecord, player: str) -> float | None:
    return next((entrant.rank for entrant in game.entrants if entrant.player == player), None)
