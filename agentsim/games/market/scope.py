"""Scope: how far one agent's own action can go now, as plain data: what a person is told before a turn is lost.

It speaks only of what the agent may know of itself. What an action comes to is the artifacts' verdict, also where
nothing is said against it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine.wording import sentence
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.order_book import OpenOrder, Side, shortage
from agentsim.games.market.restrictions import Restriction
from agentsim.games.market.view import Now


@dataclass(frozen=True)
class Scope:
    """`most` is the greatest amount by action, where that follows from what the agent has.

    Where all decide on one state, an open order may yet leave the agent more than it has now: that is not `settled`.
    """

    restrictions: tuple[Restriction, ...] = ()
    orders: tuple[OpenOrder, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    settled: bool = True

    @property
    def barred(self) -> frozenset[str]:
        """Actions that the restrictions never allow."""
        return frozenset(name for each in self.restrictions for name in each.bars)

    def warning(self, agent: str, now: Now, action: str, given: Mapping[str, Any]) -> str:
        """Why this action, with parameters as its artifact reads them, will come to nothing; "" where it may not."""
        if given.get("to") == agent:
            return "That is yourself."
        most = self.most.get(action)
        if most is not None and self.settled and given.get("amount", 0) > most:
            return f"The most that you can {action} is {most}."
        replaced = None
        if action in {"replace", "cancel"}:
            replaced = next((order for order in self.orders if order.number == given["order"]), None)
            if replaced is None:
                return f"You have no open order {given['order']}."
        if replaced is not None and action == "replace":
            action, given = replaced.side, {**given, "good": replaced.good}
        return self._of_order(now, action, given, replaced)

    def _of_order(self, now: Now, action: str, given: Mapping[str, Any], replaced: OpenOrder | None) -> str:
        """What restrictions and holdings say; the order that makes room for this one frees what it has reserved."""
        going = [each for each in self.orders if each.alone and each.good == given.get("good")]
        going = [replaced] if replaced else going
        freed = {CAPITAL: sum(each.price * each.quantity for each in going if each.side == "buy")}
        details = {**given, "freed": freed[CAPITAL]}
        for restriction in self.restrictions:
            if not restriction.allows(_Self(now, settled=self.settled), action, details):
                return restriction.words
        if action not in {"buy", "sell", "borrow"} or not self.settled or not {"good", "quantity"} <= given.keys():
            return ""
        good, quantity = given["good"], given["quantity"]
        freed[good] = sum(each.quantity for each in going if each.side == "sell")
        asset, needed = (CAPITAL, given.get("price", 0) * quantity) if action == "buy" else (good, quantity)
        return sentence(shortage(asset, needed, now.free(asset) + freed[asset]))


@dataclass(frozen=True)
class _Self:
    """What restrictions look at, as the agent knows it itself."""

    now: Now
    settled: bool

    def worth(self, good: str, side: Side) -> int | None:
        unit = self.now.unit
        return None if unit is not None and side != unit.side else self.now.worth(good)

    def free_capital(self) -> int:
        return self.now.free(CAPITAL) if self.settled else 10**15
