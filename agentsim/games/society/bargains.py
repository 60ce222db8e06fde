"""Bargains: the offers that are open, and the promises that came of those accepted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Resource


@dataclass(frozen=True, slots=True)
class Offer:
    """`amount` of `gives` for `price` of `wants`, by agent `by` to agent `to` or, where that is 0, to any one.

    It closes on the evening of day `closes`. Of what `later` says, `mine` or `theirs`, delivery is promised for the
    evening that many `days` after the acceptance; the rest is handed over then.
    """

    id: int
    by: int
    to: int
    gives: Resource
    amount: Amount
    wants: Resource
    price: Amount
    later: Literal["none", "mine", "theirs"]
    days: int
    closes: int


@dataclass
class Promise:
    """What agent `by` is to give agent `to` by the evening of day `due`, of which it has `given` so much.

    It has the number of the offer that it came of; all know of it where the offer was `public`.
    """

    id: int
    by: int
    to: int
    resource: Resource
    amount: Amount
    due: int
    public: bool
    given: Amount = 0


B = TypeVar("B", Offer, Promise)


@dataclass
class Between(Generic[B]):
    """Offers or promises by number, and by each of their two agents."""

    all: dict[int, B] = field(default_factory=dict)
    by_agent: defaultdict[int, dict[int, B]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, each: B) -> None:
        """Open one."""
        for kept in self._kept(each):
            kept[each.id] = each

    def end(self, each: B) -> None:
        """It is open no more."""
        for kept in self._kept(each):
            del kept[each.id]

    def _kept(self, each: B) -> tuple[dict[int, B], ...]:
        return self.all, self.by_agent[each.by], self.by_agent[each.to]


@dataclass
class Bargains:
    """Open offers, whose numbers count from 1 to `offered`, and open promises, which have their offers' numbers."""

    offered: int = 0
    offers: Between[Offer] = field(default_factory=Between)
    promises: Between[Promise] = field(default_factory=Between)

    def delivered(self, by: int, to: int, resource: Resource, amount: int) -> list[Promise]:
        """Count a gift towards what was promised, the earliest due first; the promises that are kept by it."""
        given = self.promises.by_agent.get(by, {}).values()
        mine = [each for each in given if (each.by, each.to, each.resource) == (by, to, resource)]
        kept: list[Promise] = []
        for promise in sorted(mine, key=lambda each: (each.due, each.id)):
            part = min(amount, promise.amount - promise.given)
            promise.given, amount = promise.given + part, amount - part
            if promise.given == promise.amount:
                self.promises.end(promise)
                kept.append(promise)
        return kept
