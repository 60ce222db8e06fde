"""Fortunes: what every agent holds on every evening, reckoned from the events of the economy alone.

Given the events that one agent heard, the books do not balance, since the others work unseen; then there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentsim.engine.event import Event
from agentsim.games.society.building import Contributed
from agentsim.games.society.ending import DayEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.giving import Traded
from agentsim.games.society.laws import AllocationPaid, DividendPaid
from agentsim.games.society.life import AgentDied, AgentWoke, Consumed, FellDormant
from agentsim.games.society.terms import RESOURCES, Resource
from agentsim.games.society.work import Worked

Stock = dict[Resource, int]
"""What an agent holds, in hundredths."""


class _Books:
    """What each agent holds now. Meals are booked when the evening is over: only then is it known who had enough."""

    def __init__(self, began: SocietyBegan) -> None:
        start: Stock = {"food": began.food, "energy": began.energy, "materials": began.materials}
        self.stocks: dict[int, Stock] = {being.agent: dict(start) for being in began.agents}
        self.asleep: set[int] = set()
        self.dead: set[int] = set()
        self.meal: Consumed | None = None
        self.fallen: set[int] = set()
        self.died: set[int] = set()

    def worked(self, event: Worked) -> None:
        self.stocks[event.agent][event.resource] += event.made - event.taxed
        self.stocks[event.agent]["energy"] -= event.energy

    def traded(self, event: Traded) -> None:
        self.stocks[event.agent][event.resource] -= event.amount
        if event.recipient:
            self.stocks[event.recipient][event.resource] += event.amount

    def contributed(self, event: Contributed) -> None:
        self.stocks[event.agent]["materials"] -= event.amount

    def allocated(self, event: AllocationPaid) -> None:
        for agent, amount in event.paid.items():
            self.stocks[agent][event.resource] += amount

    def dividend(self, event: DividendPaid) -> None:
        for agent, amount in event.paid:
            self.stocks[agent][event.resource] += amount

    def woke(self, event: AgentWoke) -> None:
        self.asleep.discard(event.agent)

    def consumed(self, event: Consumed) -> None:
        self.meal = event

    def fell(self, event: FellDormant) -> None:
        self.fallen.add(event.agent)

    def perished(self, event: AgentDied) -> None:
        self.died.add(event.agent)

    def end_day(self) -> None:
        if self.meal is not None:
            for agent, stock in self.stocks.items():
                if agent in self.dead or agent in self.fallen or agent in self.meal.unfed:
                    continue
                meal = self.meal.asleep if agent in self.asleep else self.meal.each
                stock["food"] -= meal.food
                stock["energy"] -= meal.energy
        self.asleep = (self.asleep | self.fallen) - self.died
        self.dead |= self.died
        self.meal, self.fallen, self.died = None, set(), set()


_ENTRIES: dict[type[Event], Callable[..., None]] = {
    Worked: _Books.worked,
    Traded: _Books.traded,
    Contributed: _Books.contributed,
    AllocationPaid: _Books.allocated,
    DividendPaid: _Books.dividend,
    AgentWoke: _Books.woke,
    Consumed: _Books.consumed,
    FellDormant: _Books.fell,
    AgentDied: _Books.perished,
}


def fortunes(events: Sequence[Event]) -> list[dict[int, Stock]]:
    """By evening, what each agent holds; empty where some of what happened is not among the events."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    if began is None:
        return []
    books = _Books(began)
    days: list[dict[int, Stock]] = []
    for event in events:
        if (enter := _ENTRIES.get(type(event))) is not None:
            enter(books, event)
        if not isinstance(event, DayEnded):
            continue
        books.end_day()
        held = {name: sum(stock[name] for stock in books.stocks.values()) for name in RESOURCES}
        if any(held[name] != event.totals[name].held for name in RESOURCES):
            return []
        days.append({agent: dict(stock) for agent, stock in books.stocks.items()})
    return days
