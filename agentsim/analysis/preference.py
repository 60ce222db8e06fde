"""Own maker's preference: whether voters choose a candidate of their own maker more often than other voters do.

Each candidate of each ballot has an effect of its own, which all voters of that ballot share. Votes are compared within
pairs of these voters alone, so that the effects drop out (docs/inference.md). `finished_games` says what a vote is.
`relations` are what entrants of one label did for or against those of another, over many games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from agentsim.analysis.finished_games import GameRecord, Vote, vendor
from agentsim.analysis.intervals import Array, Interval, clusters, interval, jackknife
from agentsim.lazy import dataclass

_PSEUDO = 0.5
"""The pairs that are added for and against each preference, which keep it finite."""
_STEPS = 100
_CLOSE = 1e-9

_Side: TypeAlias = tuple[int, int, tuple[bool, ...]]


@dataclass(frozen=True, slots=True)
class OwnMaker:
    """Votes for the winner (`final`) or for a player to leave, of one maker's models (None: of all).

    `log_odds` is what a candidate gains with voters of its own maker over what others see in it; `points` is the
    same as a difference of shares (0.1: ten points). `votes` and `games` count what the estimates rest on.
    """

    maker: str | None
    final: bool
    games: int
    votes: int
    log_odds: Interval
    points: Interval


@dataclass(frozen=True)
class _Pair:
    """Two voters of one ballot, and what makers (in columns) could change in their votes.

    `told` is how much more own makers speak for the choices as they are than for exchanged ones; `squares` and
    `products` are the pair's part of the normal equations of shares.
    """

    game: int
    voters: tuple[tuple[int, int, str, str], ...]
    weight: float
    told: Array
    squares: Array
    products: Array


def own_makers(games: Sequence[GameRecord]) -> list[OwnMaker]:
    """Return the preferences by kind of vote: of all makers together, then of each that can be told from the others.

    Of two makers a vote for the one is a vote against the other, so that only what they have in common is known.
    """
    makers = sorted({vendor(entrant.model) for game in games for entrant in game.entrants})
    membership = clusters([game.seed for game in games])
    found: list[OwnMaker] = []
    for final in (False, True):
        pairs = [pair for number, game in enumerate(games) for pair in _pairs(number, game, makers, final=final)]
        if pairs:
            found += _estimates(pairs, [None], np.ones((len(makers), 1)), membership, final=final)
            found += _estimates(pairs, makers, np.eye(len(makers)), membership, final=final)
    return found


def _pairs(number: int, game: GameRecord, makers: Sequence[str], *, final: bool) -> Iterator[_Pair]:
    made = {entrant.player: vendor(entrant.model) for entrant in game.entrants}
    ballots: dict[int, list[Vote]] = {}
    for vote in game.votes:
        if vote.final is final and vote.voter in made:
            ballots.setdefault(vote.round, []).append(vote)
    for at, votes in ballots.items():
        for both in combinations(votes, 2):
            if (found := _compared(*both, made, makers)) is not None:
                voters = tuple((number, at, vote.voter, made[vote.voter]) for vote in both)
                yield _Pair(number, voters, 2 / len(votes), *found)


def _compared(
    one: Vote, other: Vote, made: Mapping[str, str], makers: Sequence[str]
) -> tuple[Array, Array, Array] | None:
    """Return `told`, `squares` and `products` of a pair, or None if their makers could not make them differ.

    Only candidates on both ballots count, and only voters who chose one of these: among them a candidate is as good for
    the one as for the other.
    """
    common = [player for player in one.ballot if player in other.ballot]
    if made[one.voter] == made[other.voter] or one.choice not in common or other.choice not in common:
        return None
    sides = tuple(
        (
            makers.index(made[vote.voter]),
            common.index(vote.choice),
            tuple(made.get(player) == made[vote.voter] for player in common),
        )
        for vote in (one, other)
    )
    return _differences(sides, len(makers))


@lru_cache(maxsize=10_000)
def _differences(sides: tuple[_Side, ...], makers: int) -> tuple[Array, Array, Array] | None:
    """Return the same of two sides: (column of the maker, index of the chosen, whether each is an own one)."""
    candidates = len(sides[0][2])
    same, shares = np.zeros((2, candidates, makers))
    voted = np.zeros(candidates)
    for (column, chosen, owns), sign in zip(sides, (1.0, -1.0), strict=True):
        own = np.array(owns, dtype=np.float64)
        others = (own.sum() - own) / max(1, candidates - 1)
        same[:, column], shares[:, column] = sign * own, sign * (own - others)
        voted[chosen] += sign
    if not shares.any():
        return None
    return voted @ same, shares.T @ shares, shares.T @ voted


def _estimates(
    pairs: Sequence[_Pair], makers: Sequence[str | None], columns: Array, membership: Array, *, final: bool
) -> Iterator[OwnMaker]:
    """Yield an estimate for each column of `columns`: makers by the preferences that they share."""
    weight = np.array([pair.weight for pair in pairs])
    told = np.array([pair.told for pair in pairs]) @ columns
    squares = columns.T @ np.array([pair.squares for pair in pairs]) @ columns * weight[:, None, None]
    products = np.array([pair.products for pair in pairs]) @ columns * weight[:, None]
    whole = squares.sum(axis=0)
    known = np.isclose(np.diag(np.linalg.pinv(whole, hermitian=True) @ whole), 1.0)
    if not known.any():
        return
    told, products, squares = told[:, known], products[:, known], squares[:, known][:, :, known]
    group = membership[:, [pair.game for pair in pairs]]
    log_odds, points = _logit(told, weight, group), _shares(squares, products, group)
    for index, maker in enumerate(each for each, sure in zip(makers, known, strict=True) if sure):
        telling = (pair for pair, square in zip(pairs, squares[:, index, index], strict=True) if square)
        own = {voter for pair in telling for voter in pair.voters if maker in {None, voter[3]}}
        both = [interval(each[0, index], each[1:3, index]) for each in (log_odds, points)]
        yield OwnMaker(maker, final, len({voter[0] for voter in own}), len(own), both[0], _possible(both[1]))


def _logit(told: Array, weight: Array, group: Array) -> Array:
    """Return the jackknife of the log odds: each pair chose as it did, and not exchanged, with odds exp(told @ values).

    Half a pair for and half one against each value keep it finite (S. Greenland and M. A. Mansournia, Penalization,
    bias reduction, and default priors in logistic and related categorical and survival regressions, 2015).
    """
    values = np.zeros(told.shape[1])
    for _ in range(_STEPS):
        chance = expit(told @ values)
        slopes = told * (weight * (1 - chance))[:, None]
        bends = np.einsum("pi,pj,p->pij", told, told, weight * chance * (1 - chance))
        kept = np.diag(2 * _PSEUDO * expit(values) * expit(-values))
        step = np.linalg.solve(bends.sum(axis=0) + kept, slopes.sum(axis=0) + _PSEUDO * (1 - 2 * expit(values)))
        values = values + np.clip(step, -1, 1)
        if np.abs(step).max() < _CLOSE:
            break
    return _one_step(values, slopes, bends, group, kept)


def _shares(squares: Array, products: Array, group: Array) -> Array:
    """Return the jackknife of the least squares: an own candidate gains so much, the others lose it in equal parts."""
    values = np.linalg.solve(squares.sum(axis=0), products.sum(axis=0))
    return _one_step(values, products - squares @ values, squares, group, np.zeros((len(values), len(values))))


def _one_step(values: Array, slopes: Array, bends: Array, group: Array, kept: Array) -> Array:
    """Return `intervals.jackknife` of an estimate, each cluster left out by one Newton step."""
    by_cluster = np.tensordot(group, bends, axes=1)
    rest = by_cluster.sum(axis=0) + kept - by_cluster
    moved = -np.einsum("bij,bj->bi", np.linalg.pinv(rest, hermitian=True), group @ slopes)
    return jackknife(values, moved, np.einsum("bii->bi", by_cluster), draws=0)


def _possible(points: Interval) -> Interval:
    low, high = (None if end is None else max(-1.0, min(1.0, end)) for end in (points.low, points.high))
    return Interval(points.value, low, high)


@dataclass(frozen=True, slots=True)
class Relation:
    """The interactions of entrants of one label towards those of another.

    `games` are those in which both sat, `pairs` the pairs of entrants in them; the rest is counted over those pairs.
    `turned_for` and `turned_against` are how often a pair turned (`records.events`).
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
    """Return every ordered pair of labels that met; none if no game has interactions for or against."""
    if not any(game.pair_counts for game in games):
        return []
    sums: dict[tuple[str, str], list[int]] = {}
    for game in games:
        if game.pair_counts is None:
            continue
        labels = {entrant.player: entrant.label for entrant in game.entrants}
        here: set[tuple[str, str]] = set()
        for met in permutations(labels.values(), 2):
            sums.setdefault(met, [0] * 6)[1] += 1
            here.add(met)
        for met in here:
            sums[met][0] += 1
        for each in game.pair_counts:
            total = sums[labels[each.who], labels[each.whom]]
            counts = (each.done_for, each.done_against, each.turned_for, each.turned_against)
            total[2:] = [before + more for before, more in zip(total[2:], counts, strict=True)]
    return [Relation(*both, *total) for both, total in sorted(sums.items())]
