"""Said and done: promises kept and broken and claims true and false by model, and whether breaking promises paid."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from agentsim.analysis.estimate_text import written
from agentsim.analysis.finished_games import midranks
from agentsim.analysis.intervals import (
    Array,
    Interval,
    interval,
    jackknife,
    leave_one_out,
    paired_intervals,
    ratio_intervals,
)
from agentsim.engine.event import PlayerId
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Panel, Struck
from agentsim.engine.wording import counted
from agentsim.lazy import dataclass
from agentsim.records.claims import Claim
from agentsim.records.history import History
from agentsim.records.ledger import Promise


@dataclass(frozen=True, slots=True)
class PromisingGame:
    """A game with its promises, the model of each player, and the ranks and scores in the end.

    Ranks of tied players are averaged. `fork` names the parent, the decision and the number of a branch of an arm. A
    game `repeats` if it is a branch of another game at hand, whose past it shares: such games are compared with each
    other alone.
    """

    run: str
    promises: tuple[Promise, ...]
    models: Mapping[PlayerId, str]
    ranks: Mapping[PlayerId, float]
    scores: Mapping[str, Mapping[PlayerId, float]]
    fork: tuple[str, int, int] | None = None
    repeats: bool = False

    @classmethod
    def of(cls, run: str, history: History, promises: Iterable[Promise], *, repeats: bool = False) -> PromisingGame:
        """Return a game of a finished history."""
        standings = [] if history.outcome is None else history.outcome.standings
        ranks = {each.player: each.rank for each in standings if each.rank is not None}
        scores: defaultdict[str, dict[PlayerId, float]] = defaultdict(dict)
        for each in standings:
            for name, value in each.score.items():
                scores[name][each.player] = float(value)
        branch = history.fork
        return cls(
            run,
            tuple(promises),
            {player.id: player.model for player in history.seated},
            midranks(ranks),
            dict(scores),
            None if branch is None or branch.branch is None else (branch.of, branch.at, branch.branch),
            repeats,
        )

    @property
    def words_kept(self) -> dict[PlayerId, bool]:
        """True for each player that kept its word, of those with a promise that was kept or broken."""
        decided = [promise for promise in self.promises if promise.verdict != "open"]
        found = dict.fromkeys((promise.by for promise in decided), True)
        return found | {promise.by: False for promise in decided if promise.verdict == "broken"}


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
    """Return the promises of each model, with intervals clustered by game."""
    alone = [game for game in games if not game.repeats]
    said = [[(game.models.get(each.by, each.by), each.verdict) for each in game.promises] for game in alone]
    rates = _rates(said, hits=("broken",), among=("broken", "kept"))
    found = []
    for label, (there, rate) in rates.items():
        counts = Counter(verdict for game in said for who, verdict in game if who == label)
        many = sum(counts.values())
        found.append(PromiseLine(label, there, many, counts["kept"], counts["broken"], counts["open"], rate))
    return found


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """The claims of one model about the game's facts.

    `errors` are false claims about others or the game, `lies` those about the player itself. `rate` is the share of
    lies among the claims about the player itself that can be checked, or None without any.
    """

    label: str
    games: int
    claims: int
    true: int
    errors: int
    lies: int
    unknown: int
    rate: Interval | None


def claim_lines(games: Sequence[Sequence[Claim]], models: Sequence[Mapping[PlayerId, str]]) -> list[ClaimLine]:
    """Return the claims of each model, with intervals clustered by game; `models` has those of each game's players."""
    said = [
        [(own.get(each.by, each.by), "own" * (each.about == each.by) + each.veracity) for each in game]
        for game, own in zip(games, models, strict=True)
    ]
    rates = _rates(said, hits=("ownlie",), among=("ownlie", "owntrue"))
    found = []
    for label, (there, rate) in rates.items():
        counts = Counter(veracity.removeprefix("own") for game in said for who, veracity in game if who == label)
        of = (counts["true"], counts["false"], counts["lie"], counts["unknown"])
        found.append(ClaimLine(label, there, sum(counts.values()), *of, rate))
    return found


def _rates(
    said: Sequence[Sequence[tuple[str, str]]], *, hits: Sequence[str], among: Sequence[str]
) -> dict[str, tuple[int, Interval | None]]:
    """Return by label the number of its games, and the share of `hits` among the outcomes `among`.

    `said` has the label and the outcome of each unit by game; games are the clusters of the intervals.
    """
    labels = sorted({label for game in said for label, _ in game})
    if not labels:
        return {}
    hit, counted_in = np.zeros((len(said), len(labels))), np.zeros((len(said), len(labels)))
    for row, game in enumerate(said):
        for label, outcome in game:
            hit[row, labels.index(label)] += outcome in hits
            counted_in[row, labels.index(label)] += outcome in among
    ends = ratio_intervals(hit, counted_in, centre=0.5, within=(0.0, 1.0))
    sums = counted_in.sum(axis=0)
    found: dict[str, tuple[int, Interval | None]] = {}
    for column, label in enumerate(labels):
        there = sum(any(who == label for who, _ in game) for game in said)
        rate = interval(float(hit[:, column].sum() / sums[column]), ends[column]) if sums[column] else None
        found[label] = there, rate
    return found


def breaking_paid(games: Sequence[PromisingGame]) -> list[BreakingPaid]:
    """Return for rank and each score whether breaking paid, first between players, then between branches."""
    measures = ["rank", *dict.fromkeys(name for game in games for name in game.scores)]
    found = (each for name in measures for each in (_between_players(games, name), _between_branches(games, name)))
    return [each for each in found if each is not None]


def _value(game: PromisingGame, measure: str, player: PlayerId) -> float | None:
    return (game.ranks if measure == "rank" else game.scores.get(measure, {})).get(player)


def _between_players(games: Sequence[PromisingGame], measure: str) -> BreakingPaid | None:
    """Compare players of all games; games are left out in turn."""
    games = [game for game in games if not game.repeats]
    sums, counts = np.zeros((len(games), 2)), np.zeros((len(games), 2))
    for row, game in enumerate(games):
        for player, kept in game.words_kept.items():
            if (value := _value(game, measure, player)) is not None:
                sums[row, int(kept)] += value
                counts[row, int(kept)] += 1
    broke, kept_all = map(int, counts.sum(axis=0))
    if not broke or not kept_all:
        return None
    means, moved = leave_one_out(sums, counts)
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


def claim_panel(lines: Sequence[ClaimLine], *, doubt: str = "") -> DataTable:
    """Return the table of claims. With a `doubt` about the coders rates are struck through, with the reason."""
    rows: list[tuple[Cell, ...]] = []
    for line in lines:
        rate = None if line.rate is None else written(line.rate, ".0%")
        shown = Struck(rate) if doubt and rate is not None else rate
        rows.append((line.label, line.games, line.claims, line.true, line.errors, line.lies, line.unknown, shown))
    struck = f" Struck through: {doubt}." if doubt else ""
    note = (
        "By the game's own facts. A lie is a false claim about oneself; its share is of the claims about oneself that "
        f"can be checked, with an interval of 95%, games left out in turn.{struck}"
    )
    columns = ("model", "games", "claims", "true", "false of others", "lies", "unknown", "share of lies")
    return DataTable("Claims beside the truth", columns, tuple(rows), note)


def promise_panels(games: Sequence[PromisingGame], *, doubt: str = "", found_by: Sequence[str] = ()) -> list[Panel]:
    """Return the tables and the plot of promises. With a `doubt` about the coders rates are struck through."""

    def shown(text: str | None) -> Cell:
        return None if text is None else Struck(text) if doubt else text

    lines = promise_lines(games)
    rows: list[tuple[Cell, ...]] = []
    for line in lines:
        rate = shown(None if line.rate is None else written(line.rate, ".0%"))
        rows.append((line.label, line.games, line.promises, line.kept, line.broken, line.open, rate))
    if not rows:
        return []
    by = f" Found by {', '.join(found_by)}." if found_by else ""
    struck = f" Struck through: {doubt}." if doubt else ""
    note = f"Broken: of those kept or broken, with an interval of 95%, games left out in turn.{by}{struck}"
    columns = ("model", "games", "promises", "kept", "broken", "open", "share broken")
    panels: list[Panel] = [DataTable("Promises", columns, tuple(rows), note), *_promise_plot(lines, doubt)]
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


def _promise_plot(lines: Sequence[PromiseLine], doubt: str) -> list[Panel]:
    """Return the plot of the shares of promises broken, or [] if none was kept or broken."""
    rows = tuple(
        Estimate(line.label, line.rate.value, line.rate.low, line.rate.high, struck=bool(doubt))
        for line in lines
        if line.rate is not None
    )
    struck = f" (struck through: {doubt})" if doubt else ""
    note = "Of those kept or broken, with intervals of 95%, games left out in turn."
    return [Estimates("Share of promises broken", rows, f"share of promises broken{struck}", note)] if rows else []
