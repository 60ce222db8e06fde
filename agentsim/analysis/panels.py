"""panels: findings as tables and charts, as data: a terminal and a page show the same ones."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.analysis.branches import Shift
from agentsim.analysis.favour import Favour
from agentsim.analysis.standings import Interval, Line, Place, Standings
from agentsim.engine.panel import Cell, Panel, Range, Ranges, Table

__all__ = ["panels"]


def panels(found: Standings, favours: Sequence[Favour], shifts: Sequence[Shift] = ()) -> list[Panel]:
    """What there is to show: parts about which nothing is known are left out."""
    shown: list[Panel] = [
        _leaderboard(found),
        _chart("Mean rank", "mean rank: lower is better", [(line.label, line.mean_rank) for line in found.lines]),
        _ratings(found.lines),
        _chart("Strength", "log strength (Plackett-Luce)", [(line.label, line.strength) for line in found.lines]),
    ]
    if len(found.lines) > 1:
        shown.append(_matrix(found))
    if found.seats:
        shown.append(
            _places("Seats", "seat", found.seats, "By place at the table, in the order of the scenario's players.")
        )
    if found.spoke:
        note = "By turn in the first round in which everybody is heard."
        shown.append(_places("Order of speaking", "turn", found.spoke, note))
    if favours:
        shown.append(_favours(favours))
    if shifts:
        shown.append(_branches(shifts))
    shown.append(_costs(found.lines))
    return shown


def _leaderboard(found: Standings) -> Table:
    rows = tuple(
        (
            line.label,
            line.games,
            line.entries,
            round(line.wins, 2),
            f"{line.win_rate.value:.0%}{_ends(line.win_rate, '.0%')}",
            f"{line.mean_rank.value:.2f}{_ends(line.mean_rank, '.2f')}",
        )
        for line in found.lines
    )
    note = (
        "Intervals of 95%, by drawing games again (bootstrap), two blind ones among them, those of one seed together. "
        "A shared first place is a part of a win for each."
    )
    if found.null_p is not None:
        verdict = "no further" if found.null_p > 0.05 else "further"
        p = f"= {found.null_p:.3f}" if found.null_p >= 0.001 else "< 0.001"
        note += f" Mean ranks lie {verdict} apart than chance alone would put them (permutation test: p {p})."
    if found.seats_fixed:
        note += " Nobody ever changed seats: what a seat is worth is in these figures as well."
    return Table("Standings", ("", "games", "entries", "wins", "win rate", "mean rank"), rows, note)


def _ratings(lines: Sequence[Line]) -> Table:
    rows = tuple(
        (
            line.label,
            f"{line.share:.0%}",
            f"{line.strength.value:+.2f}{_ends(line.strength, '+.2f')}",
            f"{line.mu:.1f} ± {line.sigma:.1f}",
        )
        for line in sorted(lines, key=lambda line: -line.strength.value)
    )
    note = (
        "Plackett-Luce: the chance to come first among one of each, and the log strength. OpenSkill: mu ± sigma, "
        "game after game; it depends on their order."
    )
    return Table("Ratings", ("", "first of all", "log strength", "OpenSkill"), rows, note)


def _matrix(found: Standings) -> Table:
    labels = [line.label for line in found.lines]
    rows: list[tuple[Cell, ...]] = []
    for label, cells in zip(labels, found.beats, strict=True):
        rates = (round(100 * won / pairs) if pairs else None for won, pairs in cells)
        rows.append((label, *rates))
    note = "Percent of pairs in one game where the row's entry came out before the column's; ties are half."
    return Table("Head to head", ("", *labels), tuple(rows), note, heat=True)


def _places(title: str, what: str, places: Sequence[Place], note: str) -> Table:
    rows = tuple(
        (
            place.place,
            place.entries,
            round(place.wins, 2),
            f"{place.mean_rank.value:.2f}{_ends(place.mean_rank, '.2f')}",
        )
        for place in places
    )
    return Table(title, (what, "entries", "wins", "mean rank"), rows, note)


def _favours(favours: Sequence[Favour]) -> Table:
    rows = tuple(
        (
            favour.maker or "all",
            "to win" if favour.final else "to go",
            favour.votes,
            favour.same,
            round(favour.blind, 1),
            f"{favour.excess.value:+.1%}{_ends(favour.excess, '+.1%')}",
        )
        for favour in favours
    )
    note = "Votes of a maker's models that fell on the same maker's, and how many would if each were drawn blindly."
    return Table("Votes for one's own", ("maker", "vote", "votes", "own", "blind", "excess"), rows, note)


def _branches(shifts: Sequence[Shift]) -> Table:
    rows = tuple(
        (
            shift.fork,
            shift.player,
            shift.branches,
            round(shift.trunk_rank, 2),
            round(shift.branch_rank, 2),
            f"{shift.difference.value:+.2f}{_ends(shift.difference, '+.2f')}",
        )
        for shift in shifts
    )
    note = "Ranks in branches and in their own trunks; below 0 the branch is better for the player."
    return Table("Branches", ("fork", "player", "branches", "trunk", "branch", "difference"), rows, note)


def _costs(lines: Sequence[Line]) -> Table:
    rows = tuple(
        (
            line.label,
            line.decisions,
            line.calls,
            line.reasks,
            line.fallbacks,
            "unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}",
        )
        for line in lines
    )
    return Table("Calls and cost", ("", "decisions", "calls", "re-asks", "fallbacks", "cost of a game"), rows)


def _chart(title: str, axis: str, estimates: Sequence[tuple[str, Interval]]) -> Ranges:
    rows = tuple(Range(label, each.value, each.low, each.high) for label, each in estimates)
    return Ranges(title, rows, axis, "Intervals of 95%.")


def _ends(interval: Interval, form: str) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" ({interval.low:{form}} to {interval.high:{form}})"
