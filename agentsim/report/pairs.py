"""Pairs: a table of what each player did for or against each other, over time. The sums are `history.pairs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.interaction import AGAINST, FOR, NAMED, NEITHER, Sign
from agentsim.engine.panel import Cell, Table
from agentsim.history.pairs import Deed, Pair
from agentsim.report.text import number

__all__ = ["MOST_PAIRS", "MOST_PERIODS", "pairs_table"]

MOST_PAIRS = 30
MOST_PERIODS = 8
"""Columns of rounds: where there were more, several share one."""
_SIGNS: dict[Sign, str] = {FOR: "+\u00a0", AGAINST: "\u2212\u00a0", NEITHER: ""}


def pairs_table(found: Sequence[Pair], titles: Mapping[int, str]) -> Table | None:
    """The pairs that did most for or against each other, then those that talked most; None where nobody did anything.

    `titles` are those of all rounds by number. Where one only named the other is left to Mentions and exports.
    """
    dealt = [pair for pair in found if any(deed.deed != NAMED for deed in pair.deeds)]
    if not dealt:
        return None
    kept = set(sorted(dealt, key=_busyness)[:MOST_PAIRS])
    shown = [pair for pair in dealt if pair in kept]
    columns: dict[str, list[Cell]] = {
        "for": [pair.times(FOR) or None for pair in shown],
        "against": [pair.times(AGAINST) or None for pair in shown],
        "turned": [_turns(pair, titles) for pair in shown],
    }
    for period in _periods({deed.round for pair in dealt for deed in pair.deeds}):
        columns[_called(period, titles)] = [_done([d for d in pair.deeds if d.round in period]) for pair in shown]
    columns["named in"] = [pair.named or None for pair in shown]
    columns["then for"] = [pair.after_naming(FOR) or None for pair in shown]
    columns["then against"] = [pair.after_naming(AGAINST) or None for pair in shown]
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip([f"{pair.who} \u2192 {pair.whom}" for pair in shown], *columns.values(), strict=True)
    title = "For and against each other" if {"for", "against"} & columns.keys() else "Between each two"
    return Table(title, ("who to whom", *columns), tuple(rows), _note(len(dealt), columns))


def _busyness(pair: Pair) -> tuple[int, int, int]:
    """Sorts the busiest first, of as busy ones those that turned."""
    return -pair.times(FOR) - pair.times(AGAINST), -len(pair.turns), -pair.times(NEITHER)


def _periods(rounds: set[int]) -> list[range]:
    """Every round in which anything was done for itself, or spans of as many rounds each."""
    if len(rounds) <= MOST_PERIODS:
        return [range(number, number + 1) for number in sorted(rounds)]
    first, last = min(rounds), max(rounds)
    step = -(-(last + 1 - first) // MOST_PERIODS)
    return [range(start, min(start + step, last + 1)) for start in range(first, last + 1, step)]


def _called(period: range, titles: Mapping[int, str]) -> str:
    first, last = (_short(at, titles) for at in (period[0], period[-1]))
    stem = first.removesuffix(str(period[0]))
    if first == last:
        return first
    return f"{stem}{period[0]}\u00a0to\u00a0{period[-1]}" if last == f"{stem}{period[-1]}" else f"{first} to {last}"


def _short(number: int, titles: Mapping[int, str]) -> str:
    """A round's title without what stands behind a colon."""
    return titles.get(number, "").partition(":")[0] or str(number)


def _turns(pair: Pair, titles: Mapping[int, str]) -> str | None:
    turns = []
    for at, sign in pair.turns:
        when = _short(at, titles).replace(" ", "\u00a0")
        turns.append(f"{'for' if sign == FOR else 'against'} in\u00a0{when}")
    return "; ".join(turns[:2]) + (f"; {len(turns) - 2} more" if len(turns) > 2 else "") if turns else None


def _done(deeds: Sequence[Deed]) -> str | None:
    """What was done, each kind of thing once, in the order in which it was first done."""
    times: dict[tuple[Sign, str], int] = {}
    amounts: dict[tuple[Sign, str], float] = {}
    for deed in deeds:
        if deed.deed == NAMED:
            continue  # it has columns of its own
        key = (deed.sign, deed.deed)
        times[key] = times.get(key, 0) + deed.times
        if deed.amount is not None:
            amounts[key] = amounts.get(key, 0) + deed.amount
    parts = []
    for key, count in times.items():
        often = f"\u00a0×{count}" if count > 1 else ""
        much = f" ({number(amounts[key])})" if key in amounts else ""
        parts.append(f"{_SIGNS[key[0]]}{key[1]}{often}{much}")
    return ", ".join(parts) or None


def _note(pairs: int, columns: Mapping[str, object]) -> str:
    note = "What each chose to do towards the other; in brackets how much, all together."
    if "for" in columns or "against" in columns:
        note = (
            "What each chose to do: + for the other (gave it something, said yes), \u2212 against it (said no), talk "
            "without a sign; in brackets what was given, all together."
        )
    if "turned" in columns:
        note += " A pair turns when a deed against the other follows one for it, or the other way round."
    if "named in" in columns:
        note += (
            " Named in: rounds in which one named the other in words for all, and how many of them then saw a deed for "
            "or against it."
        )
    if pairs > MOST_PAIRS:
        note += f" The {MOST_PAIRS} busiest of {pairs:,} pairs; the table pairs that export writes has all."
    return note
