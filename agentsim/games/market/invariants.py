"""Invariants of every market, stated independently of the rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine import LoggedEvent, PlayerId, RandomDraw, Request
from agentsim.games.market.artifacts.call_market import Called
from agentsim.games.market.artifacts.redemption import Redeemed
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import Endowed, OrderDrawn
from agentsim.games.market.turn import MarketRequest
from agentsim.games.market.world import CAPITAL, Trade, Transferred


class Accountant:
    """The holdings of each agent and the open orders, as the events tell them."""

    def __init__(self) -> None:
        self.held: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.open: dict[int, Ordered] = {}
        self.left: dict[int, int] = {}
        self.incoming: Ordered | None = None

    def look(self, step: object) -> Iterator[str]:
        """Take an event or a question into account and yield what it breaks."""
        match step:
            case Ordered():
                self.incoming, self.open[step.order], self.left[step.order] = step, step, step.standing
            case Withdrawn():
                self.left[step.order] = 0
            case Traded():
                yield from self.met(step)
            case Called(price=int(price), low=int(low), high=int(high)) if not low <= price <= high:
                yield f"{step.good} is called at {price}, and {low} to {high} clears it"
            case Called() if step.quantity > min(step.wanted, step.offered):
                yield f"{step.quantity} {step.good} are called, {step.wanted} wanted and {step.offered} offered"
            case MarketRequest():
                for asset, amount in step.now.held.items():
                    if self.held[step.player][asset] != amount:
                        yield f"{step.player} is told of {amount} {asset}, and has {self.held[step.player][asset]}"
        yield from self.account(step)

    def account(self, step: object) -> Iterator[str]:
        match step:
            case Endowed():
                self.held[step.agent] = Counter(step.holdings)
            case Transferred():
                yield from self.moved(step.giver, step.taker, step.asset, step.amount)
            case Redeemed():
                yield from self.moved(step.agent, "@world", step.good, step.quantity)
                yield from self.moved("@world", step.agent, CAPITAL, step.value * step.quantity)
            case Trade():
                if step.buyer == step.seller:
                    yield f"{step.buyer} trades with itself"
                yield from self.moved(step.buyer, step.seller, CAPITAL, step.price * step.quantity)
                yield from self.moved(step.seller, step.buyer, step.good, step.quantity)

    def moved(self, giver: str, taker: str, asset: str, amount: int) -> Iterator[str]:
        """Move an asset, and yield it if the giver has less; accounts of artifacts are not followed."""
        self.held[giver][asset] -= amount
        self.held[taker][asset] += amount
        if self.held[giver][asset] < 0 and not giver.startswith("@"):
            yield f"{giver} gives {amount} {asset}, and has {self.held[giver][asset] + amount}"

    def met(self, trade: Traded) -> Iterator[str]:
        """Take a trade of two orders into account: at the price of the resting one, the best first, then the oldest."""
        resting, incoming = self.open[trade.resting], self.incoming
        assert incoming is not None, "an order is told before its trades"
        sign = 1 if trade.taker == "buy" else -1  # the lower an ask, or the higher a bid, the better
        if trade.price != resting.price or sign * (incoming.price - trade.price) < 0:
            yield f"orders at {resting.price} and {incoming.price} trade at {trade.price}"
        if trade.quantity > self.left[resting.order]:
            yield f"order {resting.order} trades {trade.quantity} of {self.left[resting.order]}"
        for order in self.open.values():
            rival = self.left[order.order] > 0 and (order.good, order.side) == (resting.good, resting.side)
            if rival and (sign * order.price, order.order) < (sign * resting.price, resting.order):
                yield f"order {resting.order} trades before order {order.order}"
        self.left[resting.order] -= trade.quantity


def invariants(steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | RandomDraw]:
    """Yield each trade that no two open orders allow or that a better one precedes, and each account in the red.

    What agents are told that they hold must agree with it too. The first of every round is drawn by lot.
    """
    accountant = Accountant()
    for step in steps:
        found = step.event if isinstance(step, LoggedEvent) else step
        yield from accountant.look(found)
        if isinstance(found, OrderDrawn):
            yield RandomDraw("the first of a round", tuple(players), found.order[0])
