"""Charts and tables: the society from evening to evening; its laws, its groups, who deals with whom, and the forum.

Given the events one agent heard, they show what that agent could know. Agents' own pages are `pages`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from agentsim.engine import Event, LogEntry
from agentsim.engine.codec import values
from agentsim.engine.panel import Cell, Chart, DataTable, Frame, Network, Node, Panel, Series, ThreadPost, Threads, Tie
from agentsim.games.society.amounts import UNIT, number
from agentsim.games.society.building import Contributed
from agentsim.games.society.config import PERSONALITIES
from agentsim.games.society.ending import DayEnded, SocietyEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.laws import LawEnacted, LawRepealed
from agentsim.games.society.life import FellDormant, Idled
from agentsim.games.society.pages import People, pages, people
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.terms import RESOURCES, in_words
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import Proposed, Voted
from agentsim.games.society.work import Traded, Worked

WINDOW = 5
"""Days before and after a law that are compared."""
_STATUS = ("active", "dormant", "dead")
_COUNTS = ("posts", "messages", "proposals", "votes", "invalid", "laws")
_STOCKS = (*((resource, where) for resource in RESOURCES for where in ("held", "pool")), ("land", "pool"))
DAYS = ("day", *_STATUS, *map("_".join, _STOCKS), "gini", *_COUNTS)
AGENTS = (
    *("agent", "player", "name", "personality", "condition", *RESOURCES, "wealth"),
    *("hours", "posts", "messages", "proposals", "votes", "breaches", "rank"),
)


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`days`: a row an evening. `agents`: a row an agent as the game ends, by number.

    An agent's status is its `condition`: a column `status` leads every table over many runs.
    """
    events = [told.event for told in log]
    days = tuple(_day(event) for event in events if isinstance(event, DayEnded))
    results = next((event.results for event in reversed(events) if isinstance(event, SocietyEnded)), ())
    spelt = [values(result) for result in sorted(results, key=lambda result: result.agent)]
    agents = tuple(({**each, "name": each["name"] or None}.values()) for each in spelt)
    return {"days": Frame(DAYS, days), "agents": Frame(AGENTS, tuple(map(tuple, agents)))}


def _day(event: DayEnded) -> tuple[Cell, ...]:
    stocks = [number(getattr(event.totals[resource], where)) for resource, where in _STOCKS]
    status, counts = ([getattr(event, name) for name in names] for names in (_STATUS, _COUNTS))
    return (event.day, *status, *stocks, event.gini, *counts)


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything that a page shows of the society, in its order; no panel without data."""
    events = [told.event for told in log]
    known = people(events)
    if known is None:
        return []
    days = [event for event in events if isinstance(event, DayEnded)]
    laws = [event for event in events if isinstance(event, LawEnacted)]
    parts = (
        _by_day(days) if days else (),
        _laws(laws, days, events) if laws else (),
        _groups(events, known),
        _ties(events, known),
        _forum(events, known),
    )
    return [*(panel for part in parts for panel in part), *pages(events, known)]


# -- days


def _by_day(days: Sequence[DayEnded]) -> Iterator[Panel]:
    """Who is awake, what there is, how unequal it is, and how much is said."""

    def lines(title: str, unit: str, of: Mapping[str, Callable[[DayEnded], float]]) -> Chart:
        series = tuple(Series(name, tuple(float(value(day)) for day in days)) for name, value in of.items())
        return Chart(title, "line", tuple(str(day.day) for day in days), series, "day", unit)

    def field(name: str) -> Callable[[DayEnded], float]:
        return lambda day: float(getattr(day, name))

    def amount(where: str, name: str) -> Callable[[DayEnded], float]:
        return lambda day: float(getattr(day.totals[name], where)) / UNIT

    yield lines("Agents by evening", "agents", {name: field(name) for name in _STATUS})
    yield lines("Held by agents", "units", {name: amount("held", name) for name in RESOURCES})
    yield lines("The common pool", "units", {name: amount("pool", name) for name in (*RESOURCES, "land")})
    yield lines("Inequality of wealth", "0 to 1", {"Gini coefficient": field("gini")})
    yield lines("Talk and votes by day", "a day", {name: field(name) for name in _COUNTS[:4]})


# -- laws


def _laws(laws: Sequence[LawEnacted], days: Sequence[DayEnded], events: Sequence[Event]) -> Iterator[Panel]:
    """The timeline of laws, and their measured effects.

    A law acts from the day after the evening of its vote; one of the first day has no before.
    """
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    rows = tuple(
        (law.law, law.title, in_words(law.terms) or "words alone", law.day, ended.get(law.law)) for law in laws
    )
    yield DataTable("Laws", ("law", "title", "what it does", "from day", "until day"), rows)
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    measured = [law for law in laws if 0 < law.day < len(days)]
    if began is None or not measured:
        return
    evenings = list(pairwise([began.totals, *(day.totals for day in days)]))
    measures: dict[str, list[float]] = {
        "active": [float(day.active) for day in days],
        **{
            f"{name} made": [(after[name].produced - before[name].produced) / UNIT for before, after in evenings]
            for name in RESOURCES
        },
        "food in the pool": [day.totals["food"].pool / UNIT for day in days],
        "Gini": [day.gini for day in days],
    }
    effects: list[tuple[Cell, ...]] = []
    for law in measured:
        for name, each in measures.items():
            was = _mean(each[max(0, law.day - WINDOW) : law.day])
            became = _mean(each[law.day : law.day + WINDOW])
            effects.append((f"{law.law} {law.title}", name, round(was, 3), round(became, 3), round(became - was, 3)))
    note = (
        f"Means of up to {WINDOW} days before a law began to act and of as many after. What changed with a law need "
        "not be its doing, since other laws and the course of a game change too: compare games with and without it."
    )
    yield DataTable("Before and after each law", ("law", "measure", "before", "after", "change"), tuple(effects), note)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# -- groups

_DEEDS: dict[type[Event], str] = {
    Worked: "work",
    Posted: "posts",
    MessageSent: "messages",
    Proposed: "proposals",
    Voted: "votes",
    Traded: "gifts",
    Contributed: "to projects",
    Renamed: "names",
    Idled: "idle",
    InvalidAction: "invalid",
    FellDormant: "fell dormant",
}


def _groups(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """For each personality: deeds of its agents on average, and in the end how many are active and what they hold."""
    done: dict[str, Counter[str]] = defaultdict(Counter)
    each: Any
    for each in events:
        if (name := _DEEDS.get(type(each))) is not None:
            done[people.beings[each.agent].personality][name] += 1
    ended = next((event for event in events if isinstance(event, SocietyEnded)), None)
    sizes = Counter(being.personality for being in people.beings.values())
    present = [personality for personality in PERSONALITIES if sizes[personality]]
    if not done or len(present) < 2:
        return
    columns = ("personality", "agents", *_DEEDS.values(), *(("active in the end", "wealth") if ended else ()))
    rows: list[tuple[Cell, ...]] = []
    for personality in present:
        size = sizes[personality]
        row: list[Cell] = [personality, size, *(round(done[personality][name] / size, 2) for name in _DEEDS.values())]
        if ended:
            own = [result for result in ended.results if result.personality == personality]
            row += [sum(result.status == "active" for result in own)]
            row += [round(sum(result.wealth for result in own) / UNIT / size, 2)]
        rows.append(tuple(row))
    note = "Deeds are per agent, over the whole game; wealth is an agent's food, energy and materials together."
    yield DataTable("By personality", columns, tuple(rows), note)


# -- ties


def _ties(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Messages, replies and gifts between agents as a network, personality by personality; nothing without any."""
    counts: Counter[tuple[int, int, str]] = Counter()
    authors: dict[int | None, int] = {}
    for event in events:
        match event:
            case MessageSent():
                counts[event.agent, event.recipient, "messages"] += 1
            case Posted():
                authors[event.post] = event.agent
                if event.parent in authors:
                    counts[event.agent, authors[event.parent], "replies"] += 1
            case Traded() if event.recipient:
                counts[event.agent, event.recipient, "gifts"] += 1
            case _:
                pass
    if counts:
        nodes = tuple(Node(people.called(number), being.personality) for number, being in people.beings.items())
        between = tuple(
            Tie(people.called(source), people.called(target), float(times), kind)
            for (source, target, kind), times in counts.items()
        )
        note = "How often one agent wrote to another, answered it in the forum, or gave it something."
        yield Network("Who deals with whom", nodes, between, note)


def _forum(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Every post beneath the one that it answers; nothing where no agent posted."""
    posts = tuple(
        ThreadPost(event.post, people.called(event.agent), f"day {event.day}", event.text, event.parent)
        for event in events
        if isinstance(event, Posted)
    )
    if posts:
        yield Threads("The forum", posts)
