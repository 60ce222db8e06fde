"""Measures of a game by player: rank, win and the outcome's scores, and how often each deed was done or received."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentsim.analysis.game_records import Column, GameRecord

RANK, WIN = "rank", "win"


@dataclass(frozen=True, slots=True)
class Measures:
    """By measure and player: what the outcome gives, and deeds; a deed that is absent was not done."""

    results: Mapping[Column, float]
    deeds: Mapping[Column, float]

    @classmethod
    def of(cls, game: GameRecord) -> Measures:
        """By measure, then by player in the order of the table."""
        results = {(RANK, each.player): each.rank for each in game.entrants}
        results |= {(WIN, each.player): win for each, win in zip(game.entrants, game.wins, strict=True)}
        for measure in dict.fromkeys(measure for each in game.entrants for measure in each.scores):
            own = (each for each in game.entrants if measure in each.scores)
            results |= {(measure, each.player): each.scores[measure] for each in own}
        return cls(results, game.deeds)

    def with_models(self, models: Mapping[str, str]) -> Measures:
        """The same, and behind it the means over the seats of each model, which are given by player."""
        return Measures(_with_means(self.results, models), _with_means(self.deeds, models))


def _with_means(measures: Mapping[Column, float], models: Mapping[str, str]) -> dict[Column, float]:
    seats = Counter(models.values())
    sums: defaultdict[Column, float] = defaultdict(float)
    for (measure, player), value in measures.items():
        sums[measure, models[player]] += value
    return {**measures, **{key: value / seats[key[1]] for key, value in sums.items()}}


def tabled(games: Sequence[Measures], *, everyone: bool = False) -> tuple[tuple[Column, ...], list[list[float]]]:
    """The columns of these games, results before deeds, and their values by game.

    A score that is not there is NaN, a deed 0. With `everyone` each deed has a column for all who have results.
    """
    results = dict.fromkeys(column for game in games for column in game.results)
    places = {whose: place for place, whose in enumerate(dict.fromkeys(whose for _, whose in results))}
    done = {column for game in games for column in game.deeds}
    if everyone:
        done = {(deed, whose) for deed, _ in done for whose in places}
    deeds = sorted(done, key=lambda column: (column[0], places[column[1]]))
    rows = [
        [*(each.results.get(c, math.nan) for c in results), *(each.deeds.get(c, 0.0) for c in deeds)] for each in games
    ]
    return (*results, *deeds), rows
