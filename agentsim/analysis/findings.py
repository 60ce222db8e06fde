"""Findings of many games besides the standings: votes for one's own vendor, relations of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from agentsim.analysis.game_records import GameRecord, vendor
from agentsim.analysis.inference import Interval, blocks, interval, ratio_intervals


@dataclass(frozen=True, slots=True)
class VendorBias:
    """Votes of one vendor's models (None: of all vendors'), for the winner (`final`) or for a player to leave.

    `same` of them chose a player of the same vendor; `blind` is the expectation if each were drawn from its ballot,
    `excess` the difference per vote. Only ballots with players of the same and of another vendor count.
    """

    maker: str | None
    final: bool
    votes: int
    same: int
    blind: float
    excess: Interval


def vendor_biases(games: Sequence[GameRecord]) -> list[VendorBias]:
    """By kind of vote and vendor; none where all models have one vendor, or the game has no votes."""
    makers = sorted({vendor(entrant.model) for game in games for entrant in game.entrants})
    if len(makers) < 2:
        return []
    found = [_vendor_bias(games, maker, final=final) for final in (False, True) for maker in (None, *makers)]
    return [bias for bias in found if bias is not None]


def _vendor_bias(games: Sequence[GameRecord], maker: str | None, *, final: bool) -> VendorBias | None:
    excess, counts = np.zeros((len(games), 1)), np.zeros((len(games), 1))
    same, blind = 0, 0.0
    for row, game in enumerate(games):
        made = {entrant.player: vendor(entrant.model) for entrant in game.entrants}
        for vote in game.votes:
            own = made.get(vote.voter)
            if vote.final is not final or own is None or maker not in {None, own}:
                continue
            chance = sum(made.get(player) == own for player in vote.ballot) / len(vote.ballot)
            if 0 < chance < 1:
                chosen = made.get(vote.choice) == own
                same += chosen
                blind += chance
                excess[row, 0] += chosen - chance
                counts[row, 0] += 1
    votes = int(counts.sum())
    if not votes:
        return None
    together = blocks([game.seed for game in games])
    (ends,) = ratio_intervals(together @ excess, together @ counts, centre=0.0)
    return VendorBias(maker, final, votes, same, blind, interval((same - blind) / votes, ends))


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
