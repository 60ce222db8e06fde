"""Fortunes: what every agent holds on every evening, reckoned from the events of the economy alone.

Given the events that one agent heard, the books do not balance, since the others work unseen; then there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

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

    def enter(self, event: Event) -> None:
        """Book one event, where it moves anything."""
        match event:
            case Worked():
                self._move(event.agent, event.resource, event.made - event.taxed)
                self._move(event.agent, "energy", -event.energy)
            case Traded():
                self._move(event.agent, event.resource, -event.amount)
                self._move(event.recipient, event.resource, event.amount)
            case Contributed():
                self._move(event.agent, "materials", -event.amount)
            case AllocationPaid() | DividendPaid():
                for agent, amount in event.paid.items():
                    self._move(agent, event.resource, amount)
            case AgentWoke():
                self.asleep.discard(event.agent)
            case Consumed():
                self.meal = event
            case FellDormant():
                self.fallen.add(event.agent)
            case AgentDied():
                self.died.add(event.agent)
            case _:
                pass

    def _move(self, agent: int, resource: Resource, amount: int) -> None:
        if agent:  # 0 is the common pool
            self.stocks[agent][resource] += amount

    def end_day(self) -> None:
        """Book the meals of those who had enough."""
        if self.meal is not None:
            for agent in self.stocks.keys() - self.dead - self.fallen - self.meal.unfed.keys():
                meal = self.meal.asleep if agent in self.asleep else self.meal.each
                self._move(agent, "food", -meal.food)
                self._move(agent, "energy", -meal.energy)
        self.asleep = (self.asleep | self.fallen) - self.died
        self.dead |= self.died
        self.meal, self.fallen, self.died = None, set(), set()


def fortunes(events: Sequence[Event]) -> list[dict[int, Stock]]:
    """By evening, what each agent holds; empty where some of what happened is not among the events."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    if began is None:
        return []
    books = _Books(began)
    days: list[dict[int, Stock]] = []
    for event in events:
        books.enter(event)
        if isinstance(event, DayEnded):
            books.end_day()
            held = {name: sum(stock[name] for stock in books.stocks.values()) for name in RESOURCES}
            if any(held[name] != event.totals[name].held for name in RESOURCES):
                return []
            days.append({agent: dict(stock) for agent, stock in books.stocks.items()})
    return days
