"""The tables of `report`: their columns, notes and sentences, in English. What they show is computed in `analysis`.

Charts and pages draw them (`engine.panel`). CSV and JSON have the fields of the records instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np

from agentsim.analysis.beliefs import BeliefLine, Bin
from agentsim.analysis.conditions import Condition, Difference, Measured
from agentsim.analysis.estimate_text import DIFFERS, SMALL, ends, estimated, p_value, written
from agentsim.analysis.finished_games import RANK, LabelCounts
from agentsim.analysis.hosts import HostLine
from agentsim.analysis.intervals import Interval
from agentsim.analysis.positions import Ballots
from agentsim.analysis.preference import OwnMaker, Relation
from agentsim.analysis.standings import PositionResults, Standings, StandingsLine
from agentsim.engine.game import ScoreWords
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Forest, Panel
from agentsim.engine.wording import counted, decimals, listed
from agentsim.lazy import dataclass

UNRANKED = "These games rank no player: they have no standings, ratings and seats to compare."
MOST_RELATIONS = 40
_STAR_NOTE = "* Without the games of too many fallbacks."
_ALL = "all"
_RELATIVE = {RANK: f"relative {RANK}"}


@dataclass(frozen=True)
class Column:
    """A column of a table of labels: its heading, and its cell for a label.

    If `starred`, it comes a second time, with a star, for the standings without games of too many fallbacks.
    """

    heading: str
    cell: Callable[[StandingsLine], Cell]
    starred: bool = True


STANDINGS: Final = (
    Column("games", lambda line: line.games),
    Column("entries", lambda line: line.entries, starred=False),
    Column("wins", lambda line: round(line.wins, 2), starred=False),
    Column("win rate", lambda line: written(line.win_rate, ".0%")),
    Column("{rank}", lambda line: written(line.mean_rank, ".2f")),
    Column("rating", lambda line: written(line.strength, "+.2f")),
)
"""The columns of Standings after the label; `{rank}` is the name of the ranks of these games."""
RATINGS: Final = (
    Column("games", lambda line: line.games),
    Column("first of all", lambda line: written(line.first, ".1%")),
    Column("rating", lambda line: written(line.strength, "+.2f")),
    Column("wins", lambda line: round(line.wins, 2)),
    Column("expected", lambda line: written(line.wins_expected, ".0f")),
    Column("first by ranks", lambda line: None if line.first_by_ranks is None else f"{line.first_by_ranks:.1%}"),
)


def _of_labels(
    columns: Sequence[Column], lines: Sequence[StandingsLine], found: Standings, few_fallbacks: Standings | None
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Return the headings and the rows of a table of labels; starred cells of a label without a game are empty."""
    same = {line.label: line for line in few_fallbacks.lines} if few_fallbacks is not None else {}
    starred = [column for column in columns if column.starred and few_fallbacks is not None]
    headings = [column.heading.format(rank=_rank(found)) for column in columns]
    headings += [f"{column.heading.format(rank=_rank(few_fallbacks or found))}*" for column in starred]
    rows: list[tuple[Cell, ...]] = []
    for line in lines:
        starred_cells = (column.cell(same[line.label]) if line.label in same else None for column in starred)
        rows.append((line.label, *(column.cell(line) for column in columns), *starred_cells))
    return ("", *headings), tuple(rows)


def panels(
    found: Standings,
    own_makers: Sequence[OwnMaker],
    relations: Sequence[Relation] = (),
    few_fallbacks: Standings | None = None,
) -> list[Panel]:
    """Return the panels in their order, without empty ones.

    `few_fallbacks` are the standings without the games of too many fallbacks, None if there are no such games.
    """
    shown: list[Panel] = [DataTable("Standings", ("",), (), UNRANKED)]
    if found.lines or not found.unranked:
        shown = _places_of_all(found, few_fallbacks)
    if found.seats:
        note = (
            "By seat at the table, in the order of the scenario's players. The test takes off what each model or "
            "player explains, and flips the signs of games."
        )
        shown.append(_by_position("seat", found, note))
    if found.turn:
        note = "By turn in the first order of all players that chance drew. The test flips the signs of games."
        shown.append(_by_position("turn", found, note))
    if own_makers:
        shown.append(own_maker_panel(own_makers))
    if relations:
        shown.append(relation_panel(relations))
    if any(line.asked for line in found.played):
        shown.append(_causes(found.played))
    return [*shown, cost_panel(found.played)]


def _places_of_all(found: Standings, few_fallbacks: Standings | None) -> list[Panel]:
    ranks = [(line.label, line.mean_rank) for line in found.lines]
    shown: list[Panel] = [
        _leaderboard(found, few_fallbacks),
        _chart(_rank(found).capitalize(), f"{_rank(found)}: lower is better", ranks),
        _ratings_table(found, few_fallbacks),
        _chart("Strength", "log strength (Plackett-Luce)", [(line.label, line.strength) for line in found.lines]),
    ]
    return [*shown, _strongest(found.lines), _matrix(found)] if len(found.lines) > 1 else shown


def _leaderboard(found: Standings, few_fallbacks: Standings | None) -> DataTable:
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
    if few_fallbacks is not None:
        note += f" {_STAR_NOTE}"
    columns = _of_labels(STANDINGS, found.lines, found, few_fallbacks)
    return DataTable("Standings", *columns, note, sentence=standing_sentence(found, _rank(found)))


def _ratings_table(found: Standings, few_fallbacks: Standings | None) -> DataTable:
    p = p_value(found.wins_p)
    note = (
        "First of all: the chance to come first among one of each, from wins alone. Log strength: Plackett-Luce of all "
        "ranks; expected are the wins that it predicts in these games. Both are posterior means with 95% of the "
        "posterior. "
    )
    if found.wins_fail:
        note += (
            f"The strengths do not predict the wins ({p}): strength is about ranks here, and no chance to come "
            "first follows from it. "
        )
    else:
        note += f"The strengths predict the wins ({p}): first by ranks is what follows from these. "
    note += "A strength is assumed to be the same in all games and seats, beside any others."
    if few_fallbacks is not None:
        note += f" {_STAR_NOTE}"
    by_strength = sorted(found.lines, key=lambda line: -line.strength.value)
    columns = _of_labels(RATINGS, by_strength, found, few_fallbacks)
    return DataTable("Ratings", *columns, note, sentence=rating_sentence(found))


def _strongest(lines: Sequence[StandingsLine]) -> DataTable:
    ordered = sorted(lines, key=lambda line: -line.strength.value)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (line.label, *(round(100 * chance) for chance in line.rank_probabilities)) for line in ordered
    )
    note = "Percent: how likely an entry is the strongest, the second strongest and so on, by the log strength."
    return DataTable(
        "Ranks by strength",
        ("", *map(str, range(1, len(rows) + 1))),
        rows,
        note,
        heat=True,
        sentence=strongest_sentence(ordered),
    )


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


def _by_position(what: str, found: Standings, note: str) -> DataTable:
    title, results, p = "Seats", found.seats, found.seats_p
    if what == "turn":
        title, results, p = "Order of speaking", found.turn, found.turn_p
    rows = tuple(
        (
            *(each.position, each.entries, round(each.wins, 2), written(each.win_rate, ".0%")),
            written(each.mean_rank, ".2f"),
        )
        for each in results
    )
    if p is None:
        note += f" No test: no player changed the {what}, all ranks are the same, or games are too few."
    columns = (what, "entries", "wins", "win rate", _rank(found))
    return DataTable(title, columns, rows, note, sentence=position_sentence(what, results, p, found.uneven[what]))


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
    return Estimates(title, rows, axis, "Intervals of 95%; the tables have the numbers of games.")


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
    wins = f"wins: {line.wins:.3g} in {counted(line.games, 'game')}"
    won = estimated(line.first, ".0%", line.games, wins, "95% of the posterior")
    among = "In a game with one of each, by wins alone,"
    if equal := _equal(found.lines, line, lambda each: each.first.value):
        return f"{among} no entry is likeliest to come first: {equal} have the same highest probability, {won}."
    return f"{among} {line.label} comes first with a probability of {won}."


def strongest_sentence(ordered: Sequence[StandingsLine]) -> str:
    """Return a sentence on the strongest label, or on the labels that share the first place."""
    line = ordered[0]
    many = counted(line.games, "game")
    of_what = f"(Plackett-Luce model of all ranks; {many})"
    if equal := _equal(ordered, line, lambda each: each.strength.value):
        return f"No entry has the highest strength: {equal} have the same {of_what}."
    return f"{line.label} has the highest strength with a probability of {line.rank_probabilities[0]:.0%} {of_what}."


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


def position_sentence(
    what: str, results: Sequence[PositionResults], p: float | None, uneven: tuple[str, int, int] | None
) -> str:
    """Return a sentence on whether ranks differ by seat or turn, with those that came first most often."""
    if p is None:
        return ""
    verdict = "differ" if p <= SMALL else "do not differ detectably"
    most = max(each.win_rate.value for each in results)
    best = [each for each in results if math.isclose(each.win_rate.value, most)]
    first, is_only = best[0], len(best) == 1
    if len(best) == len(results) > 1:
        won = f"all {what}s came first equally often"
    elif is_only:
        won = f"{what} {first.position} came first most often, in "
        won += estimated(first.win_rate, ".0%", first.entries, f"{counted(first.entries, 'entry')}")
    else:
        named = listed([str(each.position) for each in best])
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


def condition_panels(
    conditions: Sequence[Condition],
    means: Sequence[Measured],
    found: Sequence[Difference],
    words: ScoreWords,
    *,
    relative: bool,
) -> list[DataTable]:
    """Return a table of every measure by label and condition, then tables of differences from the first condition."""
    called = _RELATIVE if relative else {}
    means = [replace(each, measure=called.get(each.measure) or words.label(each.measure)) for each in means]
    found = [replace(each, measure=called.get(each.measure) or words.label(each.measure)) for each in found]
    names = [each.name for each in conditions]
    cells: dict[tuple[str, str | None], dict[str, str]] = {}
    for mean in means:
        shown = f"{written(mean.mean, '.2f')}, {counted(mean.games, 'game')}"
        cells.setdefault((mean.measure, mean.label), {})[mean.condition] = shown
    rows = [(measure, label or _ALL, *map(own.get, names)) for (measure, label), own in cells.items()]
    note = (
        "Mean, 95% interval (jackknife by seed, if there are enough games) and number of games. The next tables "
        "compare each condition with the first."
    )
    if relative:
        note += " Tables differ in size: a relative rank is 0 for the first and 1 for the last."
    said = listed(
        [
            f"{estimated(each.mean, '.2f', each.games, counted(each.games, 'game'))} under {each.condition}"
            for each in means
            if (each.measure, each.label) == (means[0].measure, means[0].label)
        ]
    )
    sentence = f"The mean {means[0].measure} of {means[0].label or _ALL} was {said}."
    compared = DataTable("Conditions", ("measure", "of", *names), tuple(rows), note, sentence=sentence)
    return [compared, *(_differences(name, names[0], [each for each in found if each.condition == name])
                        for name in names[1:])]  # fmt: skip


def score_panel(means: Sequence[Measured], words: ScoreWords) -> DataTable:
    """Return a table of the mean of each score by label, of games under one condition."""
    means = [replace(each, measure=words.label(each.measure)) for each in means]
    measures = list(dict.fromkeys(each.measure for each in means))
    by_label: dict[str, dict[str, Interval]] = {}
    for each in means:
        by_label.setdefault(each.label or _ALL, {})[each.measure] = each.mean
    halves = {measure: [0.0] for measure in measures}
    for each in means:
        if np.isfinite(each.mean.width):
            halves[each.measure].append(each.mean.width / 2)
    forms = {measure: f".{decimals(max(own))}f" for measure, own in halves.items()}
    rows = tuple(
        (label, *(written(own[measure], forms[measure]) if measure in own else None for measure in measures))
        for label, own in by_label.items()
    )
    note = "Means over entries of the game's own scores, with intervals of 95% (cluster jackknife by seed)."
    return DataTable("Scores", ("", *measures), rows, note, sentence=_highest(means, measures[0], forms[measures[0]]))


def belief_panels(lines: Sequence[BeliefLine], bins: Sequence[Bin]) -> list[Panel]:
    """Return the table of scored beliefs, and their reliability diagram."""
    rows = tuple(
        (
            each.question,
            each.label,
            each.games,
            each.beliefs,
            written(each.brier, ".3f"),
            f"{each.uniform:.3f}",
            written(each.log_score, ".2f"),
            f"{each.resolution:.3f}",
            f"{each.reliability:.3f}",
            None if each.p is None else p_value(each.p),
        )
        for each in lines
    )
    note = (
        "Probabilities that players stated off the record, against what was true or came next. Brier (0 to 2) and log "
        "scores: lower is better; even is the Brier score of equal probabilities. Resolution is how much of the Brier "
        "score's uncertainty the beliefs take off, miscalibration what they add. Intervals of 95% (cluster jackknife "
        "by seed); the test of calibration flips the signs of games."
    )
    scores = ("Brier", "even", "log score", "resolution", "miscalibration", "calibrated?")
    columns = ("question", "", "games", "beliefs", *scores)
    found = DataTable("Beliefs", columns, rows, note, sentence=belief_sentence(lines))
    groups: dict[str, list[Estimate]] = {}
    for each in bins:
        name = f"{each.low:.0%} to {each.high:.0%} (mean {each.mean:.0%})"
        estimate = Estimate(name, each.happened.value, each.happened.low, each.happened.high)
        groups.setdefault(f"{each.question}, {each.label}", []).append(estimate)
    shown = tuple(Estimates(title, tuple(own), "share that came true") for title, own in groups.items())
    note = "How often outcomes happened, by the probability that was stated. Intervals of 95% (cluster jackknife)."
    return [found, Forest("Calibration of beliefs", shown, note)]


def belief_sentence(lines: Sequence[BeliefLine]) -> str:
    """Return a sentence on the best Brier score of the first question, and whether those beliefs are calibrated."""
    line = lines[0]
    lowest = "the lowest" if sum(each.question == line.question for each in lines) > 1 else "a"
    many = f"{counted(line.beliefs, 'belief')} in {counted(line.games, 'game')}"
    score = estimated(line.brier, ".3f", line.games, many)
    than = "less" if line.brier.value < line.uniform else "not less"
    said = f"Of {line.question}, {line.label} had {lowest} Brier score of {score}"
    said += f", {than} than the {line.uniform:.3f} of equal probabilities"
    if line.p is None:
        return f"{said}; there are too few games to test calibration."
    verdict = "were not calibrated" if line.p <= SMALL else "did not differ detectably from calibrated ones"
    return f"{said}; its probabilities {verdict} (sign-flip test: {p_value(line.p)})."


def _highest(means: Sequence[Measured], measure: str, form: str) -> str:
    """Say which label has the highest mean of a measure; no label is named if several have it in what is printed."""
    own = sorted((each for each in means if each.measure == measure), key=lambda each: -each.mean.value)
    best = [each for each in own if f"{each.mean.value:{form}}" == f"{own[0].mean.value:{form}}"]
    mean = estimated(own[0].mean, form, own[0].games, counted(own[0].games, "game"))
    if len(best) > 1:
        return f"No entry alone has the highest mean {measure}, which is {mean}."
    return f"The mean {measure} was highest for {own[0].label}: {mean}."


def _differences(name: str, less: str, found: Sequence[Difference]) -> DataTable:
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        both = ends(each.simultaneous, "+.2f")
        games = f"{each.games[0]}, {each.games[1]}"
        rows.append((each.measure, each.label or _ALL, games, written(each.difference, "+.2f"), both))
    note = (
        "Differences of means; below 0 a rank is better. Intervals of 95% take games of one seed together, of both "
        "conditions; simultaneous ones hold for all rows. Games of other seeds are taken to be independent, and games "
        "to differ in nothing else than the condition."
    )
    title = f"Conditions: {name} vs. {less}"
    columns = ("measure", "of", "games of each", "difference (95% interval)", "simultaneous")
    return DataTable(title, columns, tuple(rows), note, sentence=_verdict(found))


def difference_sentence(each: Difference, of: str = "95% interval") -> str:
    """Return `The difference in the mean rank of A between on=true and on=false was -0.40 (95% interval ...).`."""
    whose = f"the mean {each.measure} of {each.label or 'all'}"
    many = f"{each.games[0]} and {counted(each.games[1], 'game')}"
    gap = estimated(each.difference, "+.2f", min(each.games), many, of)
    return f"The difference in {whose} between {each.condition} and {each.less} was {gap}."


def _verdict(found: Sequence[Difference]) -> str:
    """Say how many differences exclude 0, and the clearest of them."""
    known = [each for each in found if each.difference.low is not None]
    if found and not any(each.difference.value for each in found):
        return f"Every mean is the same under {found[0].condition} and {found[0].less}."
    if not known:
        return ""
    apart = [each for each in known if each.simultaneous.excludes(0)]
    if not apart:
        alone = sum(each.difference.excludes(0) for each in known)
        return (
            f"None of {counted(len(known), 'difference')} {DIFFERS} (simultaneous 95% intervals); by its own interval "
            f"{alone} would."
        )
    clearest = max(apart, key=lambda each: abs(each.difference.value) / max(1e-12, each.simultaneous.width))
    clearest_sentence = difference_sentence(
        replace(clearest, difference=clearest.simultaneous), "simultaneous 95% interval"
    )
    differ = "differs" if len(apart) == 1 else "differ"
    said = f"{len(apart)} of {counted(len(known), 'difference')} {differ} from zero (simultaneous 95% intervals)"
    return f"{said}. {clearest_sentence}"


def host_panel(lines: Sequence[HostLine], *, relative: bool) -> DataTable:
    """Return the table of results by host."""
    rows: list[tuple[Cell, ...]] = []
    for line in lines:
        rank = None if line.mean_rank is None else f"{line.mean_rank:.2f}"
        won = None if line.win_rate is None else f"{line.win_rate:.0%}"
        share = f"{line.unusable / line.answers:.0%}" if line.answers else None
        counts = (line.games, line.answers, line.unusable, share, line.failed)
        rows.append((line.model, line.host, *counts, won, rank))
    columns = ("model", "host", "games", "answers", "unusable", "share", "failed", "win rate")
    note = (
        "A host is what the answers say of themselves. Unusable is an answer that no decision was made from, "
        "failed a call whose error names the host. Wins and "
        "ranks are means over the model's players, each weighted by the share of its answers from the host. These are "
        "counts of what was played, without intervals: hosts were not drawn by lot."
    )
    return DataTable("Results by host", (*columns, "relative rank" if relative else "mean rank"), tuple(rows), note)


_VOTES = {True: "final", False: "elimination"}


def ballot_panel(found: Sequence[Ballots]) -> DataTable:
    """Return a table of the votes for each position on the ballot, by kind of vote."""
    rows, tests, said = [], [], []
    for each in found:
        kind = _VOTES[each.positions[0].final]
        for at in each.positions:
            share = written(at.share, ".0%")
            rows.append((kind, at.position, at.votes, at.chosen, share, f"{at.expected:.0%}"))
        votes = f"{counted(each.votes, 'vote')} in {counted(each.games, 'game')}"
        tested = "too few games for a test" if each.p is None else p_value(each.p)
        tests.append(f"{kind} votes: {tested}")
        told = each.p is not None and each.p <= SMALL
        first = each.positions[0]
        whole = estimated(first.share, ".0%", each.games, f"{first.expected:.0%} by chance alone; {votes}")
        effect = f"{'An' if told else 'No'} effect of ballot position on {kind} votes was found"
        said.append(f"{effect} ({tested}): the first position got {whole}.")
    note = (
        "Ballots in random order: how many votes went to each position, of the ballots that had it, beside what chance "
        "alone gives. Intervals of 95% by games. The tests compare the choices with chance, by sign flips of games; "
        f"{', '.join(tests)}."
    )
    columns = ("vote", "position", "ballots", "chosen", "share", "by chance")
    return DataTable("Position on the ballot", columns, tuple(rows), note, sentence=" ".join(said))


def own_maker_panel(own_makers: Sequence[OwnMaker]) -> DataTable:
    rows = tuple(
        (
            each.maker or "all",
            _VOTES[each.final],
            each.games,
            each.votes,
            written(each.points, "+.1%"),
            written(each.log_odds, "+.2f"),
        )
        for each in own_makers
    )
    note = (
        "How much more often voters choose a candidate of their own maker than other voters of the same ballot do: how "
        "good the candidate is does not count. Points are of the share of votes; intervals of 95% by games. A maker "
        "that cannot be told from the others has no row. What a voter has against a rival for other reasons is "
        "assumed to be unrelated to makers."
    )
    columns = ("maker", "vote", "games", "votes", "points", "log odds")
    return DataTable("Votes for the own maker", columns, rows, note, sentence=_own_maker_sentence(own_makers[0]))


def relation_panel(relations: Sequence[Relation]) -> DataTable:
    busiest = sorted(relations, key=lambda each: -each.done_for - each.done_against)[:MOST_RELATIONS]
    counts = attrgetter("games", "pairs", "done_for", "done_against", "turned_for", "turned_against")
    rows = tuple((f"{each.who} \u2192 {each.whom}", *counts(each)) for each in relations if each in busiest)
    note = (
        "How often entrants of the first did something for or against those of the second (votes, gifts, trades, yes "
        "and no), and how often a pair turned. A pair turns when an action against the other follows one for it, or "
        "the other way round."
    )
    if len(relations) > len(rows):
        note += f" The {len(rows)} busiest of {len(relations):,}; --json has all."
    columns = ("who to whom", "games", "pairs", "for", "against", "turned for", "turned against")
    return DataTable("For and against each other", columns, rows, note, sentence=_relation_sentence(busiest[0]))


def _own_maker_sentence(found: OwnMaker) -> str:
    kind = _VOTES[found.final]
    many = f"{counted(found.games, 'game')}, {counted(found.votes, 'vote')}"
    points = estimated(found.points, "+.1%", found.games, many)
    return f"Voters gave a candidate of their own maker {points} of their {kind} votes more than other voters gave it."


def _relation_sentence(found: Relation) -> str:
    helped, opposed = counted(found.done_for, "time"), counted(found.done_against, "time")
    done = f"helped {found.whom} {helped} and opposed it {opposed}"
    return f"In {counted(found.games, 'game')} {found.who} {done} (counts, without an interval)."
