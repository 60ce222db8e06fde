"""Standings and findings as tables and charts, which a terminal and a page show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from agentsim.analysis import in_words
from agentsim.analysis.in_words import estimated, p_value, written
from agentsim.analysis.inference import Interval
from agentsim.analysis.played import Played
from agentsim.analysis.positions import Ballots
from agentsim.analysis.preference import OwnMaker, Relation
from agentsim.analysis.standings import Standings, StandingsLine
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted

MOST_RELATIONS = 40
UNRANKED = "These games rank no player: they have no standings, ratings and seats to compare."
_KEPT = "* Without the games of too many fallbacks."


def panels(
    found: Standings, own_makers: Sequence[OwnMaker], relations: Sequence[Relation] = (), kept: Standings | None = None
) -> list[Panel]:
    """The panels in their order; empty ones are left out.

    `kept` are the standings without the games of too many fallbacks, None where there are no such games.
    """
    shown: list[Panel] = [DataTable("Standings", ("",), (), UNRANKED)]
    if found.lines or not found.unranked:
        shown = _places_of_all(found, kept)
    if found.seats:
        note = (
            "By place at the table, in the order of the scenario's players. The test takes off what each model or "
            "player explains, and deals the rest again within games."
        )
        shown.append(_places("seat", found, note))
    if found.spoke:
        note = "By turn in the first order of all players that chance drew. The test deals the turns again."
        shown.append(_places("turn", found, note))
    if own_makers:
        shown.append(_own_makers(own_makers))
    if relations:
        shown.append(_relations(relations))
    shown.append(_costs(found.played))
    return shown


def _places_of_all(found: Standings, kept: Standings | None) -> list[Panel]:
    """Who came first, how strong each is, and who came out before whom."""
    ranks = [(line.label, line.mean_rank) for line in found.lines]
    shown: list[Panel] = [
        _leaderboard(found, kept),
        _chart(_rank(found).capitalize(), f"{_rank(found)}: lower is better", ranks),
        _ratings(found, kept),
        _chart("Strength", "log strength (Plackett-Luce)", [(line.label, line.strength) for line in found.lines]),
    ]
    return [*shown, _strongest(found.lines), _matrix(found)] if len(found.lines) > 1 else shown


def _leaderboard(found: Standings, kept: Standings | None) -> DataTable:
    rows = []
    for line in found.lines:
        beside = _beside(kept, line, lambda other: (other.games, *_results(other)))
        rows.append((line.label, line.games, line.entries, round(line.wins, 2), *_results(line), *beside))
    note = (
        "Intervals of 95% by the bootstrap: games are drawn again, those of one seed together, and two games of an "
        "unknown entry are added, which keep small samples honest (docs/inference.md). Of a first place that n "
        "players share, each has 1/n of a win. Games of different seeds are "
        "taken to be independent."
    )
    if found.relative:
        note += (
            " The games have different numbers of players, so instead of ranks stand relative ones: the share of the "
            "others who came out before, 0 for the first and 1 for the last."
        )
    if found.unranked:
        note += f" Not counted: {counted(found.unranked, 'game')} without a ranking."
    if found.null_p is not None:
        verdict = "no further" if found.null_p > 0.05 else "further"
        ranks = f"{_rank(found).capitalize()}s"
        p = p_value(found.null_p)
        note += f" {ranks} lie {verdict} apart than chance alone would put them (permutation test: {p})."
    if found.seats_fixed:
        note += " No entry ever changed its seat: these figures contain the effect of the seat."
    columns: tuple[str, ...] = ("", "games", "entries", "wins", "win rate", _rank(found))
    if kept is not None:
        columns += ("games*", "win rate*", f"{_rank(kept)}*")
        note += f" {_KEPT}"
    return DataTable("Standings", columns, tuple(rows), note, sentence=in_words.standing(found, _rank(found)))


def _results(line: StandingsLine) -> tuple[str, str]:
    return written(line.win_rate, ".0%"), written(line.mean_rank, ".2f")


def _ratings(found: Standings, kept: Standings | None) -> DataTable:
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
    note += (
        "OpenSkill: mu ± sigma, game after game; it depends on their order. A strength is assumed to be the "
        "same in all games and seats, beside any others."
    )
    columns: tuple[str, ...] = (
        "games",
        *("first of all", "log strength", "wins", "expected", "first by ranks", "OpenSkill"),
    )
    if kept is None:
        return DataTable("Ratings", ("", *columns), rows, note, sentence=in_words.rating(found))
    columns += tuple(f"{column}*" for column in columns)
    return DataTable("Ratings", ("", *columns), rows, f"{note} {_KEPT}", sentence=in_words.rating(found))


def _rated(line: StandingsLine) -> tuple[Cell, ...]:
    return (
        line.games,
        written(line.first, ".1%"),
        written(line.strength, "+.2f"),
        round(line.wins, 2),
        written(line.wins_expected, ".0f"),
        None if line.first_by_ranks is None else f"{line.first_by_ranks:.1%}",
        f"{line.mu:.1f} ± {line.sigma:.1f}",
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
        sentence=in_words.strongest(ordered),
    )


def _beside(
    kept: Standings | None, line: StandingsLine, cells: Callable[[StandingsLine], tuple[Cell, ...]]
) -> tuple[Cell, ...]:
    """The cells of the same label in the standings `kept`; empty ones for a label without a game there."""
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
    return DataTable("Head to head", ("", *labels), tuple(rows), note, shade=shade, sentence=in_words.ahead(found))


def _lead(share: Interval | None) -> float | None:
    """How far ahead, from 0 (even) to 1 (always); None where the interval holds even."""
    if share is None or share.low is None or share.low <= 0.5:
        return None
    return 2 * share.value - 1


def _places(what: str, found: Standings, note: str) -> DataTable:
    title, places, p = "Seats", found.seats, found.seats_p
    if what == "turn":
        title, places, p = "Order of speaking", found.spoke, found.spoke_p
    rows = tuple(
        (
            *(place.place, place.entries, round(place.wins, 2), written(place.win_rate, ".0%")),
            written(place.mean_rank, ".2f"),
        )
        for place in places
    )
    if p is None:
        note += f" No test: no player changed the {what}, or all ranks are the same."
    columns = (what, "entries", "wins", "win rate", _rank(found))
    return DataTable(title, columns, rows, note, sentence=in_words.place(what, places, p, found.uneven[what]))


def _own_makers(own_makers: Sequence[OwnMaker]) -> DataTable:
    rows = tuple(
        (
            each.maker or "all",
            "to win" if each.final else "to go",
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
    return DataTable("Votes for the own maker", columns, rows, note, sentence=in_words.own_maker(own_makers[0]))


def _relations(relations: Sequence[Relation]) -> DataTable:
    busiest = sorted(relations, key=lambda each: -each.done_for - each.done_against)[:MOST_RELATIONS]
    counts = attrgetter("games", "pairs", "done_for", "done_against", "turned_for", "turned_against")
    rows = tuple((f"{each.who} \u2192 {each.whom}", *counts(each)) for each in relations if each in busiest)
    note = (
        "How often entrants of the first did something for or against those of the second (votes, gifts, trades, yes "
        "and no), and how often a pair turned. A pair turns when a deed against the other follows one for it, or the "
        "other way round."
    )
    if len(relations) > len(rows):
        note += f" The {len(rows)} busiest of {len(relations):,}; --json has all."
    columns = ("who to whom", "games", "pairs", "for", "against", "turned for", "turned against")
    return DataTable("For and against each other", columns, rows, note, sentence=in_words.relation(busiest[0]))


def _costs(lines: Sequence[Played]) -> DataTable:
    rows = []
    for line in lines:
        share = f"{line.fallbacks / line.asked:.0%}" if line.asked else None
        cost = "unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}"
        counts = (line.games, line.decisions, line.calls, line.reasks, line.fallbacks)
        rows.append((line.label, *counts, share, line.turned_away, cost))
    columns = ("", "games", "decisions", "calls", "re-asks", "fallbacks", "share", "turned away", "cost of a game")
    note = (
        "The share of fallbacks is of decisions that no bot made. Turned away is an answer that was read, and that the "
        "rules of the game refuse. These are counts of what was played, without intervals."
    )
    return DataTable("Calls and cost", columns, tuple(rows), note, sentence=in_words.cost(lines))


def _chart(title: str, axis: str, estimates: Sequence[tuple[str, Interval]]) -> Estimates:
    rows = tuple(Estimate(label, each.value, each.low, each.high) for label, each in estimates)
    return Estimates(title, rows, axis, "Intervals of 95%; the numbers of games stand in the tables.")


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
