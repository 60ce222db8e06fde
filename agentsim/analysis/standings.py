"""standings: the players of many games compared, as data; how it is printed or drawn belongs to others.

Every figure counts finished games alone; intervals are of 95%, and are drawn with one seed, so that the same games
give the same report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TypeAlias

import numpy as np

from agentsim.analysis.intervals import SEED, Array, Interval, blocks, interval, ratio_intervals
from agentsim.analysis.openskill import ratings
from agentsim.analysis.permutation_test import dealt_p
from agentsim.analysis.plackett_luce import fit, stages
from agentsim.analysis.record import Entrant, GameRecord

__all__ = ["Line", "Place", "Standings", "standings"]

_MOST_PAIRED = 40
"""Labels whose pairs get intervals: of more, drawing for each pair would take too long, and nobody would read it."""


_Beats: TypeAlias = tuple[tuple[tuple[float, int], ...], ...]
_Ahead: TypeAlias = tuple[tuple[Interval | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One label: a model, or a player.

    A first place that is shared counts for each as its part of a win. `wins` is of entries, `cost_usd` of a game.
    """

    label: str
    games: int
    entries: int
    wins: float
    win_rate: Interval
    mean_rank: Interval
    strength: Interval
    share: float
    mu: float
    sigma: float
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int
    turned_away: int


@dataclass(frozen=True, slots=True)
class Place:
    """A seat or a place in the order of speaking: its entries, wins and mean rank."""

    place: int
    entries: int
    wins: float
    mean_rank: Interval


@dataclass(frozen=True)
class Standings:
    """The labels, best mean rank first; `beats[a][b]` is (entries of a that came out before one of b, pairs of them).

    `ahead[a][b]` is the share of the first in the second, None for a label and itself or where they never met. Where
    games have different numbers of players, ranks are `relative`: the share of the others who came out before, 0 to 1.
    `null_p` is how often labels that are mere names would lie as far apart, None where nothing can be dealt. With
    `seats_fixed` no label ever changed its seat in several games, so what a seat is worth is in its figures.
    """

    lines: tuple[Line, ...]
    beats: _Beats
    ahead: _Ahead
    relative: bool
    null_p: float | None
    seats_fixed: bool
    seats: tuple[Place, ...]
    spoke: tuple[Place, ...]


def standings(games: Sequence[GameRecord]) -> Standings:
    """The standings of games whose entrants carry their labels."""
    relative = len({len(game.entrants) for game in games}) > 1
    if relative:
        games = [_relative(game) for game in games]
    lines = _lines(games)
    order = [line.label for line in lines]
    beats, ahead = _head_to_head(games, order)
    return Standings(
        lines=lines,
        beats=beats,
        ahead=ahead,
        relative=relative,
        null_p=_null(games, order),
        seats_fixed=_seats_fixed(games),
        seats=_by_place(games, lambda entrant: entrant.seat),
        spoke=_by_place(games, lambda entrant: entrant.spoke),
    )


def _wins(game: GameRecord) -> dict[str, float]:
    """By player the part of the win that is theirs."""
    best = min(entrant.rank for entrant in game.entrants)
    first = [entrant.player for entrant in game.entrants if entrant.rank == best]
    return {entrant.player: (entrant.rank == best) / len(first) for entrant in game.entrants}


def _lines(games: Sequence[GameRecord]) -> tuple[Line, ...]:
    labels = sorted({entrant.label for game in games for entrant in game.entrants})
    if not labels:
        return ()
    index = {label: place for place, label in enumerate(labels)}
    ranks, wins, counts = (np.zeros((len(games), len(labels))) for _ in range(3))
    for row, game in enumerate(games):
        shares = _wins(game)
        for entrant in game.entrants:
            column = index[entrant.label]
            ranks[row, column] += entrant.rank
            wins[row, column] += shares[entrant.player]
            counts[row, column] += 1
    together = blocks([game.seed for game in games])
    rank_ends = _rank_ends(games, together @ ranks, together @ counts)
    win_ends = _rate_ends(together @ wins, together @ counts)
    fields = [
        stages([e.rank for e in game.entrants], [index[e.label] for e in game.entrants], len(labels)) for game in games
    ]
    strengths = fit(fields, len(labels), together)
    rated = ratings(games, labels)
    reach = strengths.intervals()
    lines = []
    for label, column in index.items():
        own = [e for game in games for e in game.entrants if e.label == label]
        inside = int((counts[:, column] > 0).sum())
        costs = [e.cost_usd for e in own]
        lines.append(
            Line(
                label=label,
                games=inside,
                entries=len(own),
                wins=float(wins[:, column].sum()),
                win_rate=interval(wins[:, column].sum() / len(own), win_ends[column]),
                mean_rank=interval(ranks[:, column].sum() / len(own), rank_ends[column]),
                strength=interval(strengths.logs[column], reach[column]),
                share=float(strengths.shares[column]),
                mu=rated[column][0],
                sigma=rated[column][1],
                decisions=sum(e.decisions for e in own),
                calls=sum(e.calls for e in own),
                reasks=sum(e.reasks for e in own),
                fallbacks=sum(e.fallbacks for e in own),
                cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs) / inside,
                asked=sum(e.asked for e in own),
                turned_away=sum(e.turned_away for e in own),
            )
        )
    return tuple(sorted(lines, key=lambda line: (line.mean_rank.value, line.label)))


def _rank_ends(games: Sequence[GameRecord], ranks: Array, counts: Array) -> Array:
    """No mean is beyond the best and the worst place of all."""
    all_ranks = [entrant.rank for game in games for entrant in game.entrants]
    return ratio_intervals(ranks, counts, within=(min(all_ranks), max(all_ranks)))


def _rate_ends(won: Array, met: Array) -> Array:
    return ratio_intervals(won, met, centre=0.5, within=(0, 1))


def _head_to_head(games: Sequence[GameRecord], order: Sequence[str]) -> tuple[_Beats, _Ahead]:
    """`Standings.beats` and `Standings.ahead`: each two labels are counted once, and read either way round."""
    columns = {both: place for place, both in enumerate(combinations(order, 2))}
    won, met = (np.zeros((len(games), len(columns))) for _ in range(2))
    for row, game in enumerate(games):
        for one, other in permutations(game.entrants, 2):
            if (column := columns.get((one.label, other.label))) is not None:
                won[row, column] += 1.0 if one.rank < other.rank else 0.5 if one.rank == other.rank else 0.0
                met[row, column] += 1
    few = len(order) <= _MOST_PAIRED
    together = blocks([game.seed for game in games])
    ends = _rate_ends(together @ won, together @ met) if few else np.full((len(columns), 2), np.nan)
    wins, pairs = won.sum(axis=0), met.sum(axis=0)

    def cell(one: str, other: str) -> tuple[tuple[float, int], Interval | None]:
        column = columns.get((one, other), columns.get((other, one)))
        if column is None or not pairs[column]:
            return (0.0, 0), None
        before, share = float(wins[column]), interval(wins[column] / pairs[column], ends[column])
        if (one, other) not in columns:
            before, share = float(pairs[column]) - before, _turned_round(share)
        return (before, int(pairs[column])), share

    cells = [[cell(one, other) for other in order] for one in order]
    return (
        tuple(tuple(beats for beats, _ in row) for row in cells),
        tuple(tuple(ahead for _, ahead in row) for row in cells),
    )


def _turned_round(share: Interval) -> Interval:
    low, high = (None if end is None else 1 - end for end in (share.high, share.low))
    return Interval(1 - share.value, low, high)


def _relative(game: GameRecord) -> GameRecord:
    others = max(1, len(game.entrants) - 1)
    return replace(game, entrants=tuple(replace(each, rank=(each.rank - 1) / others) for each in game.entrants))


def _seats_fixed(games: Sequence[GameRecord]) -> bool:
    seats = [{(entrant.label, entrant.seat) for entrant in game.entrants} for game in games]
    several = any(len({label for label, _ in each}) > 1 for each in seats)
    return several and len(games) > 1 and all(each == seats[0] for each in seats)


def _null(games: Sequence[GameRecord], order: Sequence[str]) -> float | None:
    mixed = [game for game in games if len({entrant.label for entrant in game.entrants}) > 1]
    if not mixed:
        return None
    index = {label: place for place, label in enumerate(order)}
    width = max(len(game.entrants) for game in mixed)
    ranks, labels = np.full((len(mixed), width), np.nan), np.full((len(mixed), width), -1, dtype=np.int64)
    for row, game in enumerate(mixed):
        ranks[row, : len(game.entrants)] = [entrant.rank for entrant in game.entrants]
        labels[row, : len(game.entrants)] = [index[entrant.label] for entrant in game.entrants]
    return dealt_p(ranks, labels, len(order), SEED)


def _by_place(games: Sequence[GameRecord], place_of: Callable[[Entrant], int | None]) -> tuple[Place, ...]:
    """How entrants came out by a place that they had, seat or turn to speak; who has none is left out."""
    places = sorted({place for game in games for e in game.entrants if (place := place_of(e)) is not None})
    if not places:
        return ()
    column = {place: number for number, place in enumerate(places)}
    ranks, wins, counts = (np.zeros((len(games), len(places))) for _ in range(3))
    for row, game in enumerate(games):
        shares = _wins(game)
        for entrant in game.entrants:
            if (place := place_of(entrant)) is not None:
                ranks[row, column[place]] += entrant.rank
                wins[row, column[place]] += shares[entrant.player]
                counts[row, column[place]] += 1
    together = blocks([game.seed for game in games])
    ends = _rank_ends(games, together @ ranks, together @ counts)
    return tuple(
        Place(
            place,
            int(counts[:, number].sum()),
            float(wins[:, number].sum()),
            interval(ranks[:, number].sum() / counts[:, number].sum(), ends[number]),
        )
        for place, number in column.items()
    )
