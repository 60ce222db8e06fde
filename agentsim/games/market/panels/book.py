"""The order book as it stood at the end of rounds, replayed from the events of orders."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from agentsim.engine.event import Event, LogEntry
from agentsim.engine.panel import Cell, DataTable, Panel
from agentsim.games.market.panels.spots import rounds, spots
from agentsim.games.market.schedule import PeriodBegan
from agentsim.games.market.trading import Ordered, Traded, Withdrawn


class OpenOrders:
    """The open orders by number, as (good, side, price, quantity)."""

    def __init__(self) -> None:
        self.by_number: dict[int, tuple[str, str, int, int]] = {}

    def follow(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case Ordered():
                # what a trade takes of it follows as an event of its own, and is no part of `standing`
                if event.standing:
                    self.by_number[event.order] = (event.good, event.side, event.price, event.standing)
                else:
                    self.by_number.pop(event.order, None)
            case Withdrawn():
                self.by_number.pop(event.order, None)
            case Traded() if event.resting in self.by_number:
                good, side, price, quantity = self.by_number.pop(event.resting)
                if quantity > event.quantity:
                    self.by_number[event.resting] = (good, side, price, quantity - event.quantity)
            case _:
                pass

    def side(self, good: str, side: str) -> tuple[int | None, int]:
        """The best price and the units on one side of a good's book."""
        orders = [(price, quantity) for g, s, price, quantity in self.by_number.values() if (g, s) == (good, side)]
        if not orders:
            return None, 0
        best = (max if side == "buy" else min)(price for price, _ in orders)
        return best, sum(quantity for _, quantity in orders)


def book(log: Sequence[LogEntry]) -> list[Panel]:
    """A row a round and good: the best prices and how much stands; empty where nothing was ordered."""
    goods = list(dict.fromkeys(told.event.good for told in log if isinstance(told.event, Ordered)))
    if not goods:
        return []
    shown = set(spots(rounds(log), 40))
    orders, rows = OpenOrders(), []
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        traded = dict.fromkeys(goods, 0)
        for told in told_in_round:
            orders.follow(told.event)
            if isinstance(told.event, Traded):
                traded[told.event.good] += told.event.quantity
        if number in shown:
            for good in goods:
                (bid, wanted), (ask, offered) = orders.side(good, "buy"), orders.side(good, "sell")
                row: tuple[Cell, ...] = (number, good, wanted, bid, ask, offered, traded[good])
                rows.append(row)
    columns = ("round", "good", "units wanted", "best bid", "best ask", "units offered", "traded in the round")
    note = "At the end of the round." + ("" if len(shown) == rounds(log) else " Some rounds, evenly spread.")
    if any(isinstance(told.event, PeriodBegan) for told in log):
        note += " Rounds are counted through all periods; what is left at the end of a period is withdrawn."
    return [DataTable("Order book", columns, tuple(rows), note)]
