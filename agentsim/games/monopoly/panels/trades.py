"""Trades: each proposal with its terms, its answer and its balance, and how often who agreed with whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Cell, DataTable, Panel
from agentsim.games.monopoly.deals import Deal
from agentsim.games.monopoly.trading import TradeDiscarded

_MOST = 300


def panels(found: Sequence[Deal], log: Sequence[LogEntry], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Empty where no trade was proposed."""
    if not found:
        return
    discarded = [told.event for told in log if isinstance(told.event, TradeDiscarded)]
    yield _by_player(found, [event.proposer for event in discarded], names)
    yield _each(found, names)


def _by_player(found: Sequence[Deal], discarded: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> DataTable:
    rows: list[tuple[Cell, ...]] = []
    for player, name in names.items():
        made = [deal for deal in found if deal.proposer == player]
        got = [deal for deal in found if deal.target == player]
        yes, agreed = (sum(deal.answer == "accepted" for deal in some) for some in (made, got))
        gained = sum(_balance(deal, player) for deal in found if deal.answer == "accepted")
        rows.append((name, len(made), yes, discarded.count(player), len(got), agreed, gained))
    columns = ("player", "proposed", "accepted", "discarded", "received", "agreed to", "gained by list price")
    note = "Gained: what came in less what went out in all accepted trades, with deeds at list price."
    return DataTable("Trades by player", columns, tuple(rows), note)


def _balance(deal: Deal, player: PlayerId) -> int:
    return deal.list_balance if player == deal.proposer else -deal.list_balance if player == deal.target else 0


def _each(found: Sequence[Deal], names: Mapping[PlayerId, str]) -> DataTable:
    # Accepted ones first in importance: where not all can be shown, the rejected ones go.
    kept = sorted(found, key=lambda deal: (deal.answer != "accepted", -deal.number))[:_MOST]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            deal.turn,
            names[deal.proposer],
            str(deal.offer),
            names[deal.target],
            str(deal.request),
            deal.answer,
            _signed(deal.list_balance),
            _signed(deal.rent_proposer),
            _signed(deal.rent_target),
        )
        for deal in sorted(kept, key=lambda deal: deal.number)
    )
    columns = ("turn", "proposer", "gives", "to", "for", "answer", "list price", "rent, proposer", "rent, other")
    note = (
        "List price: what the proposer would gain (+) or lose (−) with deeds at list price, mortgaged ones at half, "
        "and cards out of jail at $50. Rent: how the sum of all rents of either side would change, with whole groups."
    )
    if len(found) > len(kept):
        note += (
            f" {len(kept)} of {len(found)} are shown: the accepted ones and the latest others. All are in the timeline "
            "and in the table trades that export writes."
        )
    return DataTable("Trades and what they were worth", columns, rows, note)


def _signed(amount: int) -> str:
    return f"+{amount:,}" if amount > 0 else f"\u2212{-amount:,}" if amount else "0"
