"""Panels of a page: curves by evening, proposals and laws, personalities, the network of agents, the forum.

Made from the events that one player heard, they show what this player could know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, get_args

from agentsim.engine import Event, LoggedEvent, PlayerId
from agentsim.engine.panel import (
    Cell,
    Chart,
    Course,
    DataTable,
    Network,
    Node,
    Panel,
    Series,
    ThreadPost,
    Threads,
    Tie,
    TurnedAt,
)
from agentsim.engine.wording import by_count, counted, sentence
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.assembly import VoteCast
from agentsim.games.society.building import Contributed, ProjectBuilt
from agentsim.games.society.config import PERSONALITIES
from agentsim.games.society.evening import DayEnded, FellDormant, Idled, SocietyEnded
from agentsim.games.society.founding import Being, SocietyBegan, Totals
from agentsim.games.society.laws import LawEnacted, LawRepealed
from agentsim.games.society.tables import COUNTS, DAYS, STATUS, days
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.terms import RESOURCES, in_words
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import ProposalResolved, Proposed, Voted
from agentsim.games.society.work import Traded, Worked

WINDOW = 5
"""The number of days before and after a law that are compared."""
MOST_VOTERS = 100
"""The number of voters of a side that are listed, beside their total."""


@dataclass(frozen=True)
class People:
    """Every agent by its number, and the last name that it chose."""

    beings: dict[int, Being]
    names: dict[int, str]

    def called(self, number: int) -> str:
        """Return the number and name of an agent."""
        return f"#{number} {self.names.get(number, '')}".rstrip()


def panels(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
    """Return the panels of a page, in order, without those that have no data."""
    events = [told.event for told in log]
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    if began is None:
        return []
    names = {event.agent: event.name for event in events if isinstance(event, Renamed)}
    known = People({being.agent: being for being in began.agents}, names)
    by_day = dict(zip(DAYS, zip(*days(events).rows, strict=True), strict=False))
    parts = (
        *(_by_day(by_day), _proposals(events, known), _laws(by_day, events), _personalities(events, known)),
        *(_ties(events, known), _forum(events, known)),
    )
    return [panel for part in parts for panel in part]


def course(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Course:
    """Return the curves of the agents' status by evening, or of their stocks if all days have the same active agents.

    A society as a whole has no winner, so the verdict is a summary.
    """
    ends = [told.event for told in log if isinstance(told.event, DayEnded)]
    if not ends:
        return Course()
    last = ends[-1]
    by_day = dict(zip(DAYS, zip(*days([told.event for told in log]).rows, strict=True), strict=False))
    status, held, *_ = _by_day(by_day)
    verdict = (
        f"{last.active} of {counted(last.active + last.dormant + last.dead, 'agent')} "
        f"{by_count(last.active, 'is', 'are')} active after {counted(last.day, 'day')}; {counted(last.laws, 'law')}, "
        f"Gini coefficient of wealth {last.gini:.2f}"
    )
    unchanged = all(day.active == last.active and not day.dead for day in ends)
    return Course(
        held if unchanged else status,
        verdict=verdict,
        why=_balance(last.totals),
        refusals=("voted no",),
        turns=tuple(_turns(log)),
    )


def _balance(totals: Mapping[str, Totals]) -> str:
    """Return the amounts made and consumed, in words, for each resource that is consumed."""
    parts = (
        f"{its.produced / UNIT:,.0f} {name} made, {its.consumed / UNIT:,.0f} consumed"
        for name, its in totals.items()
        if its.consumed
    )
    return sentence("; ".join(parts))


def _turns(log: Sequence[LoggedEvent]) -> Iterator[TurnedAt]:
    """Yield the first dormancy, the first law, the closest vote, and the first building."""
    first: dict[type[Event], int] = {}
    votes: dict[int, ProposalResolved] = {}
    for at, told in enumerate(log):
        first.setdefault(type(told.event), at)
        if isinstance(told.event, ProposalResolved) and told.event.yes and told.event.no:
            votes[at] = told.event
    closest = sorted(votes, key=lambda at: abs(votes[at].yes - votes[at].no) / (votes[at].yes + votes[at].no))[:1]
    for kind, what in ((FellDormant, "First to fall dormant"), (LawEnacted, "First law")):
        yield from [TurnedAt(first[kind], what)] if kind in first else ()
    for at in closest:
        yield TurnedAt(at, "Closest vote", f"{votes[at].heading}, {votes[at].yes} to {votes[at].no}")
    yield from [TurnedAt(first[ProjectBuilt], "First building")] if ProjectBuilt in first else ()


def _by_day(days: Mapping[str, Sequence[Any]]) -> Iterator[Chart]:
    """Yield the charts of status, stocks, pool, commons, inequality and talk by day; none before the first evening."""
    charts: Mapping[tuple[str, str], Mapping[str, str]] = {
        ("Agents by evening", "agents"): {name: name for name in STATUS},
        ("Held by agents", "units"): {name: f"{name}_held" for name in RESOURCES},
        ("The common pool", "units"): {name: f"{name}_pool" for name in (*RESOURCES, "land")},
        **({("The commons", "food"): {"food": "commons_pool"}} if any(days.get("commons_pool", ())) else {}),
        ("Inequality of wealth", "0 to 1"): {"Gini coefficient": "gini"},
        ("Talk and votes by day", "a day"): {name: name for name in COUNTS[:4]},
    }
    for (title, unit), lines in charts.items() if days else ():
        series = tuple(Series(name, tuple(map(float, days[column]))) for name, column in lines.items())
        yield Chart(title, "line", tuple(map(str, days["day"])), series, "day", unit, "", tuple(map(int, days["day"])))


# -- proposals and laws


def _proposals(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Yield the table of proposals with their results and final votes; none if there are no proposals."""
    resolved = {event.proposal: event for event in events if isinstance(event, ProposalResolved)}
    cast: dict[int, dict[int, VoteCast]] = defaultdict(dict)
    for event in events:
        if isinstance(event, Voted):
            cast[event.proposal][event.agent] = event.vote
    rows: list[tuple[Cell, ...]] = []
    for event in events:
        if isinstance(event, Proposed):
            end, by = resolved.get(event.proposal), cast[event.proposal]
            result = "open" if end is None else f"{end.result}, day {end.day}"
            sides = (_side(agent for agent, vote in by.items() if vote == side) for side in get_args(VoteCast))
            does = in_words(event.terms) or "words alone"
            rows.append((event.proposal, people.called(event.agent), event.type, event.title, does, result, *sides))
    if rows:
        columns = ("proposal", "by", "type", "title", "what it does", "result", *get_args(VoteCast))
        note = "How many voted so, and which agents: by the last vote of each."
        yield DataTable("Proposals and who voted how", columns, tuple(rows), note)


def _side(agents: Iterable[int]) -> str:
    named = sorted(agents)
    more = f" and {len(named) - MOST_VOTERS} more" if len(named) > MOST_VOTERS else ""
    listed = " ".join(f"#{agent}" for agent in named[:MOST_VOTERS])
    return f"{len(named)}: {listed}{more}" if named else "0"


def _laws(days: Mapping[str, Sequence[Any]], events: Sequence[Event]) -> Iterator[Panel]:
    """Yield the table of laws, and the table of measures before and after each; none if there are no laws.

    A law acts from the day after the evening of its vote. A law of the first day has no days before and is left out.
    """
    laws = [event for event in events if isinstance(event, LawEnacted)]
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    rows = ((law.law, law.title, in_words(law.terms) or "words alone", law.day, ended.get(law.law)) for law in laws)
    if laws:
        yield DataTable("Laws", ("law", "title", "what it does", "from day", "until day"), tuple(rows))
    measured = [law for law in laws if 0 < law.day < len(days.get("day", ()))]
    if not measured:
        return
    evenings = list(pairwise(event.totals for event in events if isinstance(event, SocietyBegan | DayEnded)))
    measures: dict[str, Sequence[float]] = {
        "active": days["active"],
        **{f"{name} made": [_made(name, *each) for each in evenings] for name in RESOURCES},
        "food in the pool": days["food_pool"],
        "Gini": days["gini"],
    }
    effects: list[tuple[Cell, ...]] = []
    for law, (name, each) in product(measured, measures.items()):
        was, became = (_mean(part) for part in (each[max(0, law.day - WINDOW) : law.day], each[law.day :][:WINDOW]))
        effects.append((f"{law.law} {law.title}", name, round(was, 3), round(became, 3), round(became - was, 3)))
    note = (
        f"Means of up to {WINDOW} days before a law began to act and of as many after. What changed with a law need "
        "not be its doing, since other laws and the course of a game change too: compare games with and without it."
    )
    yield DataTable("Before and after each law", ("law", "measure", "before", "after", "change"), tuple(effects), note)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _made(resource: str, before: Mapping[str, Totals], after: Mapping[str, Totals]) -> float:
    """Return the amount made between two evenings, in whole units."""
    return (after[resource].produced - before[resource].produced) / UNIT


# -- personalities

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


def _personalities(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Yield the table of mean acts by personality, with the number of active agents and mean wealth at the end.

    It is left out if no agent has acted or there are fewer than two personalities.
    """
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


# -- the network


def _ties(events: Sequence[Event], people: People) -> Iterator[Network]:
    """Yield the network of messages, replies and gifts; none if it has no ties."""
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
    if not counts:
        return
    nodes = tuple(Node(people.called(number), being.personality) for number, being in people.beings.items())
    ties = tuple(
        Tie(people.called(source), people.called(target), float(times), kind)
        for (source, target, kind), times in counts.items()
    )
    note = "How often one agent wrote to another, answered it in the forum, or gave it something."
    yield Network("Who deals with whom", nodes, ties, note)


# -- the forum


def _forum(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Yield the threads of the forum; none if there are no posts."""
    posts = tuple(
        ThreadPost(event.post, people.called(event.agent), f"day {event.day}", event.text, event.parent)
        for event in events
        if isinstance(event, Posted)
    )
    if posts:
        yield Threads("The forum", posts)
