"""Pages: one for each agent: who it is, what it holds from evening to evening (`fortunes`), what it did and met."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentsim.engine.event import Event
from agentsim.engine.panel import Cell, Chart, DiaryLine, Panel, PlayerProfile, PlayerProfiles, Series
from agentsim.engine.template import If, Template, filled
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import UNIT, number, shown
from agentsim.games.society.building import Contributed
from agentsim.games.society.ending import DayEnded, Result, SocietyEnded
from agentsim.games.society.fortunes import Stock, fortunes
from agentsim.games.society.founding import Being, SocietyBegan
from agentsim.games.society.giving import Traded
from agentsim.games.society.laws import AllocationPaid, DividendPaid, WorkMinimumBroken
from agentsim.games.society.life import AgentDied, AgentWoke, FellDormant, Idled
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.terms import RESOURCES, Resource
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import Proposed, Reasoned, Voted
from agentsim.games.society.work import Worked

MOST_PAGES = 200
"""The most agents with a page of their own; the table of agents (`agentsim export`) has them all."""
_LONG = 400
"""Characters of words in a line; the timeline has them in full."""


@dataclass(frozen=True)
class People:
    """Every agent by its number, and the last name that it chose."""

    beings: dict[int, Being]
    names: dict[int, str]

    def called(self, number: int) -> str:
        """Number and name; 0 is the common pool."""
        name = self.names.get(number, "")
        return (f"#{number} {name}" if name else f"#{number}") if number else "the common pool"


def people(events: Sequence[Event]) -> People | None:
    """Who is there; None before the beginning."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    names = {event.agent: event.name for event in events if isinstance(event, Renamed)}
    return None if began is None else People({being.agent: being for being in began.agents}, names)


def pages(events: Sequence[Event], people: People) -> list[Panel]:
    """A page for each of the first agents; nothing before the first action."""
    lines = _diaries(events, people)
    if not lines:
        return []
    days = fortunes(events)
    ended = next((event for event in events if isinstance(event, SocietyEnded)), None)
    results = {result.agent: result for result in ended.results} if ended else {}
    shown = list(people.beings.values())[:MOST_PAGES]
    profiles = tuple(
        PlayerProfile(
            being.player,
            tuple(_facts(being, people, results.get(being.agent))),
            _chart(being.agent, days),
            tuple(lines.get(being.agent, ())),
        )
        for being in shown
    )
    note = f"The first {MOST_PAGES} of {len(people.beings):,} agents." if len(people.beings) > len(shown) else ""
    return [PlayerProfiles("Agents", profiles, note)]


def _facts(being: Being, people: People, result: Result | None) -> Iterator[tuple[str, Cell]]:
    yield "agent", people.called(being.agent)
    yield "values", being.personality
    if result is not None:
        yield "in the end", result.status
        yield "wealth", number(result.wealth)
        yield "rank", result.rank


def _chart(agent: int, days: Sequence[dict[int, Stock]]) -> Chart | None:
    if not days:
        return None
    series = tuple(Series(name, tuple(stocks[agent][name] / UNIT for stocks in days)) for name in RESOURCES)
    labels = tuple(str(day) for day in range(1, len(days) + 1))
    return Chart("Held on the evening", "line", labels, series, "day", "units")


# -- the diary

_OWN: dict[type[Event], tuple[Template, Template]] = {
    Worked: ("works {hours} h ({work})", "{content}"),
    Contributed: ("gives {amount} materials to project {project}", "{content}"),
    FellDormant: ("falls dormant", "{content}"),
    AgentWoke: ("wakes", ""),
    AgentDied: ("dies", "{content}"),
    Posted: (("posts {post}", If("parent", " in reply to {parent}")), "{text}"),
    Proposed: ("proposes {type} {proposal}", "{title}"),
    Voted: ("votes {vote}", "on proposal {proposal}"),
    Reasoned: ("thinks", "{text}"),
    Renamed: ("is called", "{name}"),
    Idled: ("does nothing", "{text}"),
    InvalidAction: ("is rejected", "{reason}"),
}
"""What is done and its words, of events that only their agent's page tells of."""


def _diaries(events: Sequence[Event], people: People) -> dict[int, list[DiaryLine]]:
    """What each agent did and met, in the order of the events; of standing laws, what they came to in a day."""
    book = _Book(people)
    event: Any
    for event in events:
        if (own := _OWN.get(type(event))) is not None:
            book.line(event, event.agent, *(filled(template, event) for template in own))
        elif (write := _WRITERS.get(type(event))) is not None:
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
        for agent, amount in event.paid.items():
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


_WRITERS: dict[type[Event], Callable[..., None]] = {
    MessageSent: _Book.wrote,
    Traded: _Book.traded,
    AllocationPaid: _Book.allocated,
    DividendPaid: _Book.dividend,
    WorkMinimumBroken: _Book.broke,
    DayEnded: _Book.end_day,
}
