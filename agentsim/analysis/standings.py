"""Standings of many games: results and ratings by label, head to head and by seat.

Every figure counts finished games alone. Intervals are of 95%, and the same games give the same intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import combinations, permutations
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from agentsim.analysis.finished_games import Entrant, GameRecord, LabelCounts, counts_by_label
from agentsim.analysis.intervals import Array, Interval, clusters, interval, ratio_intervals
from agentsim.analysis.positions import position_p_value, uneven
from agentsim.analysis.posterior import (
    WRONG,
    Posterior,
    WinsCheck,
    choice_sets,
    game_weight,
    posterior,
    wins_check,
)
from agentsim.lazy import dataclass

_LABEL, _SEAT, _TURN = map(attrgetter, ("label", "seat", "turn"))
_Key = TypeVar("_Key", str, int)
_Beats: TypeAlias = tuple[tuple[tuple[float, int], ...], ...]
_Ahead: TypeAlias = tuple[tuple[Interval | None, ...], ...]


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """The results of one label: a model, or a player.

    `entries` counts its seats in all games, of which `wins` came first; of a first place that n players share each gets
    the nth part of a win. `cost_usd` is the cost of a game, `asked` counts decisions that no bot made. `first` is the
    chance to come first among one of each, by wins alone; `strength` and `rank_probabilities` (how likely it is the
    strongest, the second, and so on) are of the Plackett-Luce fit, `wins_expected` the wins that it predicts in these
    games. `first_by_ranks` is its chance to come first, None if
    these wins are not what was played.
    """

    label: str
    games: int
    entries: int
    wins: float
    win_rate: Interval
    mean_rank: Interval
    first: Interval
    strength: Interval
    rank_probabilities: tuple[float, ...]
    wins_expected: Interval
    first_by_ranks: float | None
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int
    turned_away: int
    lost_to_host: int
    lost_to_model: int
    lost_to_person: int
    lost_to_deadline: int


@dataclass(frozen=True, slots=True)
class PositionResults:
    """The results of a seat, or of a position in the order of speaking."""

    position: int
    entries: int
    wins: float
    win_rate: Interval
    mean_rank: Interval


@dataclass(frozen=True)
class Standings:
    """The labels, best mean rank first. `played` counts all games, all else those that rank players; `unranked` do not.

    `beats[a][b]` is (entries of a that came out before one of b, pairs of them).

    `ahead[a][b]` is the share of the first in the second, None for a label and itself or if they never met. If games
    have different numbers of players, ranks are `relative`: the share of the others who came out before, 0 to 1.
    `null_p` is the p-value of the hypothesis that labels mean nothing, None if each game has a single label or if games
    are too few. `wins_p` is the posterior predictive p-value of the wins under the Plackett-Luce fit. `seats_p` and
    `turn_p` are those of the hypothesis that a seat, or a turn by lot, does nothing; None if that cannot be told.
    `uneven`, by `seat` and `turn`, names the label that was there least evenly, and how often at least and at most;
    None if all are even. With `seats_fixed` no label ever changed its seat in several games, so its figures contain the
    effect of the seat.
    """

    played: tuple[LabelCounts, ...]
    unranked: int
    lines: tuple[StandingsLine, ...]
    beats: _Beats
    ahead: _Ahead
    relative: bool
    null_p: float | None
    wins_p: float
    seats_fixed: bool
    seats: tuple[PositionResults, ...]
    turn: tuple[PositionResults, ...]
    seats_p: float | None
    turn_p: float | None
    uneven: dict[str, tuple[str, int, int] | None]

    @property
    def wins_fail(self) -> bool:
        """Return whether the strengths predict other wins than were played."""
        return self.wins_p < WRONG


def standings(games: Sequence[GameRecord]) -> Standings:
    """Return the standings of labeled games; `played` counts those that rank no player as well."""
    done, unranked = tuple(counts_by_label(games).values()), sum(not game.ranked for game in games)
    games = [game for game in games if game.ranked]
    sizes_differ = len({len(game.entrants) for game in games}) > 1
    if sizes_differ:
        games = [relative(game) for game in games]
    lines, wins_p = _standings(games)
    order = [line.label for line in lines]
    beats, ahead = _head_to_head(games, order)
    return Standings(
        played=tuple(sorted(done, key=lambda each: order.index(each.label) if each.label in order else len(order))),
        unranked=unranked,
        lines=lines,
        beats=beats,
        ahead=ahead,
        relative=sizes_differ,
        null_p=position_p_value(games, _LABEL),
        wins_p=wins_p,
        seats_fixed=_seats_fixed(games),
        seats=_by_position(games, _SEAT),
        turn=_by_position(games, _TURN),
        seats_p=position_p_value(games, _SEAT, balanced=True),
        turn_p=position_p_value(games, _TURN),
        uneven={"seat": uneven(games, _SEAT), "turn": uneven(games, _TURN)},
    )


class _Results(Generic[_Key]):
    """Ranks, wins and entries as matrices: games by the keys of their entrants (None: left out)."""

    def __init__(self, games: Sequence[GameRecord], key_of: Callable[[Entrant], _Key | None]) -> None:
        self.keys: list[_Key] = sorted({key for game in games for e in game.entrants if (key := key_of(e)) is not None})
        column = {key: index for index, key in enumerate(self.keys)}
        ranks, wins, counts = (np.zeros((len(games), len(self.keys))) for _ in range(3))
        for row, game in enumerate(games):
            for entrant, win in zip(game.entrants, game.wins, strict=True):
                if (key := key_of(entrant)) is not None:
                    ranks[row, column[key]] += entrant.rank
                    wins[row, column[key]] += win
                    counts[row, column[key]] += 1
        self.counts_by_game, self.wins_by_game = counts, wins
        self.entries, self.wins = counts.sum(axis=0), wins.sum(axis=0)
        self.games = (counts > 0).sum(axis=0)
        self.clusters = clusters([game.seed for game in games])
        self._ranks, self._clustered = ranks.sum(axis=0), [self.clusters @ each for each in (ranks, wins, counts)]
        all_ranks = [entrant.rank for game in games for entrant in game.entrants]
        self._within = min(all_ranks, default=0.0), max(all_ranks, default=0.0)  # no mean is beyond the best and worst

    def mean_ranks(self) -> list[Interval]:
        ranks, _, counts = self._clustered
        return list(map(interval, self._ranks / self.entries, ratio_intervals(ranks, counts, within=self._within)))

    def win_rates(self) -> list[Interval]:
        _, wins, counts = self._clustered
        return list(map(interval, self.wins / self.entries, _rate_ends(wins, counts)))


@dataclass(frozen=True)
class _Ratings:
    """The Plackett-Luce fit, the chance to come first by wins alone, and how well the first foretells wins."""

    ranks: Posterior
    first: Sequence[Interval]
    check: WinsCheck


def _ratings(games: Sequence[GameRecord], results: _Results[str]) -> _Ratings:
    size = len(results.keys)
    index = {label: index for index, label in enumerate(results.keys)}
    ranked = [
        choice_sets([e.rank for e in game.entrants], [index[e.label] for e in game.entrants], size) for game in games
    ]
    won = [(counts[None], wins) for counts, wins in zip(results.counts_by_game, results.wins_by_game, strict=True)]
    weight = game_weight(ranked, size, results.clusters)
    ranks = posterior(ranked, size, weight=weight, to_printed_precision=True)
    first = posterior(won, size, weight=game_weight(won, size, results.clusters), to_printed_precision=True)
    check = wins_check(ranks, results.counts_by_game, results.wins, weight=weight)
    return _Ratings(ranks, first.first, check)


def _standings(games: Sequence[GameRecord]) -> tuple[tuple[StandingsLine, ...], float]:
    """Return the lines, and `Standings.wins_p`."""
    results = _Results(games, lambda entrant: entrant.label)
    labels = results.keys
    if not labels:
        return (), 1.0
    ratings = _ratings(games, results)
    strengths, rank_probabilities = ratings.ranks.strengths, ratings.ranks.rank_probabilities
    by_ranks = [chance.value for chance in ratings.ranks.first]
    rates, ranks = results.win_rates(), results.mean_ranks()
    lines, done = [], counts_by_label(games)
    for column, label in enumerate(labels):
        lines.append(
            StandingsLine(
                entries=int(results.entries[column]),
                wins=float(results.wins[column]),
                win_rate=rates[column],
                mean_rank=ranks[column],
                first=ratings.first[column],
                strength=strengths[column],
                rank_probabilities=tuple(map(float, rank_probabilities[column])),
                wins_expected=ratings.check.expected[column],
                first_by_ranks=None if ratings.check.fails else float(by_ranks[column]),
                **asdict(done[label]),
            )
        )
    return tuple(sorted(lines, key=lambda line: (line.mean_rank.value, line.label))), ratings.check.p


def _rate_ends(won: Array, met: Array) -> Array:
    return ratio_intervals(won, met, centre=0.5, within=(0, 1))


def _head_to_head(games: Sequence[GameRecord], order: Sequence[str]) -> tuple[_Beats, _Ahead]:
    """Return `Standings.beats` and `Standings.ahead`; each pair of labels is counted once, for both directions."""
    columns = {both: index for index, both in enumerate(combinations(order, 2))}
    won, met = (np.zeros((len(games), len(columns))) for _ in range(2))
    for row, game in enumerate(games):
        for one, other in permutations(game.entrants, 2):
            if (column := columns.get((one.label, other.label))) is not None:
                won[row, column] += 1.0 if one.rank < other.rank else 0.5 if one.rank == other.rank else 0.0
                met[row, column] += 1
    membership = clusters([game.seed for game in games])
    ends = _rate_ends(membership @ won, membership @ met)
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


def relative(game: GameRecord) -> GameRecord:
    """Return the game with relative ranks: the share of the others who came out before, 0 to 1."""
    others = max(1, len(game.entrants) - 1)
    return replace(game, entrants=tuple(replace(each, rank=(each.rank - 1) / others) for each in game.entrants))


def _seats_fixed(games: Sequence[GameRecord]) -> bool:
    seats = [{(entrant.label, entrant.seat) for entrant in game.entrants} for game in games]
    several = any(len({label for label, _ in each}) > 1 for each in seats)
    return several and len(games) > 1 and all(each == seats[0] for each in seats)


def _by_position(
    games: Sequence[GameRecord], position_of: Callable[[Entrant], int | None]
) -> tuple[PositionResults, ...]:
    """Return the results of each seat, or of each position in the order of speaking."""
    results = _Results(games, position_of)
    columns = zip(results.keys, results.entries, results.wins, results.win_rates(), results.mean_ranks(), strict=True)
    return tuple(
        PositionResults(position, int(entries), float(wins), rate, rank)
        for position, entries, wins, rate, rank in columns
    )
