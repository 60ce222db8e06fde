"""Promises kept and broken, by model, and whether breaking them paid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.in_words import written
from agentsim.analysis.intervals import (
    Array,
    Interval,
    interval,
    jackknife,
    left_out,
    paired_intervals,
    ratio_intervals,
)
from agentsim.engine.event import PlayerId
from agentsim.engine.panel import Cell, DataTable, Struck
from agentsim.engine.wording import counted
from agentsim.records.history import History
from agentsim.records.ledger import Promise


@dataclass(frozen=True, slots=True)
class PromisingGame:
    """A game with its promises, the model of each player, and the places and scores in the end.

    Ranks of tied players are averaged. `fork` names the parent, the decision and the number of a branch of an arm.
    """

    run: str
    promises: tuple[Promise, ...]
    models: Mapping[PlayerId, str]
    ranks: Mapping[PlayerId, float]
    scores: Mapping[str, Mapping[PlayerId, float]]
    fork: tuple[str, int, int] | None = None

    @classmethod
    def of(cls, run: str, history: History, promises: Iterable[Promise]) -> PromisingGame:
        """Return a game of a finished history."""
        standings = [] if history.outcome is None else history.outcome.standings
        ranks = {each.player: each.rank for each in standings if each.rank is not None}
        tied = {rank: list(ranks.values()).count(rank) for rank in ranks.values()}
        scores: defaultdict[str, dict[PlayerId, float]] = defaultdict(dict)
        for each in standings:
            for name, value in each.score.items():
                scores[name][each.player] = float(value)
        branch = history.fork
        return cls(
            run,
            tuple(promises),
            {player.id: player.model for player in history.seated},
            {player: rank + (tied[rank] - 1) / 2 for player, rank in ranks.items()},
            dict(scores),
            None if branch is None or branch.branch is None else (branch.of, branch.at, branch.branch),
        )

    @property
    def words_kept(self) -> dict[PlayerId, bool]:
        """Whether each player kept its word, of those with a promise that was kept or broken."""
        settled = [promise for promise in self.promises if promise.verdict != "open"]
        found = dict.fromkeys((promise.by for promise in settled), True)
        return found | {promise.by: False for promise in settled if promise.verdict == "broken"}


@dataclass(frozen=True, slots=True)
class PromiseLine:
    """The promises of one model. `rate` is the share broken of those that were kept or broken, or None without any."""

    label: str
    games: int
    promises: int
    kept: int
    broken: int
    open: int
    rate: Interval | None


@dataclass(frozen=True, slots=True)
class BreakingPaid:
    """The mean of a measure for players who broke a promise, less that for players who kept all of theirs.

    If `paired`, branches of one number of two arms of a fork are compared, in which the same player broke its word in
    one and kept it in the other.
    """

    measure: str
    broke: int
    kept: int
    difference: Interval
    paired: bool


def promise_lines(games: Sequence[PromisingGame]) -> list[PromiseLine]:
    """Return the promises of each model, and of all, with intervals clustered by game."""
    labels = sorted({promise_label(game, promise) for game in games for promise in game.promises})
    if not labels:
        return []
    broken, settled = np.zeros((len(games), len(labels))), np.zeros((len(games), len(labels)))
    for row, game in enumerate(games):
        for promise in game.promises:
            column = labels.index(promise_label(game, promise))
            settled[row, column] += promise.verdict != "open"
            broken[row, column] += promise.verdict == "broken"
    ends = ratio_intervals(broken, settled, centre=0.5, within=(0.0, 1.0))
    found = []
    for column, label in enumerate(labels):
        own = [each for game in games for each in game.promises if promise_label(game, each) == label]
        counts = {verdict: sum(each.verdict == verdict for each in own) for verdict in ("kept", "broken", "open")}
        done = counts["kept"] + counts["broken"]
        rate = interval(counts["broken"] / done, ends[column]) if done else None
        found.append(
            PromiseLine(
                label,
                len({each.run for each in own}),
                len(own),
                counts["kept"],
                counts["broken"],
                counts["open"],
                rate,
            )
        )
    return found


def promise_label(game: PromisingGame, promise: Promise) -> str:
    """Return the model of the player who made a promise."""
    return game.models.get(promise.by, promise.by)


def breaking_paid(games: Sequence[PromisingGame]) -> list[BreakingPaid]:
    """Return for rank and each score whether breaking paid, first between players, then between branches."""
    measures = ["rank", *dict.fromkeys(name for game in games for name in game.scores)]
    found = (each for name in measures for each in (_between_players(games, name), _between_branches(games, name)))
    return [each for each in found if each is not None]


def _value(game: PromisingGame, measure: str, player: PlayerId) -> float | None:
    return (game.ranks if measure == "rank" else game.scores.get(measure, {})).get(player)


def _between_players(games: Sequence[PromisingGame], measure: str) -> BreakingPaid | None:
    """Compare players of all games; games are left out in turn."""
    sums, counts = np.zeros((len(games), 2)), np.zeros((len(games), 2))
    for row, game in enumerate(games):
        for player, kept in game.words_kept.items():
            if (value := _value(game, measure, player)) is not None:
                sums[row, int(kept)] += value
                counts[row, int(kept)] += 1
    broke, kept_all = map(int, counts.sum(axis=0))
    if not broke or not kept_all:
        return None
    means, moved = left_out(sums, counts)
    sizes: Array = counts.sum(axis=1)[:, None]
    ends = jackknife(means[:1] - means[1:], (moved[:, 0] - moved[:, 1])[:, None], sizes, draws=0)[1:3, 0]
    return BreakingPaid(measure, broke, kept_all, interval(float(means[0] - means[1]), ends), paired=False)


def _between_branches(games: Sequence[PromisingGame], measure: str) -> BreakingPaid | None:
    """Compare branches of one number in which a player broke its word in one arm and kept it in another."""
    pairs: defaultdict[tuple[tuple[str, int, int], PlayerId], dict[bool, list[float]]] = defaultdict(dict)
    for game in games:
        for player, kept in game.words_kept.items() if game.fork else ():
            if game.fork and (value := _value(game, measure, player)) is not None:
                pairs[game.fork, player].setdefault(kept, []).append(value)
    both = [each for each in pairs.values() if len(each) == 2]
    if not both:
        return None
    differences = np.array([[float(np.mean(each[False]) - np.mean(each[True]))] for each in both])
    column = paired_intervals(differences, draws=0)[:3, 0]
    return BreakingPaid(measure, len(both), len(both), interval(float(column[0]), column[1:]), paired=True)


def promise_panels(games: Sequence[PromisingGame], *, doubt: str = "", found_by: Sequence[str] = ()) -> list[DataTable]:
    """Return the tables of promises. With a `doubt` about the coders rates are struck through, with the reason."""

    def shown(text: str | None) -> Cell:
        return None if text is None else Struck(text) if doubt else text

    rows: list[tuple[Cell, ...]] = []
    for line in promise_lines(games):
        rate = shown(None if line.rate is None else written(line.rate, ".0%"))
        rows.append((line.label, line.games, line.promises, line.kept, line.broken, line.open, rate))
    if not rows:
        return []
    by = f" Found by {', '.join(found_by)}." if found_by else ""
    struck = f" Struck through: {doubt}." if doubt else ""
    note = f"Broken: of those kept or broken, with an interval of 95%, games left out in turn.{by}{struck}"
    columns = ("model", "games", "promises", "kept", "broken", "open", "share broken")
    panels = [DataTable("Promises", columns, tuple(rows), note)]
    paid = [
        (
            each.measure,
            "branches of forks" if each.paired else "players",
            each.broke,
            each.kept,
            shown(written(each.difference, "+.2f")),
        )
        for each in breaking_paid(games)
    ]
    if paid:
        between = (
            f"Who broke a promise, less who kept all; {counted(len(games), 'game')}. Players differ in more than that."
        )
        heads = ("measure", "compared", "broke", "kept all", "difference")
        panels.append(DataTable("Whether breaking promises paid", heads, tuple(paid), f"{between}{struck}"))
    return panels
