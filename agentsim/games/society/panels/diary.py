"""Diary: what each agent did and met, in lines, as its page tells it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from agentsim.engine.event import Event
from agentsim.engine.panel import DiaryLine
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import shown
from agentsim.games.society.building import Contributed
from agentsim.games.society.ending import DayEnded
from agentsim.games.society.giving import Traded
from agentsim.games.society.laws import AllocationPaid, DividendPaid, WorkMinimumBroken
from agentsim.games.society.life import AgentDied, AgentWoke, FellDormant, Idled
from agentsim.games.society.panels.people import People
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.terms import Resource
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import Proposed, Reasoned, Voted
from agentsim.games.society.work import Worked

_LONG = 400
"""Characters of words in a line; the timeline has them in full."""


def diaries(events: Sequence[Event], people: People) -> dict[int, list[DiaryLine]]:
    """Lines by agent, in the order of the events; of standing laws, what they came to in a day."""
    book = _Book(people)
    for event in events:
        if (write := _WRITERS.get(type(event))) is not None:
            write(book, event)
    return dict(book.lines)


class _Book:
    def __init__(self, people: People) -> None:
        self.people = people
        self.lines: dict[int, list[DiaryLine]] = defaultdict(list)
        self._paid: dict[int, dict[Resource, int]] = defaultdict(lambda: defaultdict(int))
        self._broke: dict[int, list[int]] = defaultdict(list)

    def line(self, event: Any, agent: int, what: str, text: str = "") -> None:
        self.lines[agent].append(DiaryLine(f"day {event.day}", what, cut(text, _LONG)))

    def wrote(self, event: MessageSent) -> None:
        self.line(event, event.agent, f"writes to {self.people.called(event.recipient)}", event.text)
        self.line(event, event.recipient, f"hears from {self.people.called(event.agent)}", event.text)

    def traded(self, event: Traded) -> None:
        what = f"{shown(event.amount)} {event.resource}"
        self.line(event, event.agent, "gives", f"{what} to {self.people.called(event.recipient)}")
        if event.recipient:
            self.line(event, event.recipient, "is given", f"{what} by {self.people.called(event.agent)}")

    def allocated(self, event: AllocationPaid) -> None:
        for agent, amount in event.paid.items():
            self.line(event, agent, "is paid", f"{shown(amount)} {event.resource} by proposal {event.proposal}")

    def dividend(self, event: DividendPaid) -> None:
        for agent, amount in event.paid:
            self._paid[agent][event.resource] += amount

    def broke(self, event: WorkMinimumBroken) -> None:
        for agent in event.agents:
            self._broke[agent].append(event.law)

    def end_day(self, event: DayEnded) -> None:
        for agent, paid in self._paid.items():
            amounts = ", ".join(f"{shown(amount)} {resource}" for resource, amount in paid.items())
            self.line(event, agent, "is paid by law", amounts)
        for agent, broken in self._broke.items():
            self.line(event, agent, "works less than law demands", f"law {', '.join(map(str, broken))}")
        self._paid.clear()
        self._broke.clear()


def _posted(event: Posted) -> str:
    return f"posts {event.post}" if event.parent is None else f"posts {event.post} in reply to {event.parent}"


def _plain(what: Callable[[Any], str], text: Callable[[Any], str] = lambda event: event.content) -> Callable[..., None]:
    """Of an event that only its agent's page tells of."""
    return lambda book, event: book.line(event, event.agent, what(event), text(event))


_WRITERS: dict[type[Event], Callable[..., None]] = {
    Worked: _plain(lambda event: f"works {event.hours} h ({event.work})"),
    Contributed: _plain(lambda event: f"gives {shown(event.amount)} materials to project {event.project}"),
    FellDormant: _plain(lambda event: "falls dormant"),
    AgentWoke: _plain(lambda event: "wakes"),
    AgentDied: _plain(lambda event: "dies"),
    Posted: _plain(_posted),
    Proposed: _plain(lambda event: f"proposes {event.type} {event.proposal}", lambda event: event.title),
    Voted: _plain(lambda event: f"votes {event.vote}", lambda event: f"on proposal {event.proposal}"),
    Reasoned: _plain(lambda event: "thinks"),
    Renamed: _plain(lambda event: "is called"),
    Idled: _plain(lambda event: "does nothing"),
    InvalidAction: _plain(lambda event: "is rejected", lambda event: event.reason),
    MessageSent: _Book.wrote,
    Traded: _Book.traded,
    AllocationPaid: _Book.allocated,
    DividendPaid: _Book.dividend,
    WorkMinimumBroken: _Book.broke,
    DayEnded: _Book.end_day,
}
