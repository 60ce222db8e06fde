"""Beliefs of many games, scored against what happened: Brier and log scores, calibration and resolution by label.

A belief is a probability for each outcome of a set. The games of one seed are a cluster: players who believe the same
thing of one game are right or wrong together (docs/inference.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agentsim.analysis.finished_games import BeliefRecord, GameRecord
from agentsim.analysis.intervals import (
    FEWEST,
    Array,
    Interval,
    clusters,
    interval,
    jackknife,
    leave_one_out,
    ratio_intervals,
    sign_flip_p,
)
from agentsim.lazy import dataclass

ALL = "all"
EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The ends of the bins of a reliability diagram, before those of too few clusters are joined."""
FEWEST_EVENTS = 5
"""Bins of the test are joined until each expects as many clusters in which its outcomes happen, and as many without."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The stated probabilities from `low` to below `high`: how many, their mean, and how often they came true."""

    label: str
    question: str
    low: float
    high: float
    stated: int
    mean: float
    happened: Interval


@dataclass(frozen=True, slots=True)
class BeliefLine:
    """The scores of the beliefs of one label about one question, or about all questions.

    `brier` is from 0 to 2 and `log_score` in nats; lower is better in both. `uniform` is the Brier score of giving each
    outcome the same probability. The Brier score is `uncertainty` minus `resolution` plus `reliability`, but for what
    probabilities differ within bins (A. H. Murphy, 1973); the last two are corrected for bias by the jackknife. `p` is
    of the hypothesis that the beliefs are calibrated, or None if it cannot be tested.
    """

    label: str
    question: str
    games: int
    beliefs: int
    brier: Interval
    log_score: Interval
    uniform: float
    uncertainty: float
    resolution: float
    reliability: float
    p: float | None


class _Stated:
    """The stated probabilities of one label and question: a row for each, with its game and what happened."""

    def __init__(self, rows: Sequence[tuple[int, BeliefRecord]], membership: Array) -> None:
        self.beliefs = [belief for _, belief in rows]
        sizes = [len(each.probabilities) for each in self.beliefs]
        games = np.repeat([game for game, _ in rows], sizes)
        self.clusters, self.owner = len(membership), membership.argmax(axis=0)[games]
        self.p = np.array([value for each in self.beliefs for value in each.probabilities])
        self.y = np.array(
            [float(index == each.happened) for each in self.beliefs for index in range(len(each.probabilities))]
        )
        self.even = np.repeat([1 / size for size in sizes], sizes)
        self.edges = self._edges(self._is_spread)
        self.bins = self._bin_indices(self.edges)

    def _bin_indices(self, edges: Sequence[float]) -> NDArray[np.intp]:
        return np.searchsorted(np.array(edges), self.p, side="right")

    def by_bin(self, values: Array, bins: NDArray[np.intp]) -> Array:
        """Return sums of the values by clusters and bins."""
        size = int(bins.max()) + 1
        sums = np.bincount(self.owner * size + bins, values, self.clusters * size)
        return sums.astype(np.float64).reshape(self.clusters, size)

    def _edges(self, is_enough: Callable[[NDArray[np.bool_]], bool]) -> tuple[float, ...]:
        """Return the ends between bins, which depend on what is stated, not on what happened."""
        edges: list[float] = []
        last = 0.0
        for edge in EDGES:
            if is_enough((self.p >= last) & (self.p < edge)) and is_enough(self.p >= edge):
                edges.append(edge)
                last = edge
        return tuple(edges)

    def _is_spread(self, part: NDArray[np.bool_]) -> bool:
        """Return whether these probabilities are of enough clusters for an interval."""
        return len(np.unique(self.owner[part])) >= FEWEST

    def _has_events(self, part: NDArray[np.bool_]) -> bool:
        """Return whether enough clusters are expected in which an outcome of this part happens, or does not."""
        sums, counts = (np.bincount(self.owner[part], each, self.clusters) for each in (self.p[part], None))
        means = sums / np.maximum(counts, 1)
        return bool(min(means.sum(), ((counts > 0) - means).sum()) >= FEWEST_EVENTS)

    def calibration_p(self) -> float | None:
        """Return the p-value of the hypothesis that outcomes happen as often as is stated (`intervals.sign_flip_p`).

        The scores are, in each bin, how many more outcomes happened than were expected; and over all, whether outcomes
        that are stated to be likelier than even happened more or less often than stated. Bins in which few events are
        expected are joined: their scores would be too skewed for signs to be flipped.
        """
        error = self.y - self.p
        slope = np.bincount(self.owner, error * (self.p - self.even), self.clusters)
        return sign_flip_p(
            np.column_stack([self.by_bin(error, self._bin_indices(self._edges(self._has_events))), slope])
        )

    def decomposition(self) -> tuple[float, float, float]:
        """Return uncertainty, resolution and reliability, on the scale of the Brier score."""
        counts, stated, happened = (self.by_bin(each, self.bins) for each in (np.ones_like(self.p), self.p, self.y))
        sizes = np.bincount(self.owner, self.even, self.clusters)  # each belief counts once
        whole = _murphy(counts.sum(axis=0), stated.sum(axis=0), happened.sum(axis=0), sizes.sum())
        there = np.flatnonzero(counts.sum(axis=1))
        if len(there) < FEWEST:
            return whole
        rest = np.array(
            [
                _murphy(
                    counts.sum(axis=0) - counts[row],
                    stated.sum(axis=0) - stated[row],
                    happened.sum(axis=0) - happened[row],
                    sizes.sum() - sizes[row],
                )
                for row in there
            ]
        ).mean(axis=0)
        corrected = len(there) * np.array(whole) - (len(there) - 1) * rest
        return whole[0], max(0.0, float(corrected[1])), max(0.0, float(corrected[2]))

    def diagram(self, label: str, question: str) -> Iterator[Bin]:
        """Yield the bins of the reliability diagram."""
        counts, happened = (self.by_bin(each, self.bins) for each in (np.ones_like(self.p), self.y))
        value, moved = leave_one_out(happened, counts)
        ends = np.clip(jackknife(value, moved, counts, draws=0)[1:3], 0.0, 1.0)
        limits = (0.0, *self.edges, 1.0)
        for index, (low, high) in enumerate(pairwise(limits)):
            own = self.bins == index
            if own.any():
                share = interval(float(value[index]), ends[:, index])
                yield Bin(label, question, low, high, int(own.sum()), float(self.p[own].mean()), share)


def _murphy(counts: Array, stated: Array, happened: Array, beliefs: float) -> tuple[float, float, float]:
    own = counts > 0
    counts, stated, happened = counts[own], stated[own], happened[own]
    rate = happened.sum() / counts.sum()
    uncertainty = counts.sum() * rate * (1 - rate) / beliefs
    resolution = (counts * (happened / counts - rate) ** 2).sum() / beliefs
    reliability = ((stated - happened) ** 2 / counts).sum() / beliefs
    return float(uncertainty), float(resolution), float(reliability)


def belief_lines(games: Sequence[GameRecord]) -> list[BeliefLine]:
    """Return the scores by question and label, the labels of each question by Brier score."""
    found = []
    membership = clusters([game.seed for game in games])
    for question, labels in _by_question(games).items():
        lines = []
        sums, logs, counts = (np.zeros((len(games), len(labels))) for _ in range(3))
        for column, rows in enumerate(labels.values()):
            for game, belief in rows:
                sums[game, column] += belief.brier
                logs[game, column] += belief.log_score
                counts[game, column] += 1
        briers = ratio_intervals(membership @ sums, membership @ counts, within=(0.0, 2.0))
        logged = ratio_intervals(membership @ logs, membership @ counts, within=(0.0, np.inf))
        for column, (label, rows) in enumerate(labels.items()):
            stated, many = _Stated(rows, membership), counts[:, column]
            uncertainty, resolution, reliability = stated.decomposition()
            lines.append(
                BeliefLine(
                    label=label,
                    question=question,
                    games=int((many > 0).sum()),
                    beliefs=len(rows),
                    brier=interval(float(sums[:, column].sum() / many.sum()), briers[column]),
                    log_score=interval(float(logs[:, column].sum() / many.sum()), logged[column]),
                    uniform=float(np.mean([1 - 1 / len(each.probabilities) for each in stated.beliefs])),
                    uncertainty=uncertainty,
                    resolution=resolution,
                    reliability=reliability,
                    p=stated.calibration_p(),
                )
            )
        found += sorted(lines, key=lambda line: (line.brier.value, line.label))
    return found


def reliability_bins(games: Sequence[GameRecord]) -> list[Bin]:
    """Return the bins of a reliability diagram for each question, all labels together, and for each label."""
    membership, found = clusters([game.seed for game in games]), list[Bin]()
    for question, labels in _by_question(games).items():
        every = sorted((row for rows in labels.values() for row in rows), key=lambda row: row[0])
        found += _Stated(every, membership).diagram(ALL, question)
        for label, rows in labels.items() if len(labels) > 1 else ():
            found += _Stated(rows, membership).diagram(label, question)
    return found


def _by_question(games: Sequence[GameRecord]) -> dict[str, dict[str, list[tuple[int, BeliefRecord]]]]:
    """Return by question and label the beliefs whose truth is known, each with the number of its game."""
    found: dict[str, dict[str, list[tuple[int, BeliefRecord]]]] = {}
    for number, game in enumerate(games):
        labels = {entrant.player: entrant.label for entrant in game.entrants}
        for belief in game.beliefs:
            own = found.setdefault(belief.question, {}).setdefault(labels[belief.player], [])
            own.append((number, belief))
    return {question: dict(sorted(labels.items())) for question, labels in found.items()}
