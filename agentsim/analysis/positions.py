"""Positions: how results depend on the seat, the turn to speak or the position on a ballot, with sign-flip tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from agentsim.analysis.finished_games import Entrant, GameRecord
from agentsim.analysis.intervals import DRAWS, SEED, Array, Interval, clusters, interval, ratio_intervals, sign_flip_p
from agentsim.lazy import dataclass


@dataclass(frozen=True, slots=True)
class BallotPosition:
    """A position on ballots that chance ordered, of votes to win (`final`) or to leave.

    `votes` had such a position on their ballot, `chosen` of them went to who stood there; `expected` is the share that
    the lot alone gives it.
    """

    final: bool
    position: int
    votes: int
    chosen: int
    share: Interval
    expected: float


@dataclass(frozen=True, slots=True)
class Ballots:
    """The positions on the ballots of one kind of vote; `p` is of the hypothesis that they do not matter, or None."""

    positions: tuple[BallotPosition, ...]
    votes: int
    games: int
    p: float | None


def position_p_value(
    games: Sequence[GameRecord],
    position_of: Callable[[Entrant], object],
    *,
    balanced: bool = False,
    seed: int = SEED,
    draws: int = DRAWS,
) -> float | None:
    """Return the p-value of the hypothesis that positions mean nothing for ranks (`intervals.sign_flip_p`).

    The scores are the ranks of the players in each position, less the mean of their game. Seats are no lot: with
    `balanced` what labels explain is taken off ranks and positions first. None if positions and labels cannot be told
    apart, or if fewer degrees of freedom are left than positions take.
    """
    known = [game for game in games if all(position_of(each) is not None for each in game.entrants)]
    entries = [(row, each) for row, game in enumerate(known) for each in game.entrants]
    if not entries:
        return None
    rows = np.array([row for row, _ in entries])
    sizes = np.bincount(rows)[:, None]

    def summed(values: Array) -> Array:
        """Return the sums of the values by game."""
        return np.stack([np.bincount(rows, weights=column) for column in values.T], axis=1)

    def within(values: Array) -> Array:
        """Return the values less their mean in the game."""
        found: Array = values - (summed(values) / sizes)[rows]
        return found

    ranks = within(np.array([[each.rank] for _, each in entries]))
    positions = within(_dummies([position_of(each) for _, each in entries]))
    if balanced:
        labels = within(_dummies([each.label for _, each in entries]))
        fitted = np.linalg.pinv(labels)
        left = len(entries) - len(known) - np.linalg.matrix_rank(labels)
        ranks, positions = ranks - labels @ (fitted @ ranks), positions - labels @ (fitted @ positions)
        if left < 2 * np.linalg.matrix_rank(positions, tol=1e-9):
            return None
    scores = clusters([game.seed for game in known]) @ summed(np.where(np.abs(ranks) > 1e-9, ranks * positions, 0.0))
    return sign_flip_p(scores, seed=seed, draws=draws)


def _dummies(values: Sequence[object]) -> Array:
    """Return rows by distinct values: 1 if the row has the value."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.eye(len(numbers))[[numbers[value] for value in values]]


def uneven(games: Sequence[GameRecord], position_of: Callable[[Entrant], int | None]) -> tuple[str, int, int] | None:
    """Return the label that is spread least evenly over positions, with its fewest and most entries in one, or None.

    Of such games the wins of a position also tell who was there.
    """
    met = Counter((each.label, position_of(each)) for game in games for each in game.entrants)
    labels = {label for label, position in met if position is not None}
    positions = {position for _, position in met if position is not None}
    if len(labels) < 2:
        return None
    spread = {label: [met[label, position] for position in positions] for label in sorted(labels)}
    label, counts = max(spread.items(), key=lambda each: max(each[1]) - min(each[1]))
    return (label, min(counts), max(counts)) if min(counts) < max(counts) else None


def ballots(games: Sequence[GameRecord], *, final: bool, seed: int = SEED, draws: int = DRAWS) -> Ballots | None:
    """Return the positions on ballots whose order chance drew, or None without such votes.

    The scores of the test are the votes for each position less what the lot expects (`intervals.sign_flip_p`).
    """
    votes = [
        (row, vote)
        for row, game in enumerate(games)
        for vote in game.votes
        if vote.by_lot and vote.final is final and len(vote.ballot) > 1
    ]
    if not votes:
        return None
    longest = max(len(vote.ballot) for _, vote in votes)
    stood, chosen, expected = (np.zeros((len(games), longest)) for _ in range(3))
    membership = clusters([game.seed for game in games])
    for row, vote in votes:
        stood[row, : len(vote.ballot)] += 1
        expected[row, : len(vote.ballot)] += 1 / len(vote.ballot)
        chosen[row, vote.ballot.index(vote.choice)] += 1
    p = sign_flip_p(membership @ (chosen - expected), seed=seed, draws=draws)
    ends = ratio_intervals(membership @ chosen, membership @ stood, within=(0.0, 1.0))
    by_lot = expected.sum(axis=0) / stood.sum(axis=0)
    positions = tuple(
        BallotPosition(
            final, at + 1, int(stood[:, at].sum()), int(chosen[:, at].sum()),
            interval(float(chosen[:, at].sum() / stood[:, at].sum()), ends[at]), float(by_lot[at]),
        )
        for at in range(longest)
    )  # fmt: skip
    return Ballots(positions, len(votes), int((chosen.sum(axis=1) > 0).sum()), p)
