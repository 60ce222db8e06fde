"""Pages: one for each agent: who it is, what it holds from evening to evening, what it did and met."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentsim.engine import Event
from agentsim.engine.panel import Cell, Chart, DiaryLine, Panel, PlayerProfile, PlayerProfiles, Series
from agentsim.engine.wording import If, Template, cut, filled
from agentsim.games.society import building, evening, exchange, groups, laws, offices, shocks, talk, turn, voting, work
from agentsim.games.society.amounts import UNIT, number, shown
from agentsim.games.society.founding import Being, SocietyBegan
from agentsim.games.society.terms import RESOURCES, Resource
from agentsim.games.society.transfers import changes

MOST_PAGES = 200
"""The most agents with a page of their own; the table of agents (`agentsim export`) has them all."""
_LONG = 400
"""Characters of words in a line; the timeline has them in full."""

Stock = dict[str, int]
"""What an agent holds, in hundredths."""


@dataclass(frozen=True)
class People:
    """Every agent by its number, and the last name that it chose."""

    beings: dict[int, Being]
    names: dict[int, str]

    def called(self, number: int) -> str:
        """Number and name; 0 is the common pool."""
        return f"#{number} {self.names.get(number, '')}".rstrip() if number else "the common pool"


def people(events: Sequence[Event]) -> People | None:
    """Who is there; None before the beginning."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    names = {event.agent: event.name for event in events if isinstance(event, talk.Renamed)}
    return None if began is None else People({being.agent: being for being in began.agents}, names)


def pages(events: Sequence[Event], people: People) -> list[Panel]:
    """A page for each of the first agents; nothing before the first action."""
    lines = _diaries(events, people)
    if not lines:
        return []
    days = fortunes(events)
    ended = next((event for event in events if isinstance(event, evening.SocietyEnded)), None)
    results = {result.agent: result for result in ended.results} if ended else {}
    shown = list(people.beings.values())[:MOST_PAGES]
    x = tuple(str(day) for day in range(1, len(days) + 1))
    profiles: list[PlayerProfile] = []
    for being in shown:
        stocks = [stocks[being.agent] for stocks in days]
        held = tuple(Series(name, tuple(stock[name] / UNIT for stock in stocks)) for name in RESOURCES)
        chart = Chart("Held on the evening", "line", x, held, "day", "units") if days else None
        facts: list[tuple[str, Cell]] = [("agent", people.called(being.agent)), ("values", being.personality)]
        if (end := results.get(being.agent)) is not None:
            facts += [("in the end", end.status), ("wealth", number(end.wealth)), ("rank", end.rank)]
        profiles.append(PlayerProfile(being.player, tuple(facts), chart, tuple(lines.get(being.agent, ()))))
    note = f"The first {MOST_PAGES} of {len(people.beings):,} agents." if len(people.beings) > len(shown) else ""
    return [PlayerProfiles("Agents", tuple(profiles), note)]


# -- the diary

_PLAIN = (
    *(work.Worked, building.Contributed, evening.Idled, evening.FellDormant, evening.AgentWoke, evening.AgentDied),
    *(shocks.LostToShock, groups.GroupFounded, groups.GroupJoined, groups.GroupLeft),
)
_OWN: dict[type[Event], tuple[Template, Template]] = {
    **dict.fromkeys(_PLAIN, ("{heading}", "{content}")),
    exchange.Offered: ("offers", "{content}"),
    talk.Posted: (("posts {post}", If("parent", " in reply to {parent}")), "{text}"),
    voting.Proposed: ("proposes {type} {proposal}", "{title}"),
    voting.Voted: ("votes {vote}", "on proposal {proposal}"),
    voting.Reasoned: ("thinks", "{text}"),
    talk.Renamed: ("is called", "{name}"),
    turn.InvalidAction: ("is rejected", "{reason}"),
    offices.BallotCast: ("votes for an office", "#{candidate} as {title}"),
    offices.Vetoed: ("vetoes proposal {proposal}", "{reasons}"),
}
"""What is done and its words, of events that only their agent's page tells of; it does not name the agent."""


def _diaries(events: Sequence[Event], people: People) -> Mapping[int, list[DiaryLine]]:
    """What each agent did and met, in the order of the events; of standing laws, what they came to in a day."""
    lines: dict[int, list[DiaryLine]] = defaultdict(list)
    today: list[Event] = []
    event: Any
    for event in events:
        if (own := _OWN.get(type(event))) is not None:
            what, text = (filled(template, event) for template in own)
            met: Iterable[tuple[int, str, str]] = [(event.agent, what.removeprefix(f"Agent #{event.agent} "), text)]
        elif isinstance(event, evening.DayEnded):
            met, today = _by_law(today), []
        else:
            met = _dealings(event, people)
            today.append(event)
        for agent, what, text in met:
            lines[agent].append(DiaryLine(f"day {event.day}", what, cut(text, _LONG)))
    return lines


def _dealings(event: Event, people: People) -> Iterator[tuple[int, str, str]]:
    """Agent, what it did or met, and the words of it, of what concerns several agents."""
    match event:
        case talk.MessageSent():
            yield event.agent, f"writes to {people.called(event.recipient)}", event.text
            yield event.recipient, f"hears from {people.called(event.agent)}", event.text
        case work.Traded():
            what = f"{shown(event.amount)} {event.resource}"
            yield event.agent, "gives", f"{what} to {people.called(event.recipient)}"
            if event.recipient:
                yield event.recipient, "is given", f"{what} by {people.called(event.agent)}"
        case exchange.Accepted():
            yield event.agent, f"accepts an offer of {people.called(event.recipient)}", event.content
            yield event.recipient, f"has an offer accepted by {people.called(event.agent)}", event.content
        case exchange.PromiseEnded():
            yield event.agent, f"{event.result}: a promise to {people.called(event.recipient)}", event.content
            yield event.recipient, f"{event.result}: a promise of {people.called(event.agent)}", event.content
        case laws.AllocationPaid():
            for agent, amount in event.paid.items():
                yield agent, "is paid", f"{shown(amount)} {event.resource} by proposal {event.proposal}"
        case _:
            yield from _in_institutions(event, people)


def _in_institutions(event: Event, people: People) -> Iterator[tuple[int, str, str]]:
    """The same of groups, offices and fines."""
    match event:
        case groups.GroupMessage():
            yield event.agent, f"writes to group {event.group}", event.text
            for member in event.members:
                yield member, f"hears from {people.called(event.agent)} in group {event.group}", event.text
        case offices.OfficePaid():
            what = f"{shown(event.amount)} {event.resource}"
            yield event.agent, "pays from the pool", f"{what} to {people.called(event.recipient)}"
            yield event.recipient, "is paid", f"{what} from the pool by {people.called(event.agent)}"
        case offices.ElectionHeld() if event.agent:
            yield event.agent, "is elected", event.title
        case laws.FinePaid():
            for agent, amount in event.paid.items():
                yield agent, "is fined", f"{shown(amount)} {event.resource} by law {event.law}"


def _by_law(today: Sequence[Event]) -> Iterator[tuple[int, str, str]]:
    """What the laws of the day came to for each agent."""
    paid: dict[int, Counter[Resource]] = defaultdict(Counter)
    broke: dict[int, list[str]] = defaultdict(list)
    for event in today:
        if isinstance(event, laws.DividendPaid):
            for agent, amount in event.paid.items():
                paid[agent][event.resource] += amount
        elif isinstance(event, laws.WorkMinimumBroken):
            for agent in event.agents:
                broke[agent].append(str(event.law))
    for agent, amounts in paid.items():
        yield agent, "is paid by law", ", ".join(f"{shown(much)} {what}" for what, much in amounts.items())
    for agent, numbers in broke.items():
        yield agent, "works less than law demands", f"law {', '.join(numbers)}"


# -- fortunes


def fortunes(events: Sequence[Event]) -> list[dict[int, Stock]]:
    """By evening, what each agent holds, reckoned from the events of the economy alone.

    Given the events that one agent heard, the books do not balance, since the others work unseen; then there are none.
    """
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    if began is None:
        return []
    start: Stock = {"food": began.food, "energy": began.energy, "materials": began.materials}
    stocks: dict[int, Stock] = {being.agent: dict(start) for being in began.agents}
    meals: dict[int, evening.Meal] = {}  # this evening's
    asleep: set[int] = set()
    dead: set[int] = set()
    days: list[dict[int, Stock]] = []
    for event in events:
        for agent, resource, amount in _moves(event, meals):
            stocks[agent][resource] += amount
        if isinstance(event, evening.Consumed):
            fed = stocks.keys() - dead - event.unfed.keys()
            meals = {agent: event.asleep if agent in asleep else event.each for agent in fed}
        elif isinstance(event, evening.FellDormant):
            asleep.add(event.agent)
            del meals[event.agent]
        elif isinstance(event, evening.AgentWoke):
            asleep.discard(event.agent)
        elif isinstance(event, evening.AgentDied):
            dead.add(event.agent)
        elif isinstance(event, evening.DayEnded):
            if any(sum(stock[name] for stock in stocks.values()) != event.totals[name].held for name in RESOURCES):
                return []
            days.append({agent: dict(stock) for agent, stock in stocks.items()})
    return days


def _moves(event: Event, meals: Mapping[int, evening.Meal]) -> Iterator[tuple[int, str, int]]:
    """Whose stock of what changes by how much; meals when the day is over, since some who eat fall dormant first."""
    yield from changes(event)
    match event:
        case work.Worked():
            yield event.agent, event.resource, event.made
            yield event.agent, "energy", -event.energy
        case evening.DayEnded():
            for agent, meal in meals.items():
                yield agent, "food", -meal.food
                yield agent, "energy", -meal.energy
