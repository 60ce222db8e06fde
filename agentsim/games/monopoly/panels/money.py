"""Money: net worth and cash by turn, and who paid whom how much rent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from agentsim.engine.event import PlayerId
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.games.monopoly.board import GROUPS, SPACES, group_name
from agentsim.games.monopoly.match import Paid
from agentsim.games.monopoly.replay import Snapshot

_POINTS = 250
"""Turns of a chart: more than these would be no wider on the page."""


def panels(turns: Sequence[Snapshot], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Charts of every player's money; of rents only where some were paid."""
    note = "Cash, deeds at list price (mortgaged: half of it) and buildings at cost."
    yield _chart("Net worth", turns, names, lambda turn, player: turn.worth[player], note)
    yield _chart("Cash", turns, names, lambda turn, player: turn.cash[player], "")
    rents = [event for turn in turns for event in turn.events if isinstance(event, Paid) and event.why == "rent"]
    if rents:
        yield _flows(rents, names)
        yield _by_group(rents, names)


def _chart(
    title: str,
    turns: Sequence[Snapshot],
    names: Mapping[PlayerId, str],
    value: Callable[[Snapshot, PlayerId], int],
    note: str,
) -> Chart:
    every = -(-len(turns) // _POINTS)
    chosen = [turn for place, turn in enumerate(turns) if place % every == 0 or turn is turns[-1]]
    some = f"Every {every}th turn." if every > 3 else f"Every {('', 'second ', 'third ')[every - 1]}turn."
    series = tuple(Series(name, tuple(float(value(turn, player)) for turn in chosen)) for player, name in names.items())
    x = tuple(str(turn.turn) for turn in chosen)
    return Chart(title, "line", x, series, "turn", "dollars", " ".join(filter(None, (note, some if every > 1 else ""))))


def _flows(rents: Sequence[Paid], names: Mapping[PlayerId, str]) -> DataTable:
    paid = Counter[tuple[str | None, str | None]]()
    for event in rents:
        paid[event.payer, event.payee] += event.amount
    rows: list[tuple[Cell, ...]] = [
        (name, *(None if payer == payee else paid[payer, payee] for payee in names)) for payer, name in names.items()
    ]
    note = "Dollars that the player of the row paid to the player of the column."
    return DataTable("Rent from whom to whom", ("paid by", *names.values()), tuple(rows), note, heat=True)


def _by_group(rents: Sequence[Paid], names: Mapping[PlayerId, str]) -> Chart:
    taken = Counter[tuple[str | None, str]]()
    for event in rents:
        if event.position is not None:
            taken[event.payee, SPACES[event.position].group] += event.amount
    groups = tuple(GROUPS)
    series = tuple(
        Series(name, tuple(float(taken[player, group]) for group in groups)) for player, name in names.items()
    )
    x = tuple(group_name(group) for group in groups)
    return Chart("Rent taken by group", "stacked", x, series, "", "dollars")
