"""Restrictions: rules that an action must pass, in words that agents read and are refused with. A closed vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Protocol, Self, TypeAlias

from pydantic import Field, model_validator

from agentsim.engine.game import GameConfig
from agentsim.games.market.artifacts.dialogue import EVERYONE
from agentsim.games.market.order_book import Side

RuleName: TypeAlias = Literal[
    "buy_within_value",
    "sell_within_value",
    "only_buy",
    "only_sell",
    "one_unit",
    "most_quantity",
    "most_price",
    "least_price",
    "keep_capital",
    "no_messages_to_all",
    "no_borrowing",
]


class Restricted(Protocol):
    """What a restriction looks at: one agent, before it acts."""

    def worth(self, good: str, side: Side) -> int | None:
        """The agent's private value of the next unit it buys or sells; None where it has none."""
        ...

    def free_capital(self) -> int:
        """Capital that nothing is promised of."""
        ...


@dataclass(frozen=True, slots=True)
class _Rule:
    """`words` hold `{limit}` where the rule takes one; `allows` is asked for the actions it is about, None is never."""

    words: str
    actions: tuple[str, ...]
    allows: Callable[[Restricted, str, Mapping[str, Any], int], bool] | None

    @property
    def limited(self) -> bool:
        return "{limit}" in self.words


def _within(agent: Restricted, action: str, given: Mapping[str, Any], limit: int) -> bool:
    side: Side = "buy" if action == "buy" else "sell"
    worth = agent.worth(given["good"], side)
    if worth is None:
        return True
    return bool(given["price"] <= worth if side == "buy" else given["price"] >= worth)


_TRADES = ("buy", "sell")
_RULES: dict[str, _Rule] = {
    "buy_within_value": _Rule("A buy price may not exceed your value of the unit.", ("buy",), _within),
    "sell_within_value": _Rule("A sell price may not be below your value of the unit.", ("sell",), _within),
    "only_buy": _Rule("You may buy, and not sell.", ("sell",), None),
    "only_sell": _Rule("You may sell, and not buy.", ("buy",), None),
    "one_unit": _Rule(
        "An order is for one unit at a time.", _TRADES, lambda agent, action, given, limit: given["quantity"] == 1
    ),
    "most_quantity": _Rule(
        "An order is for at most {limit} units.",
        _TRADES,
        lambda agent, action, given, limit: given["quantity"] <= limit,
    ),
    "most_price": _Rule(
        "A price may not be above {limit}.", _TRADES, lambda agent, action, given, limit: given["price"] <= limit
    ),
    "least_price": _Rule(
        "A price may not be below {limit}.", _TRADES, lambda agent, action, given, limit: given["price"] >= limit
    ),
    "keep_capital": _Rule(
        "An order to buy must leave you at least {limit} capital free.",
        ("buy",),
        lambda agent, action, given, limit: (
            agent.free_capital() + given.get("freed", 0) - given["price"] * given["quantity"] >= limit
        ),
    ),
    "no_messages_to_all": _Rule(
        "A message goes to one agent, not to all.",
        ("send",),
        lambda agent, action, given, limit: given["to"] != EVERYONE,
    ),
    "no_borrowing": _Rule("You may not borrow.", ("borrow",), None),
}


class Restriction(GameConfig):
    """One restriction; in a scenario its name alone, where it takes no limit."""

    rule: RuleName
    limit: Annotated[int, Field(ge=0, le=10**12)] | None = None

    @model_validator(mode="after")
    def _limit_where_it_takes_one(self) -> Self:
        if _RULES[self.rule].limited != (self.limit is not None):
            raise ValueError(f"{self.rule} takes {'a' if self.limit is None else 'no'} limit")
        return self

    @property
    def words(self) -> str:
        """What agents read, and the reason why an action is refused."""
        return _RULES[self.rule].words.replace("{limit}", str(self.limit))

    def allows(self, agent: Restricted, action: str, given: Mapping[str, Any]) -> bool:
        """Whether the agent may do this; parameters are as the artifact reads them."""
        rule = _RULES[self.rule]
        if action not in rule.actions:
            return True
        if rule.allows is None:
            return False
        try:
            return rule.allows(agent, action, given, self.limit or 0)
        except KeyError:  # an action of a third party's artifact has the name, and nothing that the rule speaks of
            return True


@cache
def barred_by(rules: tuple[RuleName, ...]) -> frozenset[str]:
    """Actions that these rules never allow."""
    return frozenset(name for rule in rules if _RULES[rule].allows is None for name in _RULES[rule].actions)
