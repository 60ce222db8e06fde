"""Findings of many games besides the standings: relations of labels, shifts of branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from agentsim.analysis.game_records import GameRecord
from agentsim.analysis.inference import Interval, blocks, interval, ratio_intervals


@dataclass(frozen=True, slots=True)
class Relation:
    """What entrants of one label did for or against those of another.

    `games` are those in which both sat, `pairs` the pairs of entrants in them; the rest is counted over those pairs.
    `turned_for` and `turned_against` are how often a pair turned (`history.pairs`).
    """

    who: str
    whom: str
    games: int
    pairs: int
    done_for: int
    done_against: int
    turned_for: int
    turned_against: int


def relations(games: Sequence[GameRecord]) -> list[Relation]:
    """Every ordered pair of labels that met, in the order of labels; none without deeds for or against."""
    if not any(game.between for game in games):
        return []
    sums: dict[tuple[str, str], list[int]] = {}
    for game in games:
        if game.between is None:
            continue
        labels = {entrant.player: entrant.label for entrant in game.entrants}
        here: set[tuple[str, str]] = set()
        for met in permutations(labels.values(), 2):
            sums.setdefault(met, [0] * 6)[1] += 1
            here.add(met)
        for met in here:
            sums[met][0] += 1
        for each in game.between:
            total = sums[labels[each.who], labels[each.whom]]
            counts = (each.done_for, each.done_against, each.turned_for, each.turned_against)
            total[2:] = [before + more for before, more in zip(total[2:], counts, strict=True)]
    return [Relation(*both, *total) for both, total in sorted(sums.items())]


@dataclass(frozen=True, slots=True)
class Shift:
    """One player in branches that change the same thing: its mean rank in parents and branches, and the difference.

    Each branch is paired with its own parent; the interval takes branches of parents of one seed together.
    """

    fork: str
    player: str
    branches: int
    parent_rank: float
    branch_rank: float
    difference: Interval


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


def shifts(games: Sequence[GameRecord]) -> list[Shift]:
    """Every player's shift, by what the branches change; branches whose parent is not among the games are left out."""
    by_name = {game.name: game for game in games}
    pairs: dict[str, list[tuple[GameRecord, GameRecord]]] = {}
    for game in games:
        if game.parent in by_name:
            pairs.setdefault(game.fork, []).append((by_name[game.parent], game))
    return [shift for fork, both in pairs.items() for shift in _shifts(fork, both)]


def _shifts(fork: str, both: Sequence[tuple[GameRecord, GameRecord]]) -> list[Shift]:
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
