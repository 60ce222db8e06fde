"""Sentences that one may write of a figure: what was estimated, of how many games, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

from agentsim.analysis.inference import FEWEST, Interval
from agentsim.analysis.paired import Effect
from agentsim.analysis.played import Played
from agentsim.analysis.preference import OwnMaker, Relation
from agentsim.analysis.standings import Place, Standings, StandingsLine
from agentsim.engine.wording import counted, listed

SMALL = 0.05


def written(interval: Interval, form: str) -> str:
    """`0.4 (0.1 to 0.7)`; the estimate alone where it has no interval."""
    return " ".join(filter(None, (f"{interval.value:{form}}", ends(interval, form))))


def ends(interval: Interval, form: str) -> str | None:
    """`(0.1 to 0.7)`, or None."""
    if interval.low is None or interval.high is None:
        return None
    return f"({interval.low:{form}} to {interval.high:{form}})"


def estimated(interval: Interval, form: str, games: int, more: str = "", of: str = "95% interval") -> str:
    """`0.40 (95% interval 0.10 to 0.70; 60 games)`; of how many games it is says why there is no interval."""
    both = ends(interval, form)
    said = f"{of} {both[1:-1]}" if both else f"no interval: {counted(games, 'game')}, too few"
    if not both and games >= FEWEST:
        said = "no interval: games of too few seeds, or all alike"
    return f"{interval.value:{form}} ({'; '.join(filter(None, (said, more)))})"


def effect(found: Effect, form: str, number: int, unit: str, fewest: int = FEWEST) -> str:
    """The estimate with its own interval, or why it has none: `+1.00, the same in all 6 pairs`."""
    if found.low is not None:
        return written(found.alone, form)
    return f"{found.mean + 0.0:{form}}, {_alike(number, unit) if number >= fewest else f'too few {unit}s'}"


def _alike(number: int, unit: str) -> str:
    return f"the same in all {counted(number, unit)}"


def effects(
    found: Sequence[tuple[str, Effect, int]], where: str, *, of: str, unit: str, more: str = "", fewest: int = FEWEST
) -> str:
    """The clearest of many effects, or that none is shown, by the intervals that hold for all together.

    None of the rows was named beforehand, so the interval of one alone would be too narrow for the row that is chosen.
    `found` holds who did it, the effect and its number of pairs (or blocks); `of` is who did them all.
    """
    most, form = max((number for *_, number in found), default=0), "+.2f"
    many = f"{counted(most, unit)}{more}"
    if not found or most < fewest:
        return f"{where}, nothing can be said of {of}: {many}, too few for an interval." if found else ""
    known = [each for each in found if each[1].low_adj is not None]
    told = [each for each in known if each[1].together.leaves_out(0)]
    alike = [each for each in found if each[1].low is None and each[2] >= fewest and each[1].mean]
    if told:
        who, best, own = max(told, key=lambda each: abs(each[1].mean) / each[1].together.width)
        both = f"95% interval {best.low_adj:{form}} to {best.high_adj:{form}} for all {len(known)} effects together"
        changed = f"{best.measure} of {best.player} by {best.mean:{form}} ({both}; {counted(own, unit)}{more})"
        return f"{where}, {who} changed {changed}; {len(told)} of the {len(known)} can be told from 0."
    if alike:
        who, best, own = max(alike, key=lambda each: abs(each[1].mean))
        changed = f"{best.measure} of {best.player} by {best.mean:{form}}, {_alike(own, unit)}{more}"
        beside = f"; of {counted(len(known), 'effect')} that vary none can be told from 0" if known else ""
        return f"{where}, {who} changed {changed}{beside}."
    if known:
        none = f"none of {counted(len(known), 'effect')} can be told from 0 by 95% intervals that hold for all together"
        return f"{where}, no effect of {of} is shown: {none} ({many})."
    if any(each.mean or each.low is not None for _, each, _ in found):
        return f"{where}, no effect of {of} is shown: {many} give no interval that holds for all effects together."
    return f"{where}, {of} made no difference to any measure in {many}."


def p_value(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def standing(found: Standings, rank: str) -> str:
    """Of the first line."""
    if not found.lines:
        return ""
    line = found.lines[0]
    many = counted(line.games, "game")
    won = estimated(line.win_rate, ".0%", line.games, f"entries that won: {line.wins:g} of {line.entries}, in {many}")
    return f"{line.label} came first in {won}, with a {rank} of {estimated(line.mean_rank, '.2f', line.games)}."


def rating(found: Standings) -> str:
    """Of the label that is likeliest to come first."""
    if len(found.lines) < 2:
        return ""
    line = max(found.lines, key=lambda line: line.first.value)
    wins = f"wins: {line.wins:g} in {counted(line.games, 'game')}"
    won = estimated(line.first, ".0%", line.games, wins, "95% of the posterior")
    return f"In a game with one of each, by wins alone, {line.label} comes first with a probability of {won}."


def strongest(ordered: Sequence[StandingsLine]) -> str:
    """Of the first, by strength."""
    line = ordered[0]
    many = counted(line.games, "game")
    best = f"has the highest strength with a probability of {line.places[0]:.0%}"
    return f"{line.label} {best} (Plackett-Luce model of all places; {many})."


def ahead(found: Standings) -> str:
    """Of the pair that is furthest apart, if it can be told apart."""
    apart, told = [], False
    for row, column in permutations(range(len(found.lines)), 2):
        share = found.ahead[row][column]
        told = told or (share is not None and share.low is not None)
        if share is not None and share.low is not None and share.low > 0.5:
            apart.append((share, row, column))
    if not told:
        return ""
    if not apart:
        return "Head to head no difference is shown: every 95% interval includes 50%."
    share, row, column = max(apart, key=lambda each: each[0].value)
    won, pairs = found.beats[row][column]
    one, other = found.lines[row].label, found.lines[column].label
    both = len(found.lines) * (len(found.lines) - 1) // 2
    games = min(found.lines[row].games, found.lines[column].games)
    value = estimated(share, ".0%", games, f"{won:g} of {pairs} pairs")
    chosen = f", the pair that is furthest apart of {both}, each with an interval of its own" if both > 1 else ""
    return f"{one} came out before {other} in {value}{chosen}."


def place(what: str, places: Sequence[Place], p: float | None, uneven: tuple[str, int, int] | None) -> str:
    """Whether ranks differ by seat or turn, and all of them that came first most often."""
    if p is None:
        return ""
    verdict = "differ by more than" if p <= SMALL else "are not seen to differ by more than"
    most = max(place.win_rate.value for place in places)
    best = [place for place in places if math.isclose(place.win_rate.value, most)]
    first, alone = best[0], len(best) == 1
    if len(best) == len(places) > 1:
        won = f"all {what}s came first equally often"
    elif alone:
        won = f"{what} {first.place} came first most often, in "
        won += estimated(first.win_rate, ".0%", first.entries, f"{first.entries} entries")
    else:
        named = listed([str(place.place) for place in best])
        won = f"{what}s {named} came first most often and equally often, in {first.win_rate.value:.0%} each"
    said = f"The ranks of {what}s {verdict} chance alone would make them (permutation test: {p_value(p)}); {won}."
    if uneven is not None:
        label, fewest, many = uneven
        said += (
            f" But {what}s were uneven ({label}: {fewest} to {many} times in each), so how often a {what} came first "
            "also tells who was there."
        )
    return said


def own_maker(found: OwnMaker) -> str:
    """Of all makers' votes of one kind."""
    kind = "to win" if found.final else "to go"
    many = f"{counted(found.games, 'game')}, {counted(found.votes, 'vote')}"
    points = estimated(found.points, "+.1%", found.games, many)
    return f"Voters gave a candidate of their own maker {points} of their votes {kind} more than other voters gave it."


def relation(found: Relation) -> str:
    """Of the pair that did most."""
    done = f"{counted(found.done_for, 'deed')} for {found.whom} and {found.done_against} against it"
    return f"In {counted(found.games, 'game')} {found.who} did {done} (a count, without an interval)."


def cost(lines: Sequence[Played]) -> str:
    """Of the dearest, where anything was paid for."""
    known = [line for line in lines if line.cost_usd]
    if not known:
        return ""
    line = max(known, key=lambda line: line.cost_usd or 0.0)
    return f"A game cost ${line.cost_usd:.4f} for {line.label} (the mean of {counted(line.games, 'game')})."
