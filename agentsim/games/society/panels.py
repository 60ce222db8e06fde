"""Tables, charts and panels of a game.

Made from the events that one player heard, they hold what this player could know.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, TypeAlias, get_args

from agentsim.engine import Event, LoggedEvent, PlayerId
from agentsim.engine.codec import json_fields
from agentsim.engine.panel import (
    Cell,
    Chart,
    DataTable,
    Edge,
    Frame,
    Network,
    Node,
    Overview,
    Panel,
    Series,
    ThreadPost,
    Threads,
    TurnedAt,
)
from agentsim.engine.truth import Truth
from agentsim.engine.wording import by_count, counted, sentence
from agentsim.games.society.amounts import UNIT, number
from agentsim.games.society.assembly import RESOURCES, Ballot, terms_in_words
from agentsim.games.society.building import Contributed, ProjectBuilt, UpkeepPaid
from agentsim.games.society.config import PERSONALITIES
from agentsim.games.society.evening import AgentDied, DayEnded, FellDormant, Idled, SocietyEnded
from agentsim.games.society.founding import Being, SocietyBegan, Totals
from agentsim.games.society.shocks import LostToShock, ShockStruck
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import (
    AllocationPaid,
    DividendPaid,
    LawEnacted,
    LawRepealed,
    ProposalResolved,
    Proposed,
    Reasoned,
    Voted,
)
from agentsim.games.society.work import Traded, Worked
from agentsim.lazy import dataclass

# -- tables for analysis


STATUS = ("active", "dormant", "dead")
COUNTS = ("posts", "messages", "proposals", "votes", "invalid", "laws")
_STOCKS = (
    *((resource, where) for resource in RESOURCES for where in ("held", "pool")),
    ("land", "pool"),
    ("commons", "pool"),
)
DAYS = ("day", *STATUS, *map("_".join, _STOCKS), "gini", *COUNTS)
AGENTS = (
    *("agent", "player", "name", "personality", "condition", *RESOURCES, "wealth"),
    *("hours", "posts", "messages", "proposals", "votes", "breaches", "rank"),
)
PROPOSALS = (
    *("proposal", "day", "agent", "player", "type", "title", "description", "terms", "closes"),
    *("result", "yes", "no", "abstain", "threshold", "quorum", "note"),
)
VOTES = ("day", "proposal", "agent", "player", "vote", "counts", "reasoning")
LAWS = ("law", "proposal", "agent", "player", "title", "terms", "from_day", "until_day")
TRANSFERS = ("day", "what", "giver", "taker", "giver_player", "taker_player", "resource", "amount", "by")
POSTS = ("day", "decision", "post", "agent", "player", "reply_to", "replies", "mentions", "text")
MESSAGES = ("day", "agent", "player", "recipient", "recipient_player", "text")

POOL = 0
"""The number of the common pool among agents."""


FACTS = {
    "dormant": "the player whose agent falls dormant next",
    "died": "the player whose agent dies next",
    "proposal": "whether the next proposal to be decided has passed or failed",
}


def truths(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Iterator[Truth]:
    """Yield who falls dormant or dies, and the result of every proposal."""
    seats: dict[int, str] = {}
    for at, event in enumerate((told.event for told in log), start=1):
        match event:
            case SocietyBegan(agents=agents):
                seats = {being.agent: being.player for being in agents}
            case FellDormant(agent=agent):
                yield Truth("dormant", seats[agent], at, public=at)
            case AgentDied(agent=agent):
                yield Truth("died", seats[agent], at, public=at)
            case ProposalResolved(result=result):
                yield Truth("proposal", result, at, public=at)
            case _:
                pass


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """Return all tables by name.

    The status of an agent is in the column `condition`, since tables over many runs have a column `status` of the run.
    """
    events = [told.event for told in log]
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    seats: Seats = {None: None, POOL: None, **{being.agent: being.player for being in began.agents}} if began else {}
    return {
        "days": days(events),
        "agents": Frame(AGENTS, tuple(_agent_rows(events))),
        "proposals": Frame(PROPOSALS, tuple(_proposal_rows(events, seats))),
        "votes": Frame(VOTES, tuple(_vote_rows(events, seats))),
        "laws": Frame(LAWS, tuple(_law_rows(events, seats))),
        "transfers": Frame(TRANSFERS, tuple(_transfer_rows(events, seats))),
        "posts": Frame(POSTS, tuple(_post_rows(log, seats))),
        "messages": Frame(MESSAGES, tuple(_message_rows(events, seats))),
    }


Row = tuple[Cell, ...]
Seats = Mapping[int | None, str | None]


def days(events: Sequence[Event]) -> Frame:
    """Return the table of days, with one row for each evening."""
    return Frame(DAYS, tuple(_day(event) for event in events if isinstance(event, DayEnded)))


def _day(event: DayEnded) -> Row:
    there = event.totals
    stocks = [number(getattr(there[name], where)) if name in there else None for name, where in _STOCKS]
    status, counts = ([getattr(event, name) for name in names] for names in (STATUS, COUNTS))
    return (event.day, *status, *stocks, event.gini, *counts)


def _agent_rows(events: Sequence[Event]) -> Iterator[Row]:
    results = next((event.results for event in reversed(events) if isinstance(event, SocietyEnded)), ())
    for each in map(json_fields, sorted(results, key=lambda result: result.agent)):
        yield tuple({**each, "name": each["name"] or None, "rank": each["rank"] or None}.values())


def _proposal_rows(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    resolved = {event.proposal: event for event in events if isinstance(event, ProposalResolved)}
    for event in events:
        if isinstance(event, Proposed):
            made = (event.type, event.title, event.description, terms_in_words(event.terms), event.closes)
            end = resolved.get(event.proposal)
            ended: Row = (None,) * 7
            if end is not None:
                ended = (end.result, end.yes, end.no, end.abstain, end.threshold, end.quorum, end.note)
            yield event.proposal, event.day, event.agent, seats[event.agent], *made, *ended


def _vote_rows(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    """Yield a row for each vote cast; the last one of an agent on a proposal counts."""
    reasons: dict[tuple[int, int, int], list[str]] = {}
    last: dict[tuple[int, int], Voted] = {}
    for event in events:
        if isinstance(event, Voted):
            last[event.proposal, event.agent] = event
        elif isinstance(event, Reasoned):
            reasons.setdefault((event.proposal, event.agent, event.day), []).append(event.text)
    for event in events:
        if isinstance(event, Voted):
            said = reasons.get((event.proposal, event.agent, event.day))
            counts = last[event.proposal, event.agent] is event
            why = said.pop(0) if said else None
            yield event.day, event.proposal, event.agent, seats[event.agent], event.vote, counts, why


def _law_rows(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    for event in events:
        if isinstance(event, LawEnacted):
            by = (event.proposal or None, event.agent or None, seats[event.agent])
            yield event.law, *by, event.title, terms_in_words(event.terms), event.day, ended.get(event.law)


Transfer: TypeAlias = tuple[str, int, int | None, str, int, int | None]
"""Kind, giver, taker (None: lost), resource, amount in hundredths, and id of the law, project or proposal, or None."""


def _from_pool(what: str, event: AllocationPaid | DividendPaid, by: int) -> Iterable[Transfer]:
    return ((what, POOL, agent, event.resource, amount, by) for agent, amount in event.paid.items())


def _lost(giver: int, lost: Mapping[str, int]) -> Iterable[Transfer]:
    return (("loss", giver, None, resource, amount, None) for resource, amount in lost.items())


_MOVED: Mapping[type[Event], Callable[[Any], Iterable[Transfer]]] = {
    Traded: lambda it: [("gift", it.agent, it.recipient, it.resource, it.amount, None)],
    Worked: lambda it: [("tax", it.agent, POOL, it.resource, it.taxed, None)],
    Contributed: lambda it: [("contribution", it.agent, POOL, "materials", it.amount, it.project)],
    UpkeepPaid: lambda it: [("upkeep", POOL, POOL, "materials", it.materials, None)],
    AllocationPaid: lambda it: _from_pool("allocation", it, it.proposal),
    DividendPaid: lambda it: _from_pool("dividend", it, it.law),
    LostToShock: lambda it: _lost(it.agent, it.lost),
    ShockStruck: lambda it: _lost(POOL, it.lost) if it.what == "pool" else (),
}
"""The transfers of each class of event."""


def _transfer_rows(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    event: Any
    for event in events:
        moved = _MOVED.get(type(event))
        for what, giver, taker, resource, amount, by in moved(event) if moved else ():
            if amount:
                yield event.day, what, giver, taker, seats[giver], seats[taker], resource, number(amount), by


def _post_rows(log: Sequence[LoggedEvent], seats: Seats) -> Iterator[Row]:
    posts = [(told.decision, told.event) for told in log if isinstance(told.event, Posted)]
    replies = Counter(each.parent for _, each in posts)
    for decision, each in posts:
        answered = (each.parent, replies[each.post], json.dumps(each.mentions))
        yield each.day, decision, each.post, each.agent, seats[each.agent], *answered, each.text


def _message_rows(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    for event in events:
        if isinstance(event, MessageSent):
            yield event.day, event.agent, seats[event.agent], event.recipient, seats[event.recipient], event.text


# -- the page


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
        *(_network(events, known), _forum(events, known)),
    )
    return [panel for part in parts for panel in part]


def overview(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Overview:
    """Return the curves of the agents' status by evening, or of their stocks if all days have the same active agents.

    A society as a whole has no winner, so the verdict is a summary.
    """
    ends = [told.event for told in log if isinstance(told.event, DayEnded)]
    if not ends:
        return Overview()
    last = ends[-1]
    by_day = dict(zip(DAYS, zip(*days([told.event for told in log]).rows, strict=True), strict=False))
    status, held, *_ = _by_day(by_day)
    verdict = (
        f"{last.active} of {counted(last.active + last.dormant + last.dead, 'agent')} "
        f"{by_count(last.active, 'is', 'are')} active after {counted(last.day, 'day')}; {counted(last.laws, 'law')}, "
        f"Gini coefficient of wealth {last.gini:.2f}"
    )
    unchanged = all(day.active == last.active and not day.dead for day in ends)
    return Overview(
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
        ("Inequality of wealth", "Gini coefficient"): {"Gini coefficient": "gini"},
        ("Talk and votes by day", "a day"): {name: name for name in COUNTS[:4]},
    }
    for (title, unit), lines in charts.items() if days else ():
        series = tuple(Series(name, tuple(map(float, days[column]))) for name, column in lines.items())
        yield Chart(title, "line", tuple(map(str, days["day"])), series, "day", unit, "", tuple(map(int, days["day"])))


# -- proposals and laws


def _proposals(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """Yield the table of proposals with their results and final votes; none if there are no proposals."""
    resolved = {event.proposal: event for event in events if isinstance(event, ProposalResolved)}
    cast: dict[int, dict[int, Ballot]] = defaultdict(dict)
    for event in events:
        if isinstance(event, Voted):
            cast[event.proposal][event.agent] = event.vote
    rows: list[tuple[Cell, ...]] = []
    for event in events:
        if isinstance(event, Proposed):
            end, by = resolved.get(event.proposal), cast[event.proposal]
            result = "open" if end is None else f"{end.result}, day {end.day}"
            sides = (_side(agent for agent, vote in by.items() if vote == side) for side in get_args(Ballot))
            does = terms_in_words(event.terms) or "words alone"
            rows.append((event.proposal, people.called(event.agent), event.type, event.title, does, result, *sides))
    if rows:
        columns = ("proposal", "by", "type", "title", "what it does", "result", *get_args(Ballot))
        note = "The agents behind each answer, by the last vote of each agent."
        yield DataTable("Proposals and who voted how", columns, tuple(rows), note)


def _side(agents: Iterable[int]) -> str:
    named = sorted(agents)
    more = f" and {len(named) - MOST_VOTERS} more" if len(named) > MOST_VOTERS else ""
    return ", ".join(f"#{agent}" for agent in named[:MOST_VOTERS]) + more or "–"


def _laws(days: Mapping[str, Sequence[Any]], events: Sequence[Event]) -> Iterator[Panel]:
    """Yield the table of laws, and the table of measures before and after each; none if there are no laws.

    A law acts from the day after the evening of its vote. A law of the first day has no days before and is left out.
    """
    laws = [event for event in events if isinstance(event, LawEnacted)]
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    rows = (
        (law.law, law.title, terms_in_words(law.terms) or "words alone", law.day, ended.get(law.law)) for law in laws
    )
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
    note = "Actions are per agent, over the whole game; wealth is an agent's food, energy and materials together."
    yield DataTable("By personality", columns, tuple(rows), note)


# -- the network


def _network(events: Sequence[Event], people: People) -> Iterator[Network]:
    """Yield the network of messages, replies and gifts; none if it has no edges."""
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
    edges = tuple(
        Edge(people.called(source), people.called(target), float(times), kind)
        for (source, target, kind), times in counts.items()
    )
    note = "How often one agent wrote to another, answered it in the forum, or gave it something."
    yield Network("Who deals with whom", nodes, edges, note)


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
