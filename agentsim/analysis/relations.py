"""Relations: what entrants of one label did for or against those of another, over many games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from agentsim.analysis.game_records import GameRecord


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
