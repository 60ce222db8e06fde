"""Finished games as records for comparison: players, votes, interactions, and the measures of each player.

Measures are rank, win, scores of the outcome, and counts of interactions.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from agentsim import games
from agentsim.engine.event import AGAINST, FOR, NAMED, EveryoneType, LoggedEvent
from agentsim.engine.probabilities import brier_score, log_score
from agentsim.engine.wording import near
from agentsim.errors import OtherVersion, ScenarioError, UsageError
from agentsim.records.events import Pair, compute_from_log, pairs, told_events
from agentsim.records.fallback_rates import FallbackRate, fallback_rates_in
from agentsim.records.history import FINISHED, Branch, History
from agentsim.records.journal import DecisionRecord
from agentsim.records.load import parsed, read, runs_with_history
from agentsim.records.run_files import INTERVIEW, RunFiles
from agentsim.records.tables import beliefs_in

RANK, WIN = "rank", "win"
MeasureKey: TypeAlias = tuple[str, str]
"""A measure and the player whose value it is."""


def no_such_measure(measure: str, known: Sequence[str]) -> str:
    """Say that there is no such measure, with a similar one if there is one, and all that there are."""
    return f"{measure}: there is no such measure{near(measure, known)} (measures: {', '.join(known)})"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One player of one game. Tied players have the mean of their ranks: 1.5, 1.5, 3.

    `seat` counts from 1 in the order of the table, `turn` in the first order of all players that chance drew (None
    without one). `scores` are the outcome's. `asked` is the number of decisions that no bot made, `turned_away` of
    those that were read and that the rules gave no effect (`Event.turned_away`). `hosts` has the answers of each model
    and host, the unusable ones of them, and the calls that failed there. `scores` also has the mean Brier score of its
    beliefs by question (`brier_wins`).
    """

    player: str
    model: str
    label: str
    rank: float
    seat: int
    turn: int | None
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int = 0
    turned_away: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)
    lost_to_host: int = 0
    lost_to_model: int = 0
    lost_to_person: int = 0
    lost_to_deadline: int = 0
    hosts: Mapping[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote for one player of a ballot, in a round: to win (`final`), or to leave.

    The ballot is in the order in which the voter read it; `by_lot` says that chance drew that order.
    """

    voter: str
    choice: str
    ballot: tuple[str, ...]
    final: bool
    round: int = 0
    by_lot: bool = False


@dataclass(frozen=True, slots=True)
class BeliefRecord:
    """A player's probabilities for the outcomes of a set, and the index of the outcome that `happened` among them."""

    player: str
    question: str
    probabilities: tuple[float, ...]
    happened: int
    brier: float
    log_score: float


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often `who` did something for or against `whom` in a game, and how often the pair turned either way."""

    who: str
    whom: str
    done_for: int
    done_against: int
    turned_for: int
    turned_against: int


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game, with the votes in its events; a branch has a `parent`, and `fork` says what it changed.

    A branch's decisions, calls and dollars are those after the fork; `calls` are those of staff too. `certain` is set
    where bots alone decided: it is the same for games that must have the same result. `pair_counts` has the pairs of
    which one was for or against the other; None if the game is not installed, or its events are of other rules.
    `worst_fallback_rate` is the largest share of fallbacks in it (`records.fallback_rates`). `scenario` and `folder`
    tell its condition. If no player is `ranked`, all tie.
    """

    name: str
    game: str
    seed: int
    entrants: tuple[Entrant, ...]
    votes: tuple[Vote, ...]
    cost_usd: float | None
    parent: str | None = None
    fork: str = ""
    certain: str | None = None
    pair_counts: tuple[PairCounts, ...] | None = ()
    worst_fallback_rate: float = 0.0
    scenario: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""
    actions: Mapping[MeasureKey, float] = field(default_factory=dict)
    ranked: bool = True
    lost_to_host: bool = False
    beliefs: tuple[BeliefRecord, ...] = ()
    calls: int = 0

    @property
    def wins(self) -> list[float]:
        """Return the win of each entrant; n players who share the first place have 1/n each."""
        ranks = [entrant.rank for entrant in self.entrants]
        best = min(ranks, default=0.0)
        return [(rank == best) / ranks.count(best) for rank in ranks]


def game_record(name: str, history: History) -> GameRecord | None:
    """Return the record of a history, or None if the game has no outcome."""
    outcome = history.outcome
    if outcome is None or history.status not in FINISHED:
        return None
    ranks = midranks({standing.player: standing.rank for standing in outcome.standings})
    log, interacting = _told(history)
    turns, scores = _turns(log, history), {each.player: each.score for each in outcome.standings}
    own = [each for each in history.decisions if not history.inherits(each)]
    decided = Counter(decision.player for decision in own)
    fork, paid = history.fork, history.paid
    by_player = paid.by_player or {}
    fallbacks, seated, hosts = fallback_rates_in(history), history.seated, _hosts(own, history)
    beliefs = tuple(_beliefs(history)) if interacting is not None else ()
    entrants = []
    for seat, player in enumerate(seated, start=1):
        usage, share = by_player.get(player.id), fallbacks.by_player.get(player.id, FallbackRate())
        entrants.append(
            Entrant(
                player=player.id,
                model=player.model,
                label=player.model,
                rank=ranks.get(player.id, float(len(seated))),
                seat=seat,
                turn=turns.get(player.id),
                decisions=decided[player.id],
                calls=usage.calls if usage else 0,
                reasks=usage.reasks if usage else 0,
                fallbacks=usage.fallbacks if usage else 0,
                cost_usd=usage.cost_usd if usage else 0.0,
                asked=share.decisions,
                turned_away=share.turned_away,
                lost_to_host=share.host,
                lost_to_model=share.model,
                lost_to_person=share.person,
                lost_to_deadline=share.deadline,
                hosts=hosts.get(player.id, {}),
                scores={
                    **{measure: float(value) for measure, value in scores.get(player.id, {}).items()},
                    **_brier_scores(beliefs, player.id),
                },
            )
        )
    return GameRecord(
        name=name,
        game=history.game,
        seed=history.seed,
        entrants=tuple(entrants),
        votes=tuple(_votes(history, {entry.event.kind for entry in log if "ballot" in entry.event.random_order})),
        cost_usd=paid.cost_usd,
        calls=paid.calls,
        parent=None if fork is None else fork.of,
        fork=_fork(fork),
        certain=_certain(history, own),
        pair_counts=None if interacting is None else tuple(_pair_counts(interacting)),
        worst_fallback_rate=fallbacks.worst,
        scenario=history.scenario,
        actions=_actions(interacting or ()),
        lost_to_host=fallbacks.whole.host > 0,
        ranked=any(each.rank for each in outcome.standings),
        beliefs=beliefs,
    )


def _brier_scores(beliefs: Sequence[BeliefRecord], player: str) -> dict[str, float]:
    """Return the mean Brier score of a player's beliefs in a game, by question: a measure such as `brier_wins`."""
    own = [each for each in beliefs if each.player == player]
    questions = dict.fromkeys(each.question for each in own)
    return {f"brier_{name}": fmean(each.brier for each in own if each.question == name) for name in questions}


def _beliefs(history: History) -> Iterator[BeliefRecord]:
    """Yield the beliefs whose truth is known, of the players' own models, and that a branch did not inherit."""
    models = {player.id: player.model for player in history.players}
    for answer, _, probabilities, truth in beliefs_in(history):
        inherited = not answer.later and history.inherits(answer.decision)
        if truth is not None and not inherited and answer.model == models.get(answer.decision.player):
            yield BeliefRecord(
                player=answer.decision.player,
                question=answer.question.name,
                probabilities=tuple(probabilities.values()),
                happened=list(probabilities).index(truth),
                brier=brier_score(probabilities, truth),
                log_score=log_score(probabilities, truth),
            )


def _hosts(own: Sequence[DecisionRecord], history: History) -> dict[str, dict[tuple[str, str], tuple[int, int, int]]]:
    """Return by player how many answers came from each model and host, how many of them were unusable, and how many
    calls failed there.

    Answers and errors that name no host are left out.
    """
    models = {player.id: player.model for player in history.players}
    found: dict[str, dict[tuple[str, str], tuple[int, int, int]]] = {}
    for decision in own:
        for attempt in decision.attempts:
            if (host := attempt.host) is None:
                continue
            key = (attempt.model or models.get(decision.player, ""), host)
            of_player = found.setdefault(decision.player, {})
            answers, unusable, failed = of_player.get(key, (0, 0, 0))
            answered = attempt.completion is not None
            bad = answered and attempt.code is not None
            of_player[key] = (answers + answered, unusable + bad, failed + (not answered))
    return found


def labelled(games: Sequence[GameRecord], by: str) -> list[GameRecord]:
    """Return the games with entrants labeled by `model` or by `player`."""
    return [
        replace(game, entrants=tuple(replace(each, label=getattr(each, by)) for each in game.entrants))
        for game in games
    ]


def vendor(model: str) -> str:
    """Return the vendor in a model's name: the second segment behind a router, else the provider."""
    first, _, rest = model.partition(" > ")[0].partition("/")
    return rest.partition("/")[0] if first == "openrouter" and "/" in rest else first


def _fork(fork: Branch | None) -> str:
    """Say what a branch changes; equal words are equal changes."""
    if fork is None:
        return ""
    done = [f"decision {fork.at}", *fork.changed]
    if fork.instead is not None:
        done.append(json.dumps(fork.instead, ensure_ascii=True))
    return ", ".join(done)


def _certain(history: History, own: Sequence[DecisionRecord]) -> str | None:
    """Return a digest of everything that determines a game of bots, or None if others decided."""
    fork = history.fork
    given = None if fork is None or fork.instead is None else fork.at
    if any(each.source != "bot" and each.index != given for each in own):
        return None
    done = None if fork is None else [fork.of, fork.at, fork.instead, fork.changed, fork.salts]
    what = [history.game, history.rules_version, history.seed, history.scenario, done]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _told(history: History) -> tuple[Sequence[LoggedEvent], list[Pair] | None]:
    """Return the events and the pairs; no pairs if the game is not installed or the events are of other rules."""
    log: Sequence[LoggedEvent] = ()
    try:
        log = told_events(history, games.find(history.game))
        return log, compute_from_log(partial(pairs, names=history.names), log, history)
    except (UsageError, ScenarioError):
        return log, None


def _pair_counts(interacting: Sequence[Pair]) -> Iterator[PairCounts]:
    for pair in interacting:
        done_for, done_against = pair.times(FOR), pair.times(AGAINST)
        if done_for or done_against:
            turned = Counter(sign for _, sign in pair.turns)
            yield PairCounts(pair.who, pair.whom, done_for, done_against, turned[FOR], turned[AGAINST])


def _actions(interacting: Sequence[Pair]) -> dict[MeasureKey, float]:
    counts: Counter[MeasureKey] = Counter()
    for pair in interacting:
        for action in pair.actions:
            if action.action != NAMED:
                counts[f"{action.action} (done)", pair.who] += action.times
                counts[f"{action.action} (received)", pair.whom] += action.times
    return {column: float(count) for column, count in counts.items()}


def _turns(log: Sequence[LoggedEvent], history: History) -> dict[str, int]:
    """Return the position of each player in the first order of all that chance drew and all heard; {} without one.

    The order is a list in one event, or spread over the events of a round. Orders that players or rules make do not
    count: a position in them depends on the player.
    """
    players = {player.id for player in history.seated}
    told = [entry for entry in log if entry.event.random_order and isinstance(entry.to, EveryoneType)]
    for _, entries in groupby(told, lambda entry: (entry.round, entry.event.kind)):
        in_turn: dict[str, list[str]] = {}
        for event in (entry.event for entry in entries):
            for name in event.random_order:
                drawn = getattr(event, name)
                in_turn.setdefault(name, []).extend((drawn,) if isinstance(drawn, str) else drawn)
        for order in map(list, map(dict.fromkeys, in_turn.values())):
            if set(order) == players:
                return {player: index for index, player in enumerate(order, start=1)}
    return {}


def midranks(ranks: Mapping[str, int | None]) -> dict[str, float]:
    """Return ranks with ties averaged (1, 1, 3 is 1.5, 1.5, 3); players without a rank tie."""
    counts = Counter(ranks.values())
    return {player: (rank or 1) + (counts[rank] - 1) / 2 for player, rank in ranks.items()}


def _votes(history: History, by_lot: Collection[str]) -> Iterator[Vote]:
    """Yield a vote for every event with a voter, a choice and its ballot, in any game.

    `by_lot` has the kinds of events whose ballots chance ordered.
    """
    for number, part in enumerate(history.rounds):
        final = any(event.data.get("final") is True for event in part.events)
        for event in part.events:
            voter, choice, ballot = (event.data.get(key) for key in ("voter", "choice", "ballot"))
            if isinstance(voter, str) and isinstance(choice, str) and isinstance(ballot, list) and choice in ballot:
                yield Vote(voter, choice, tuple(map(str, ballot)), final, number, event.kind in by_lot)


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The counts of one label; `cost_usd` is per game, `asked` counts decisions that no bot made."""

    label: str
    games: int
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int
    turned_away: int
    lost_to_host: int = 0
    lost_to_model: int = 0
    lost_to_person: int = 0
    lost_to_deadline: int = 0


def counts_by_label(games: Sequence[GameRecord]) -> dict[str, LabelCounts]:
    """Return the counts by label, sorted by label."""
    entries: dict[str, list[Entrant]] = {}
    there: Counter[str] = Counter()
    for game in games:
        there.update({entrant.label for entrant in game.entrants})
        for entrant in game.entrants:
            entries.setdefault(entrant.label, []).append(entrant)
    found = {}
    for label, own in sorted(entries.items()):
        costs = [entrant.cost_usd for entrant in own]
        found[label] = LabelCounts(
            label=label,
            games=there[label],
            decisions=sum(each.decisions for each in own),
            calls=sum(each.calls for each in own),
            reasks=sum(each.reasks for each in own),
            fallbacks=sum(each.fallbacks for each in own),
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs) / there[label],
            asked=sum(each.asked for each in own),
            turned_away=sum(each.turned_away for each in own),
            lost_to_host=sum(each.lost_to_host for each in own),
            lost_to_model=sum(each.lost_to_model for each in own),
            lost_to_person=sum(each.lost_to_person for each in own),
            lost_to_deadline=sum(each.lost_to_deadline for each in own),
        )
    return found


def histories(directory: Path, holding: bytes = b"") -> Iterator[tuple[str, History | UsageError]]:
    """Yield by name each history in a folder whose file contains the bytes `holding`, or the error of reading it."""
    interviewed = any(directory.glob(f"*{INTERVIEW}"))  # looked for once, not by each of thousands of runs
    for files in runs_with_history(directory):
        path = files.history
        try:
            raw = read(path)
            if holding in raw:
                yield files.name, parsed(raw, path, interviewed=interviewed)
        except UsageError as error:
            yield files.name, error


@dataclass(frozen=True)
class Games:
    """The games that can be compared, by name; `skipped` has by name why others cannot.

    `copies` maps games of bots that repeat another game to that game: they are no further evidence.
    """

    games: tuple[GameRecord, ...]
    skipped: Mapping[str, str]
    copies: Mapping[str, str] = field(default_factory=dict)


OnHistory: TypeAlias = Callable[[RunFiles, History], object]
"""A callback for each history that is read."""


def read_games(*directories: Path, on_history: OnHistory | None = None) -> Games:
    """Read the games of some folders. Raises `UsageError` if one holds no finished game.

    `on_history` is called with each history, finished or not.
    Games of several folders are called `folder/name`. Copies are looked for within each folder.
    """
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    if twice := [path for path in directories if directories.count(path) > 1]:
        raise UsageError(f"{twice[0]}: is given twice")
    names = [path.resolve().name for path in directories]
    for directory, name in zip(directories, names, strict=True):
        called = name if names.count(name) == 1 else str(directory)
        before = f"{called}/" if len(directories) > 1 else ""
        one = _read(directory, on_history)
        skipped |= {f"{before}{name}": why for name, why in one.skipped.items()}
        copies |= {f"{before}{name}": f"{before}{other}" for name, other in one.copies.items()}
        for game in one.games:
            parent = None if game.parent is None else f"{before}{game.parent}"
            found.append(replace(game, name=f"{before}{game.name}", parent=parent, folder=called))
    return Games(tuple(found), skipped, copies)


def _read(directory: Path, on_history: OnHistory | None) -> Games:
    if not directory.is_dir():
        raise UsageError(f"{directory}: is not a directory")
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    of_others: list[OtherVersion] = []
    copies: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, history in histories(directory):
        if on_history is not None and isinstance(history, History):
            on_history(RunFiles(directory, name), history)
        record = None if isinstance(history, UsageError) else game_record(name, history)
        if isinstance(history, OtherVersion):
            of_others.append(history)
        if record is None:
            skipped[name] = str(history) if isinstance(history, UsageError) else "is not finished"
        elif len({entrant.player for entrant in record.entrants}) < max(1, len(record.entrants)):
            skipped[name] = "does not name each player once"
        elif record.certain is not None and first.setdefault(record.certain, record.name) != record.name:
            copies[record.name] = first[record.certain]
        else:
            found.append(record)
    if not found and of_others:
        raise of_others[0]
    if not found:
        raise UsageError(f"{directory}: holds no finished game")
    known = (replace(each, parent=copies.get(each.parent, each.parent)) if each.parent else each for each in found)
    return Games(tuple(known), skipped, copies)


def without_branches(games: Sequence[GameRecord]) -> list[GameRecord]:
    """Return the games without branches of others among them, whose shared past would count twice."""
    by_name = {game.name: game for game in games}

    def repeats(game: GameRecord) -> bool:
        seen: set[str] = set()
        last = game
        while last.parent in by_name and last.name not in seen:
            seen.add(last.name)
            last = by_name[last.parent]
        return last.name != game.name  # two runs that name each other as parent are none's branch

    return [game for game in games if not repeats(game)]


@dataclass(frozen=True, slots=True)
class Measures:
    """The values by measure and player: results of the outcome, and counts of interactions (absent is 0)."""

    results: Mapping[MeasureKey, float]
    actions: Mapping[MeasureKey, float]

    @classmethod
    def of(cls, game: GameRecord) -> Measures:
        """Return the measures of a game; without ranks and wins if no player is ranked."""
        with_wins = list(zip(game.entrants, game.wins, strict=True)) if game.ranked else []
        results = {(RANK, each.player): each.rank for each, _ in with_wins}
        results |= {(WIN, each.player): win for each, win in with_wins}
        for measure in dict.fromkeys(measure for each in game.entrants for measure in each.scores):
            own = (each for each in game.entrants if measure in each.scores)
            results |= {(measure, each.player): each.scores[measure] for each in own}
        return cls(results, game.actions)

    def with_models(self, models: Mapping[str, str]) -> Measures:
        """Return the measures and the means over the seats of each model; `models` is by player."""
        return Measures(_with_means(self.results, models), _with_means(self.actions, models))


def _with_means(measures: Mapping[MeasureKey, float], models: Mapping[str, str]) -> dict[MeasureKey, float]:
    seats = Counter(models.values())
    sums: defaultdict[MeasureKey, float] = defaultdict(float)
    for (measure, player), value in measures.items():
        sums[measure, models[player]] += value
    return {**measures, **{key: value / seats[key[1]] for key, value in sums.items()}}


def tabled(games: Sequence[Measures], *, everyone: bool = False) -> tuple[tuple[MeasureKey, ...], list[list[float]]]:
    """Return the columns of these games, results before interactions, and their values by game.

    A missing score is NaN, a missing interaction 0. With `everyone` each interaction has a column for all players.
    """
    results = dict.fromkeys(column for game in games for column in game.results)
    order = {whose: index for index, whose in enumerate(dict.fromkeys(whose for _, whose in results))}
    done = {column for game in games for column in game.actions}
    if everyone:
        done = {(action, whose) for action, _ in done for whose in order}
    actions = sorted(done, key=lambda column: (column[0], order[column[1]]))
    rows = [
        [*(each.results.get(c, math.nan) for c in results), *(each.actions.get(c, 0.0) for c in actions)]
        for each in games
    ]
    return (*results, *actions), rows
