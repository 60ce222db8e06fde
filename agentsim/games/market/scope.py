"""Scope: how far one agent's own action can go now, as plain data: for the rules, and for a person who may think again.

It speaks only of what the agent may know of itself. What an action comes to is the artifacts' verdict, also where
nothing is said against it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine.wording import sentence
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.order_book import Order, Side, shortage, stake
from agentsim.games.market.restrictions import Restricted, Restriction, barred_by
from agentsim.games.market.view import Now


@dataclass(frozen=True)
class Scope:
    """`most` is the greatest amount by action, where that follows from what the agent has.

    Where all decide on one state, an open order may yet leave the agent more than it has now: that is not `settled`.
    """

    restrictions: tuple[Restriction, ...] = ()
    orders: tuple[Order, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    settled: bool = True

    @property
    def barred(self) -> frozenset[str]:
        """Actions that the restrictions never allow."""
        return barred_by(tuple([each.rule for each in self.restrictions]))

    def meant(self, action: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], Sequence[Order]]:
        """What an action comes to where it replaces an order, and the orders that make room for it."""
        if action == "replace" and (replaced := self._named(given)):
            return replaced.side, {**given, "good": replaced.good}, (replaced,)
        return action, given, [each for each in self.orders if each.alone and each.good == given.get("good")]

    def why_not(self, who: Restricted, action: str, given: Mapping[str, Any]) -> str:
        """The restriction that forbids an action with parameters as its artifact reads them; "" where none does."""
        action, given, going = self.meant(action, given)
        details = {**given, "freed": sum(each.price * each.quantity for each in going if each.side == "buy")}
        return next((each.words for each in self.restrictions if not each.allows(who, action, details)), "")

    def warning(self, agent: str, now: Now, action: str, given: Mapping[str, Any]) -> str:
        """Why this action will come to nothing, as far as its agent can know; "" where it may not."""
        if given.get("to") == agent:
            return "That is yourself."
        most = self.most.get(action)
        if most is not None and self.settled and given.get("amount", 0) > most:
            return f"The most that you can {action} is {most}."
        if action in {"replace", "cancel"} and not self._named(given):
            return f"You have no open order {given['order']}."
        return self.why_not(_Self(now, settled=self.settled), action, given) or self._short(now, action, given)

    def _named(self, given: Mapping[str, Any]) -> Order | None:
        return next((order for order in self.orders if order.number == given.get("order")), None)

    def _short(self, now: Now, action: str, given: Mapping[str, Any]) -> str:
        """What holdings say; the order that makes room for this one frees what it has reserved."""
        action, given, going = self.meant(action, given)
        if action not in {"buy", "sell", "borrow"} or not self.settled or not {"good", "quantity"} <= given.keys():
            return ""
        asset, needed = stake(action, given["good"], given.get("price", 0), given["quantity"])
        freed = sum(amount for promised, amount in map(Order.stake, going) if promised == asset)
        return sentence(shortage(asset, needed, now.free(asset) + freed))


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
