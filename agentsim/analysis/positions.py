"""Positions: what a seat, a turn to speak or a place on a ballot is worth, with a test of each by permutation.

The tests deal positions again as the lot could have: those of games of one seed together, since they share their lot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.finished_games import Entrant, GameRecord
from agentsim.analysis.in_words import estimated, p_value, written
from agentsim.analysis.inference import DEALS, SEED, Array, Interval, Whole, blocks, interval, ratio_intervals
from agentsim.engine.panel import DataTable
from agentsim.engine.wording import counted


@dataclass(frozen=True, slots=True)
class BallotPlace:
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
    """The positions on the ballots of one kind of vote, and the p-value that they do not matter."""

    places: tuple[BallotPlace, ...]
    votes: int
    games: int
    p: float


def place_p(
    games: Sequence[GameRecord],
    place_of: Callable[[Entrant], int | None],
    *,
    balanced: bool = False,
    seed: int = SEED,
    deals: int = DEALS,
) -> float | None:
    """The p-value that places mean nothing for ranks; None where places and labels cannot be told apart.

    For places by lot the statistic is the sum of squares of ranks (less their mean in the game) that places explain;
    players keep their ranks, and places are dealt again: exact. Seats are no lot. With `balanced` what labels explain
    is taken off first, and the rest is dealt (D. Freedman and D. Lane, A nonstochastic interpretation of reported
    significance levels, 1983); the statistic is then F, and there is no test where games leave fewer degrees of
    freedom for the residual than places take.
    """
    known = [game for game in games if all(place_of(each) is not None for each in game.entrants)]
    width = max((len(game.entrants) for game in known), default=0)
    if width < 2 or not known:
        return None
    ranks = np.zeros((len(known), width))
    there = np.zeros((len(known), width), dtype=bool)
    places, labels = (np.full((len(known), width), -1, dtype=np.int64) for _ in range(2))
    names = {label: at for at, label in enumerate(sorted({each.label for game in known for each in game.entrants}))}
    for row, game in enumerate(known):
        mean = sum(each.rank for each in game.entrants) / len(game.entrants)
        for at, each in enumerate(sorted(game.entrants, key=lambda each: each.seat)):
            place = place_of(each)
            assert place is not None, "such games are left out"
            ranks[row, at], there[row, at] = each.rank - mean, True
            places[row, at], labels[row, at] = place, names[each.label]
    design, who = _dummies(places, there), _basis(_dummies(labels, there))
    left = ranks[there]
    if balanced:
        left, design = left - who @ (who.T @ left), design - who @ (who.T @ design)
    left[np.abs(left) < 1e-9] = 0.0  # a rank that labels explain wholly leaves rounding alone
    basis = _basis(design)
    free = int((there.sum(axis=1) - 1).sum()) - who.shape[1] - basis.shape[1]
    if basis.shape[1] == 0 or not left.any() or (balanced and free < basis.shape[1]):
        return None

    def explained(values: Array) -> float:
        own = float(((basis.T @ values) ** 2).sum())
        if not balanced:
            return own
        rest = float((values**2).sum() - ((who.T @ values) ** 2).sum()) - own
        return own / max(rest, 1e-12)

    rest = np.zeros_like(ranks)
    rest[there] = left
    generator = np.random.default_rng(seed)
    share = blocks([game.seed for game in known]).argmax(axis=0)
    many = int(share.max()) + 1
    found, done = 0, explained(left)
    for _ in range(deals):
        keys = np.where(there, generator.random((many, width))[share], 2.0)
        dealt = np.take_along_axis(rest, keys.argsort(axis=1), axis=1)[there]
        found += bool(explained(dealt) >= done * (1 - 1e-9))
    return (1 + found) / (1 + deals)


def uneven(games: Sequence[GameRecord], place_of: Callable[[Entrant], int | None]) -> tuple[str, int, int] | None:
    """The label whose entries are spread least evenly over places: its fewest and most in one; None if all are even.

    Of such games the wins of a place also tell who was there.
    """
    met = Counter((each.label, place_of(each)) for game in games for each in game.entrants)
    labels = {label for label, place in met if place is not None}
    places = {place for _, place in met if place is not None}
    if len(labels) < 2:
        return None
    spread = {label: [met[label, place] for place in places] for label in sorted(labels)}
    label, counts = max(spread.items(), key=lambda each: max(each[1]) - min(each[1]))
    return (label, min(counts), max(counts)) if min(counts) < max(counts) else None


def _dummies(numbers: Whole, there: Array) -> Array:
    """A column for each number, less its mean in the game."""
    columns = []
    for number in np.unique(numbers[numbers >= 0]):
        own = (numbers == number) * 1.0
        columns.append((own - own.sum(axis=1, keepdims=True) / there.sum(axis=1, keepdims=True))[there > 0])
    return np.stack(columns, axis=1)


def _basis(design: Array) -> Array:
    """Orthonormal columns of the same span."""
    left, sizes, _ = np.linalg.svd(design, full_matrices=False)
    found: Array = left[:, sizes > 1e-8 * max(1.0, float(np.sqrt(len(design))))]
    return found


def ballots(games: Sequence[GameRecord], *, final: bool, seed: int = SEED, deals: int = DEALS) -> Ballots | None:
    """The positions on ballots whose order chance drew; None without such votes.

    The p-value is that of the squared distances of choices from what the lot expects, each divided by it, summed over
    positions and sizes of ballots, when the same voters choose the same candidates from ballots in another order.
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
    stood, chosen = (np.zeros((len(games), longest)) for _ in range(2))
    together = blocks([game.seed for game in games])
    share = together.argmax(axis=0)
    cells: dict[tuple[int, int, int, str], list[int]] = {}
    for row, vote in votes:
        at = vote.ballot.index(vote.choice)
        stood[row, : len(vote.ballot)] += 1
        chosen[row, at] += 1
        cells.setdefault((len(vote.ballot), int(share[row]), vote.round, vote.voter), []).append(at)
    generator = np.random.default_rng(seed)
    far, dealt = 0.0, np.zeros(deals)
    for size in sorted({key[0] for key in cells}):
        own = [np.array(positions) for key, positions in cells.items() if key[0] == size]
        expected = sum(map(len, own)) / size
        alone = sum(len(each) == 1 for each in own)
        counts = generator.multinomial(alone, [1 / size] * size, size=deals).astype(np.float64)
        for each in (each for each in own if len(each) > 1):
            orders = generator.random((deals, size)).argsort(axis=1)[:, each]
            counts += np.stack([(orders == at).sum(axis=1) for at in range(size)], axis=1)
        far += float(((np.bincount(np.concatenate(own), minlength=size) - expected) ** 2).sum()) / expected
        dealt += ((counts - expected) ** 2).sum(axis=1) / expected
    p = (1 + np.count_nonzero(dealt >= far * (1 - 1e-9))) / (1 + deals)
    ends = ratio_intervals(together @ chosen, together @ stood, within=(0.0, 1.0))
    expected_of = _expected(vote.ballot for _, vote in votes)
    places = tuple(
        BallotPlace(
            final, at + 1, int(stood[:, at].sum()), int(chosen[:, at].sum()),
            interval(float(chosen[:, at].sum() / stood[:, at].sum()), ends[at]), expected_of[at],
        )
        for at in range(longest)
    )  # fmt: skip
    return Ballots(places, len(votes), int((chosen.sum(axis=1) > 0).sum()), float(p))


def _expected(found: Iterable[tuple[str, ...]]) -> list[float]:
    """By position: the mean of one over the size of the ballots that have it."""
    sizes = [len(ballot) for ballot in found]
    return [float(np.mean([1 / size for size in sizes if size > at])) for at in range(max(sizes))]


def ballot_panel(found: Sequence[Ballots]) -> DataTable:
    """What a position on the ballot is worth, for each kind of vote."""
    rows, tests, said = [], [], []
    for each in found:
        kind = "to win" if each.places[0].final else "to go"
        for at in each.places:
            share = written(at.share, ".0%")
            rows.append((kind, at.position, at.votes, at.chosen, share, f"{at.expected:.0%}"))
        votes = f"{counted(each.votes, 'vote')} in {counted(each.games, 'game')}"
        tests.append(f"votes {kind}: {p_value(each.p)}")
        verdict = "went along with" if each.p <= 0.05 else "was not seen to go along with"
        first = each.places[0]
        whole = estimated(first.share, ".0%", each.games, f"{first.expected:.0%} by the lot alone; {votes}")
        said.append(f"Position on the ballot {verdict} votes {kind} ({p_value(each.p)}): the first got {whole}.")
    note = (
        "Ballots whose order chance drew: how many votes went to each position, of those whose ballot had it, beside "
        "what the lot alone gives. Intervals of 95% by games. The tests (permutation) draw the orders again and leave "
        f"the choices as they are; {', '.join(tests)}."
    )
    columns = ("vote", "position", "ballots", "chosen", "share", "by lot")
    return DataTable("Position on the ballot", columns, tuple(rows), note, sentence=" ".join(said))
