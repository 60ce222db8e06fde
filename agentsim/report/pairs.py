"""Pairs: a table of what each player did for or against each other, over time. The sums are `history.pairs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.dealing import AGAINST, FOR, NAMED
from agentsim.engine.panel import Cell, Table
from agentsim.history.pairs import Deed, Pair
from agentsim.report.text import number

__all__ = ["MOST_PAIRS", "MOST_PERIODS", "pairs_table"]

MOST_PAIRS = 30
MOST_PERIODS = 8
"""Columns of rounds: where there were more, several share one."""
_SIGNS = {FOR: "+ ", AGAINST: "\u2212 ", 0: ""}


def pairs_table(found: Sequence[Pair], titles: Mapping[int, str]) -> Table | None:
    """The pairs that did most for or against each other, then those that talked most; None where nobody did anything.

    `titles` are those of all rounds by number; of pairs in which one only named the other there is no table.
    """
    if not any(deed.deed != NAMED for pair in found for deed in pair.deeds):
        return None
    shown = sorted(found, key=_busyness)[:MOST_PAIRS]
    shown = [pair for pair in found if pair in shown]
    periods = _periods({deed.round for pair in found for deed in pair.deeds})
    columns: dict[str, list[Cell]] = {
        "who": [pair.who for pair in shown],
        "to whom": [pair.whom for pair in shown],
        "for": [pair.times(FOR) for pair in shown],
        "against": [pair.times(AGAINST) for pair in shown],
        "turned": [_turns(pair, titles) for pair in shown],
        "named in": [pair.named for pair in shown],
        "then for": [pair.after_naming(FOR) for pair in shown],
        "then against": [pair.after_naming(AGAINST) for pair in shown],
    }
    for name in ("turned", "named in", "then for", "then against"):
        if not any(columns[name]):
            del columns[name]
    for period in periods:
        cells: list[Cell] = [_done([deed for deed in pair.deeds if deed.round in period]) for pair in shown]
        columns[_called(period, titles)] = cells
    rows = tuple(zip(*columns.values(), strict=True))
    return Table("For and against each other", tuple(columns), rows, _note(found, columns))


def _busyness(pair: Pair) -> tuple[int, int]:
    """Sorts the busiest first."""
    return -pair.times(FOR) - pair.times(AGAINST), -pair.times(0)


def _periods(rounds: set[int]) -> list[range]:
    """Every round in which anything was done for itself, or spans of as many rounds each."""
    if len(rounds) <= MOST_PERIODS:
        return [range(number, number + 1) for number in sorted(rounds)]
    first, last = min(rounds), max(rounds)
    step = -(-(last + 1 - first) // MOST_PERIODS)
    return [range(start, min(start + step, last + 1)) for start in range(first, last + 1, step)]


def _called(period: range, titles: Mapping[int, str]) -> str:
    if len(period) == 1:
        return titles.get(period[0]) or str(period[0])
    return f"{period[0]}\u2013{period[-1]}"


def _turns(pair: Pair, titles: Mapping[int, str]) -> str | None:
    turns = [f"{'for' if sign == FOR else 'against'} in {titles.get(at) or at}" for at, sign in pair.turns]
    return "; ".join(turns[:2]) + (f"; {len(turns) - 2} more" if len(turns) > 2 else "") if turns else None


def _done(deeds: Sequence[Deed]) -> str | None:
    """What was done, each kind of thing once, in the order in which it was first done."""
    times: dict[tuple[int, str], int] = {}
    amounts: dict[tuple[int, str], float] = {}
    for deed in deeds:
        key = (deed.sign, deed.deed)
        times[key] = times.get(key, 0) + deed.times
        if deed.amount is not None:
            amounts[key] = amounts.get(key, 0) + deed.amount
    parts = []
    for sign, deed in times:
        often = f" ×{times[sign, deed]}" if times[sign, deed] > 1 else ""
        much = f" ({number(amounts[sign, deed])})" if (sign, deed) in amounts else ""
        parts.append(f"{_SIGNS[sign]}{deed}{often}{much}")
    return ", ".join(parts) or None


def _note(found: Sequence[Pair], columns: Mapping[str, object]) -> str:
    note = (
        "What each chose to do: + for the other (gave it something, or said yes), \u2212 against it (said no), "
        "and talk without a sign; in brackets what was given, all together."
    )
    if "turned" in columns:
        note += (
            " A pair turns in a round with more against than for, after one with more for than against, or the other "
            "way round; rounds with as much of both do not count."
        )
    if "named in" in columns:
        note += (
            " Named in: rounds in which one called the other by name in words for all, and what then followed in them."
        )
    if len(found) > MOST_PAIRS:
        note += f" The {MOST_PAIRS} busiest of {len(found):,} pairs; `agentsim export` writes all into its table pairs."
    return note
