"""Sentences that one may write of a figure: what was estimated, of how many games, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from agentsim.analysis.inference import Interval
from agentsim.analysis.preference import OwnMaker, Relation
from agentsim.analysis.standings import Place, Standings, StandingsLine
from agentsim.engine.wording import counted

SMALL = 0.05


def written(interval: Interval, form: str) -> str:
    """`0.4 (0.1 to 0.7)`; the estimate alone where it has no interval."""
    return " ".join(filter(None, (f"{interval.value:{form}}", ends(interval, form))))


def ends(interval: Interval, form: str) -> str | None:
    """`(0.1 to 0.7)`, or None."""
    if interval.low is None or interval.high is None:
        return None
    return f"({interval.low:{form}} to {interval.high:{form}})"


def estimated(interval: Interval, form: str, more: str = "", of: str = "95% interval") -> str:
    """`0.40 (95% interval 0.10 to 0.70; 60 games)`."""
    both = ends(interval, form)
    said = f"{of} {both[1:-1]}" if both else "no interval: too few games, or all alike"
    return f"{interval.value:{form}} ({'; '.join(filter(None, (said, more)))})"


def p_value(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def standing(found: Standings, rank: str) -> str:
    """Of the first line."""
    if not found.lines:
        return ""
    line = found.lines[0]
    many = counted(line.games, "game")
    won = estimated(line.win_rate, ".0%", f"entries that won: {line.wins:g} of {line.entries}, in {many}")
    return f"{line.label} came first in {won}, with a {rank} of {estimated(line.mean_rank, '.2f')}."


def rating(found: Standings) -> str:
    """Of the label that is likeliest to come first."""
    if len(found.lines) < 2:
        return ""
    line = max(found.lines, key=lambda line: line.first.value)
    won = estimated(line.first, ".0%", f"wins: {line.wins:g} in {counted(line.games, 'game')}", "95% of the posterior")
    return f"{line.label} comes first among one of each with a chance of {won}."


def strongest(ordered: Sequence[StandingsLine]) -> str:
    """Of the first, by strength."""
    line = ordered[0]
    many = counted(line.games, "game")
    return f"{line.label} is the strongest with a probability of {line.places[0]:.0%} (Plackett-Luce model; {many})."


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
    return f"{one} came out before {other} in {estimated(share, '.0%', f'{won:g} of {pairs} pairs')}."


def place(what: str, places: Sequence[Place], p: float | None) -> str:
    """Whether a seat or a turn matters."""
    if p is None:
        return ""
    verdict = "made a difference to the rank" if p <= SMALL else "was not seen to make a difference to the rank"
    best = max(places, key=lambda place: place.win_rate.value)
    won = estimated(best.win_rate, ".0%", f"{best.entries} entries")
    return (
        f"The {what} {verdict} (permutation test: {p_value(p)}); {what} {best.place} came first most often, in {won}."
    )


def own_maker(found: OwnMaker) -> str:
    """Of all makers' votes of one kind."""
    kind = "to win" if found.final else "to go"
    many = f"{counted(found.games, 'game')}, {counted(found.votes, 'vote')}"
    points = estimated(found.points, "+.1%", many)
    return f"Voters gave a candidate of their own maker {points} of their votes {kind} more than other voters gave it."


def relation(found: Relation) -> str:
    """Of the pair that did most."""
    done = f"{counted(found.done_for, 'deed')} for {found.whom} and {found.done_against} against it"
    return f"In {counted(found.games, 'game')} {found.who} did {done} (a count, without an interval)."


def cost(lines: Sequence[StandingsLine]) -> str:
    """Of the dearest, where anything was paid for."""
    known = [line for line in lines if line.cost_usd]
    if not known:
        return ""
    line = max(known, key=lambda line: line.cost_usd or 0.0)
    return f"A game cost ${line.cost_usd:.4f} for {line.label} (the mean of {counted(line.games, 'game')})."
