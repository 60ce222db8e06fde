"""Restrictions: rules that an action must pass, in words that agents read; and the scope of an agent's actions.

The set of rules is closed. An artifact may still refuse an action that passes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from agentsim.engine import GameConfig
from agentsim.engine.menu import ActionRefused
from agentsim.engine.wording import filled
from agentsim.games.market.artifacts.dialogue import EVERYONE
from agentsim.games.market.order_book import Order
from agentsim.games.market.world import CAPITAL
from agentsim.lazy import dataclass

if TYPE_CHECKING:
    from agentsim.games.market.state import Agent


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule. `words` have `{limit}` if it takes one; `allows` checks the actions it is about, and None forbids them.

    `allows` sees the action's parameters, `worth` (the agent's private value of the next unit, or None) and `left` (the
    capital that stays free).
    """

    words: str
    actions: tuple[str, ...]
    allows: Callable[[Mapping[str, Any], int], bool] | None = None

    @property
    def has_limit(self) -> bool:
        return "{limit" in self.words


_TRADES = ("buy", "sell")
_RULES: dict[str, _Rule] = {
    "buy_within_value": _Rule(
        "A buy price may not exceed your value of the unit.",
        ("buy",),
        lambda it, limit: it["worth"] is None or it["price"] <= it["worth"],
    ),
    "sell_within_value": _Rule(
        "A sell price may not be below your value of the unit.",
        ("sell",),
        lambda it, limit: it["worth"] is None or it["price"] >= it["worth"],
    ),
    "only_buy": _Rule("You may buy, and not sell.", ("sell",)),
    "only_sell": _Rule("You may sell, and not buy.", ("buy",)),
    "one_unit": _Rule("An order is for one unit at a time.", _TRADES, lambda it, limit: it["quantity"] == 1),
    "most_quantity": _Rule("An order is for at most {limit:unit}.", _TRADES, lambda it, limit: it["quantity"] <= limit),
    "most_price": _Rule("A price may not be above {limit}.", _TRADES, lambda it, limit: it["price"] <= limit),
    "least_price": _Rule("A price may not be below {limit}.", _TRADES, lambda it, limit: it["price"] >= limit),
    "keep_capital": _Rule(
        "An order to buy must leave you at least {limit} capital free.", ("buy",), lambda it, limit: it["left"] >= limit
    ),
    "no_messages_to_all": _Rule(
        "A message goes to one agent, not to all.", ("send",), lambda it, limit: it["to"] != EVERYONE
    ),
    "no_borrowing": _Rule("You may not borrow.", ("borrow",)),
}
if TYPE_CHECKING:
    RuleName: TypeAlias = str
else:  # for the config's schema; a type checker cannot read a computed list
    RuleName = Literal[tuple(_RULES)]


class Restriction(GameConfig):
    """One restriction; in a scenario its name alone, where it takes no limit."""

    rule: RuleName
    limit: Annotated[int, Field(ge=0, le=10**12)] | None = None

    @model_validator(mode="after")
    def _limit_where_it_takes_one(self) -> Self:
        if _RULES[self.rule].has_limit != (self.limit is not None):
            raise ValueError(f"{self.rule} takes {'a' if self.limit is None else 'no'} limit")
        return self

    @property
    def words(self) -> str:
        """The words that agents read, and the reason why an action is refused."""
        return filled(_RULES[self.rule].words, self)

    def allows(self, action: str, it: Mapping[str, Any]) -> bool:
        """Return whether an action may be done; its parameters are parsed."""
        rule = _RULES[self.rule]
        try:
            return action not in rule.actions or (rule.allows is not None and rule.allows(it, self.limit or 0))
        except KeyError:  # an action of another distribution's artifact can have the name without these parameters
            return True


@cache
def _barred_by(rules: tuple[RuleName, ...]) -> frozenset[str]:
    return frozenset(name for rule in rules if _RULES[rule].allows is None for name in _RULES[rule].actions)


@dataclass(frozen=True)
class Scope:
    """The scope of an agent's next action: what its question offers, and what the rules refuse.

    `most` is the greatest amount by action, if that follows from what the agent has. `meaning` is the meaning
    of each action whose name does not say it.
    """

    restrictions: tuple[Restriction, ...] = ()
    orders: tuple[Order, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    meaning: Mapping[str, str] = field(default_factory=dict)

    @property
    def barred(self) -> frozenset[str]:
        """The actions that the restrictions never allow."""
        never = _barred_by(tuple([each.rule for each in self.restrictions]))
        return never.union(name for name, means in self.meaning.items() if means in never) if never else never

    def meant(self, action: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], Sequence[Order]]:
        """Return the meaning and parameters of an action, a replacement's too, and the orders that make room for it."""
        action = self.meaning.get(action, action)
        if action == "replace" and (replaced := self._named(given)):
            return replaced.side, {**given, "good": replaced.good}, (replaced,)
        return action, given, [each for each in self.orders if each.replaced_by_next and each.good == given.get("good")]

    def forbid(self, agent: Agent, action: str, given: Mapping[str, Any]) -> None:
        """Raise `ActionRefused` in the words of a restriction that forbids an action, whose parameters are parsed."""
        if not self.restrictions:
            return
        action, given, going = self.meant(action, given)
        it = {**given, "worth": agent.worth(given["good"], action) if "good" in given else None}
        if "keep_capital" in [each.rule for each in self.restrictions] and {"price", "quantity"} <= given.keys():
            freed = sum(each.price * each.quantity for each in going if each.side == "buy")
            it["left"] = agent.free[CAPITAL] + freed - given["price"] * given["quantity"]
        for each in self.restrictions:
            if not each.allows(action, it):
                raise ActionRefused(each.words)

    def _named(self, given: Mapping[str, Any]) -> Order | None:
        return next((order for order in self.orders if order.number == given.get("order")), None)
