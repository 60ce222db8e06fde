"""branches: runs that share a past, beside the run that they left: what each player's rank changed by, paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.intervals import Interval, blocks, interval, ratio_intervals
from agentsim.analysis.record import GameRecord

__all__ = ["Shift", "shifts", "without_branches"]


@dataclass(frozen=True, slots=True)
class Shift:
    """One player in branches that do one thing: their number, its mean rank in parents and branches, the difference.

    Each branch is paired with its own parent; for the interval, branches of parents of one seed are taken together.
    """

    fork: str
    player: str
    branches: int
    parent_rank: float
    branch_rank: float
    difference: Interval


def without_branches(games: Sequence[GameRecord]) -> list[GameRecord]:
    """The games without the branches of others here: a branch repeats its parent, and would count it twice."""
    by_name = {game.name: game for game in games}

    def repeats(game: GameRecord) -> bool:
        seen: set[str] = set()
        last = game
        while last.parent in by_name and last.name not in seen:
            seen.add(last.name)
            last = by_name[last.parent]
        return last.name != game.name  # of runs that call each other their parent none is

    return [game for game in games if not repeats(game)]


def shifts(games: Sequence[GameRecord]) -> list[Shift]:
    """Every player's shift, by what the branches do; branches whose parent is not among the games are left out."""
    by_name = {game.name: game for game in games}
    pairs: dict[str, list[tuple[GameRecord, GameRecord]]] = {}
    for game in games:
        if game.parent in by_name:
            pairs.setdefault(game.fork, []).append((by_name[game.parent], game))
    return [shift for fork, both in pairs.items() for shift in _shifts(fork, both)]


def _shifts(fork: str, both: Sequence[tuple[GameRecord, GameRecord]]) -> list[Shift]:
    """The shifts of all players in the branches that do one thing."""
    players = list(dict.fromkeys(entrant.player for parent, _ in both for entrant in parent.entrants))
    before, after, counts = (np.zeros((len(both), len(players))) for _ in range(3))
    for row, (parent, branch) in enumerate(both):
        for column, player in enumerate(players):
            one, other = _rank(parent, player), _rank(branch, player)
            if one is not None and other is not None:
                before[row, column], after[row, column], counts[row, column] = one, other, 1
    together = blocks([parent.seed for parent, _ in both])
    ends = ratio_intervals(together @ (after - before), together @ counts, centre=0.0)
    found = []
    for column, player in enumerate(players):
        if branches := int(counts[:, column].sum()):
            parent_rank, branch_rank = before[:, column].sum() / branches, after[:, column].sum() / branches
            difference = interval(branch_rank - parent_rank, ends[column])
            found.append(Shift(fork, player, branches, float(parent_rank), float(branch_rank), difference))
    return found


def _rank(game: GameRecord, player: str) -> float | None:
    return next((entrant.rank for entrant in game.entrants if entrant.player == player), None)
