"""Standings of many games: results and ratings by label, head to head and by seat, as data and as tables.

Every figure counts finished games alone. Intervals are of 95%, and the same games give the same intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, permutations
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from agentsim.analysis.finished_games import Entrant, GameRecord, LabelCounts, counts_by_label
from agentsim.analysis.in_words import SMALL, estimated, p_value, written
from agentsim.analysis.intervals import Array, Interval, clusters, interval, ratio_intervals
from agentsim.analysis.positions import place_p, uneven
from agentsim.analysis.posterior import (
    WRONG,
    Posterior,
    WinsCheck,
    contested_places,
    game_weight,
    posterior,
    wins_check,
)
from agentsim.analysis.preference import OwnMaker, Relation, own_maker_panel, relation_panel
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted, listed

UNRANKED = "These games rank no player: they have no standings, ratings and seats to compare."
_KEPT = "* Without the games of too many fallbacks."

_LABEL, _SEAT, _TURN = map(attrgetter, ("label", "seat", "turn"))
_Key = TypeVar("_Key", str, int)
_Beats: TypeAlias = tuple[tuple[tuple[float, int], ...], ...]
_Ahead: TypeAlias = tuple[tuple[Interval | None, ...], ...]


@dataclass(frozen=True, slots=True)
class StandingsLine:
    """The results of one label: a model, or a player.

    Of a first place that n players share each gets the nth part of a win. `wins` counts entries, `cost_usd` is the cost
    of a game. `first` is the chance to come first among one of each, by wins alone; `strength` and `places` (how likely
    it is the strongest, the second, and so on) are of the rank fit, `wins_expected` the wins that it foretells in these
    games. `first_by_ranks` is its chance to come first, None if these wins are not what was played.
    """

    label: str
    games: int
    entries: int
    wins: float
    win_rate: Interval
    mean_rank: Interval
    first: Interval
    strength: Interval
    places: tuple[float, ...]
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
class Place:
    """The results of a seat, or of a place in the order of speaking."""

    place: int
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
    are too few. `wins_p` is the posterior predictive p-value of the wins under the rank fit. `seats_p` and `turn_p`
    are those of the hypothesis that a seat, or a turn by lot, does nothing; None if that cannot be told. `uneven`, by
    `seat` and `turn`, names the label that was there least evenly, and how often at least and at most; None if all are
    even. With `seats_fixed` no label ever changed its seat in several games, so its figures contain the effect of the
    seat.
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
    seats: tuple[Place, ...]
    turn: tuple[Place, ...]
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
        null_p=place_p(games, _LABEL),
        wins_p=wins_p,
        seats_fixed=_seats_fixed(games),
        seats=_by_place(games, _SEAT),
        turn=_by_place(games, _TURN),
        seats_p=place_p(games, _SEAT, balanced=True),
        turn_p=place_p(games, _TURN),
        uneven={"seat": uneven(games, _SEAT), "turn": uneven(games, _TURN)},
    )


class _Results(Generic[_Key]):
    """Ranks, wins and entries as matrices: games by the keys of their entrants (None: left out)."""

    def __init__(self, games: Sequence[GameRecord], key_of: Callable[[Entrant], _Key | None]) -> None:
        self.keys: list[_Key] = sorted({key for game in games for e in game.entrants if (key := key_of(e)) is not None})
        column = {key: place for place, key in enumerate(self.keys)}
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
    """The rank fit, the chance to come first by wins alone, and how well the first foretells wins."""

    ranks: Posterior
    first: Sequence[Interval]
    check: WinsCheck


def _ratings(games: Sequence[GameRecord], results: _Results[str]) -> _Ratings:
    size = len(results.keys)
    index = {label: place for place, label in enumerate(results.keys)}
    ranked = [
        contested_places([e.rank for e in game.entrants], [index[e.label] for e in game.entrants], size)
        for game in games
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
    strengths, places = ratings.ranks.strengths, ratings.ranks.places
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
                places=tuple(map(float, places[column])),
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
    columns = {both: place for place, both in enumerate(combinations(order, 2))}
    won, met = (np.zeros((len(games), len(columns))) for _ in range(2))
    for row, game in enumerate(games):
        for one, other in permutations(game.entrants, 2):
            if (column := columns.get((one.label, other.label))) is not None:
                won[row, column] += 1.0 if one.rank < other.rank else 0.5 if one.rank == other.rank else 0.0
                met[row, column] += 1
    together = clusters([game.seed for game in games])
    ends = _rate_ends(together @ won, together @ met)
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


def _by_place(games: Sequence[GameRecord], place_of: Callable[[Entrant], int | None]) -> tuple[Place, ...]:
    """Return the results of each seat, or of each place in the order of speaking."""
    results = _Results(games, place_of)
    columns = zip(results.keys, results.entries, results.wins, results.win_rates(), results.mean_ranks(), strict=True)
    return tuple(Place(place, int(entries), float(wins), rate, rank) for place, entries, wins, rate, rank in columns)


def panels(
    found: Standings, own_makers: Sequence[OwnMaker], relations: Sequence[Relation] = (), kept: Standings | None = None
) -> list[Panel]:
    """Return the panels in their order, without empty ones.

    `kept` are the standings without the games of too many fallbacks, None if there are no such games.
    """
    shown: list[Panel] = [DataTable("Standings", ("",), (), UNRANKED)]
    if found.lines or not found.unranked:
        shown = _places_of_all(found, kept)
    if found.seats:
        note = (
            "By place at the table, in the order of the scenario's players. The test takes off what each model or "
            "player explains, and flips the signs of games."
        )
        shown.append(_places("seat", found, note))
    if found.turn:
        note = "By turn in the first order of all players that chance drew. The test flips the signs of games."
        shown.append(_places("turn", found, note))
    if own_makers:
        shown.append(own_maker_panel(own_makers))
    if relations:
        shown.append(relation_panel(relations))
    if any(line.asked for line in found.played):
        shown.append(_causes(found.played))
    return [*shown, cost_panel(found.played)]


def _places_of_all(found: Standings, kept: Standings | None) -> list[Panel]:
    ranks = [(line.label, line.mean_rank) for line in found.lines]
    shown: list[Panel] = [
        _leaderboard(found, kept),
        _chart(_rank(found).capitalize(), f"{_rank(found)}: lower is better", ranks),
        _ratings_table(found, kept),
        _chart("Strength", "log strength (Plackett-Luce)", [(line.label, line.strength) for line in found.lines]),
    ]
    return [*shown, _strongest(found.lines), _matrix(found)] if len(found.lines) > 1 else shown


def _leaderboard(found: Standings, kept: Standings | None) -> DataTable:
    rows = []
    for line in found.lines:
        beside = _beside(kept, line, lambda other: (other.games, *_results(other)))
        rows.append((line.label, line.games, line.entries, round(line.wins, 2), *_results(line), *beside))
    note = (
        "Intervals of 95% (cluster jackknife by seed). Of a first place that n players share, each has 1/n of a win. "
        "The rating is the log strength (Plackett-Luce) with 95% of the posterior."
    )
    if found.relative:
        note += (
            " The games have different numbers of players, so instead of ranks stand relative ones: the share of the "
            "others who came out before, 0 for the first and 1 for the last."
        )
    if found.unranked:
        note += f" Not counted: {counted(found.unranked, 'game')} without a ranking."
    if found.null_p is not None:
        verdict = "do not differ detectably" if found.null_p > SMALL else "differ"
        note += f" {_rank(found).capitalize()}s {verdict} (sign-flip test: {p_value(found.null_p)})."
    if found.seats_fixed:
        note += " No entry ever changed its seat: these figures contain the effect of the seat."
    columns: tuple[str, ...] = ("", "games", "entries", "wins", "win rate", _rank(found), "rating")
    if kept is not None:
        columns += ("games*", "win rate*", f"{_rank(kept)}*", "rating*")
        note += f" {_KEPT}"
    return DataTable("Standings", columns, tuple(rows), note, sentence=standing_sentence(found, _rank(found)))


def _results(line: StandingsLine) -> tuple[str, str, str]:
    return written(line.win_rate, ".0%"), written(line.mean_rank, ".2f"), written(line.strength, "+.2f")


def _ratings_table(found: Standings, kept: Standings | None) -> DataTable:
    rows = tuple(
        (line.label, *_rated(line), *_beside(kept, line, _rated))
        for line in sorted(found.lines, key=lambda line: -line.strength.value)
    )
    p = p_value(found.wins_p)
    note = (
        "First of all: the chance to come first among one of each, from wins alone. Log strength: Plackett-Luce of all "
        "places; expected are the wins that it predicts in these games. Both are posterior means with 95% of the "
        "posterior. "
    )
    if found.wins_fail:
        note += (
            f"The strengths do not predict the wins ({p}): strength is about places here, and no chance to come "
            "first follows from it. "
        )
    else:
        note += f"The strengths predict the wins ({p}): first by ranks is what follows from these. "
    note += "A strength is assumed to be the same in all games and seats, beside any others."
    columns: tuple[str, ...] = ("games", "first of all", "log strength", "wins", "expected", "first by ranks")
    if kept is None:
        return DataTable("Ratings", ("", *columns), rows, note, sentence=rating_sentence(found))
    columns += tuple(f"{column}*" for column in columns)
    return DataTable("Ratings", ("", *columns), rows, f"{note} {_KEPT}", sentence=rating_sentence(found))


def _rated(line: StandingsLine) -> tuple[Cell, ...]:
    return (
        line.games,
        written(line.first, ".1%"),
        written(line.strength, "+.2f"),
        round(line.wins, 2),
        written(line.wins_expected, ".0f"),
        None if line.first_by_ranks is None else f"{line.first_by_ranks:.1%}",
    )


def _strongest(lines: Sequence[StandingsLine]) -> DataTable:
    ordered = sorted(lines, key=lambda line: -line.strength.value)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (line.label, *(round(100 * chance) for chance in line.places)) for line in ordered
    )
    note = "Percent: how likely an entry is the strongest, the second strongest and so on, by the log strength."
    return DataTable(
        "Places by strength",
        ("", *map(str, range(1, len(rows) + 1))),
        rows,
        note,
        heat=True,
        sentence=strongest_sentence(ordered),
    )


def _beside(
    kept: Standings | None, line: StandingsLine, cells: Callable[[StandingsLine], tuple[Cell, ...]]
) -> tuple[Cell, ...]:
    """Return the cells of the same label in the standings `kept`, empty ones if it has no game there."""
    if kept is None:
        return ()
    same = [cells(other) for other in kept.lines if other.label == line.label]
    return same[0] if same else (None,) * len(cells(line))


def _rank(found: Standings) -> str:
    return "mean relative rank" if found.relative else "mean rank"


def _matrix(found: Standings) -> DataTable:
    labels = [line.label for line in found.lines]
    rows: list[tuple[Cell, ...]] = []
    for label, cells in zip(labels, found.beats, strict=True):
        rates = (round(100 * won / pairs) if pairs else None for won, pairs in cells)
        rows.append((label, *rates))
    note = "Percent of pairs in one game where the row's entry came out before the column's; ties are half."
    shade = tuple((None, *map(_lead, shares)) for shares in found.ahead)
    met = [pairs for own in found.beats for _, pairs in own if pairs]
    fewest, most = min(met, default=0), max(met, default=0)
    many = counted(most, "pair") if fewest == most else f"{fewest} to {most} pairs"
    note += f" Each cell is of {many}; --format csv has each with its interval."
    if any(cell is not None for row in shade for cell in row):
        note += " Shaded where the row is ahead and the 95% interval excludes 50%; darker for a larger difference."
    else:
        note += " No entry is shaded: every 95% interval includes 50%, or there are too few games for one."
    return DataTable("Head to head", ("", *labels), tuple(rows), note, shade=shade, sentence=ahead_sentence(found))


def _lead(share: Interval | None) -> float | None:
    """Return how far ahead, from 0 (even) to 1 (always), or None if the interval holds even."""
    if share is None or share.low is None or share.low <= 0.5:
        return None
    return 2 * share.value - 1


def _places(what: str, found: Standings, note: str) -> DataTable:
    title, places, p = "Seats", found.seats, found.seats_p
    if what == "turn":
        title, places, p = "Order of speaking", found.turn, found.turn_p
    rows = tuple(
        (
            *(place.place, place.entries, round(place.wins, 2), written(place.win_rate, ".0%")),
            written(place.mean_rank, ".2f"),
        )
        for place in places
    )
    if p is None:
        note += f" No test: no player changed the {what}, all ranks are the same, or games are too few."
    columns = (what, "entries", "wins", "win rate", _rank(found))
    return DataTable(title, columns, rows, note, sentence=place_sentence(what, places, p, found.uneven[what]))


def cost_panel(lines: Sequence[LabelCounts]) -> DataTable:
    """Return a table of calls, fallbacks and cost by label."""
    rows = []
    for line in lines:
        share = f" ({line.fallbacks / line.asked:.0%})" if line.asked else ""
        cost = "unknown" if line.cost_usd is None else f"${line.cost_usd:.{4 if line.cost_usd else 2}f}"
        counts = (line.games, line.decisions, line.calls, line.reasks, f"{line.fallbacks}{share}")
        rows.append((line.label, *counts, cost))
    columns = ("", "games", "decisions", "calls", "re-asks", "fallbacks", "cost of a game")
    note = "Counts of what was played, without intervals; the share of fallbacks is of decisions that no bot made."
    return DataTable("Calls and cost", columns, tuple(rows), note, sentence=cost_sentence(lines))


def _causes(lines: Sequence[LabelCounts]) -> DataTable:
    rows = tuple(
        (
            *(line.label, line.asked, line.fallbacks),
            *(line.lost_to_host, line.lost_to_model, line.lost_to_person, line.lost_to_deadline, line.turned_away),
        )
        for line in lines
    )
    columns = ("", "asked", "fallbacks", "to host", "to model", "to person", "to deadline", "turned away")
    note = (
        "Each fallback is lost to one cause. Turned away is an answer that was read, and that the rules of the game "
        "refuse. Asked are decisions that no bot made."
    )
    return DataTable("Fallbacks by cause", columns, rows, note)


def without_host_panels(found: Standings, games: int) -> list[Panel]:
    """Return the leaderboard and the ratings without the games that lost a decision to a host."""
    left_out = f"Without {counted(games, 'game')} that lost decisions to a host."
    if not found.lines:
        return [DataTable("Ratings without games lost to hosts", ("",), (), f"{left_out} No game is left.")]
    tables = (
        (_leaderboard(found, None), "Standings without games lost to hosts"),
        (_ratings_table(found, None), "Ratings without games lost to hosts"),
    )
    return [replace(table, title=title, note=f"{left_out} {table.note}") for table, title in tables]


def _chart(title: str, axis: str, estimates: Sequence[tuple[str, Interval]]) -> Estimates:
    rows = tuple(Estimate(label, each.value, each.low, each.high) for label, each in estimates)
    return Estimates(title, rows, axis, "Intervals of 95%; the numbers of games stand in the tables.")


def standing_sentence(found: Standings, rank: str) -> str:
    """Return a sentence on the first line."""
    if not found.lines:
        return ""
    line = found.lines[0]
    many = counted(line.games, "game")
    if equal := _equal(found.lines, line, lambda each: each.mean_rank.value):
        mean = estimated(line.mean_rank, ".2f", line.games)
        return f"No entry is ahead of all others: {equal} of {len(found.lines)} have the best {rank}, {mean}."
    won = estimated(line.win_rate, ".0%", line.games, f"entries that won: {line.wins:g} of {line.entries}, in {many}")
    return f"{line.label} came first in {won}, with a {rank} of {estimated(line.mean_rank, '.2f', line.games)}."


def equal_rank(one: StandingsLine, other: StandingsLine) -> bool:
    """Return whether two lines have the same mean rank in what is printed."""
    return abs(one.mean_rank.value - other.mean_rank.value) <= _SAME


_SAME = 0.0005  # the largest difference that tables print as none, and a little more
_Of: TypeAlias = Callable[[StandingsLine], float]


def _equal(lines: Sequence[StandingsLine], line: StandingsLine, of: _Of) -> int:
    """Return how many entries are equal to one of them in what is printed of it, or 0 if it is alone."""
    same = sum(abs(of(each) - of(line)) <= _SAME for each in lines)
    return same if same > 1 else 0


def rating_sentence(found: Standings) -> str:
    """Return a sentence on the label that is likeliest to come first, or on the labels that share that chance."""
    if len(found.lines) < 2:
        return ""
    line = max(found.lines, key=lambda line: line.first.value)
    wins = f"wins: {line.wins:g} in {counted(line.games, 'game')}"
    won = estimated(line.first, ".0%", line.games, wins, "95% of the posterior")
    among = "In a game with one of each, by wins alone,"
    if equal := _equal(found.lines, line, lambda each: each.first.value):
        return f"{among} no entry is likeliest to come first: {equal} have the same highest probability, {won}."
    return f"{among} {line.label} comes first with a probability of {won}."


def strongest_sentence(ordered: Sequence[StandingsLine]) -> str:
    """Return a sentence on the strongest label, or on the labels that share the first place."""
    line = ordered[0]
    many = counted(line.games, "game")
    of_what = f"(Plackett-Luce model of all places; {many})"
    if equal := _equal(ordered, line, lambda each: each.strength.value):
        return f"No entry has the highest strength: {equal} have the same {of_what}."
    return f"{line.label} has the highest strength with a probability of {line.places[0]:.0%} {of_what}."


def ahead_sentence(found: Standings) -> str:
    """Return a sentence on the pair that is furthest apart; empty if no pair has an interval."""
    apart, told = [], False
    for row, column in permutations(range(len(found.lines)), 2):
        share = found.ahead[row][column]
        told = told or (share is not None and share.low is not None)
        if share is not None and share.low is not None and share.low > 0.5:
            apart.append((share, row, column))
    if not told:
        return ""
    if not apart:
        return "No pair differs detectably head to head: every 95% interval includes 50%."
    share, row, column = max(apart, key=lambda each: each[0].value)
    won, pairs = found.beats[row][column]
    one, other = found.lines[row].label, found.lines[column].label
    both = len(found.lines) * (len(found.lines) - 1) // 2
    games = min(found.lines[row].games, found.lines[column].games)
    value = estimated(share, ".0%", games, f"{won:g} of {counted(pairs, 'pair')}")
    chosen = f", the pair that is furthest apart of {both}, each with an interval of its own" if both > 1 else ""
    return f"{one} came out before {other} in {value}{chosen}."


def place_sentence(what: str, places: Sequence[Place], p: float | None, uneven: tuple[str, int, int] | None) -> str:
    """Return a sentence on whether ranks differ by seat or turn, with those that came first most often."""
    if p is None:
        return ""
    verdict = "differ" if p <= SMALL else "do not differ detectably"
    most = max(place.win_rate.value for place in places)
    best = [place for place in places if math.isclose(place.win_rate.value, most)]
    first, alone = best[0], len(best) == 1
    if len(best) == len(places) > 1:
        won = f"all {what}s came first equally often"
    elif alone:
        won = f"{what} {first.place} came first most often, in "
        won += estimated(first.win_rate, ".0%", first.entries, f"{counted(first.entries, 'entry')}")
    else:
        named = listed([str(place.place) for place in best])
        won = f"{what}s {named} came first most often and equally often, in {first.win_rate.value:.0%} each"
    said = f"The ranks of {what}s {verdict} (sign-flip test: {p_value(p)}); {won}."
    if uneven is not None:
        label, fewest, many = uneven
        said += (
            f" But {what}s were uneven ({label}: {fewest} to {counted(many, 'time')} in each), so how often a {what} "
            "came first also tells who was there."
        )
    return said


def cost_sentence(lines: Sequence[LabelCounts]) -> str:
    """Return a sentence on the most expensive label; empty if nothing was paid."""
    known = [line for line in lines if line.cost_usd]
    if not known:
        return ""
    line = max(known, key=lambda line: line.cost_usd or 0.0)
    if sum(f"{each.cost_usd:.4f}" == f"{line.cost_usd:.4f}" for each in known) > 1:
        return ""
    return f"A game cost ${line.cost_usd:.4f} for {line.label} (the mean of {counted(line.games, 'game')})."
