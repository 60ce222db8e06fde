"""Tables of a game for analysis: days, agents, proposals, votes, laws, transfers, posts and messages.

Made from the events that one player heard, they hold what this player could know.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine import Event, LoggedEvent, PlayerId
from agentsim.engine.codec import values
from agentsim.engine.panel import Cell, Frame
from agentsim.games.society.amounts import number
from agentsim.games.society.building import Contributed, UpkeepPaid
from agentsim.games.society.evening import DayEnded, SocietyEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.laws import AllocationPaid, DividendPaid, LawEnacted, LawRepealed
from agentsim.games.society.shocks import LostToShock, ShockStruck
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.terms import RESOURCES, in_words
from agentsim.games.society.voting import ProposalResolved, Proposed, Reasoned, Voted
from agentsim.games.society.work import Traded, Worked

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


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """Return all tables by name.

    The status of an agent is in the column `condition`, since tables over many runs have a column `status` of the run.
    """
    events = [told.event for told in log]
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    seats: Seats = {None: None, POOL: None, **{being.agent: being.player for being in began.agents}} if began else {}
    return {
        "days": days(events),
        "agents": Frame(AGENTS, tuple(_agents(events))),
        "proposals": Frame(PROPOSALS, tuple(_proposals(events, seats))),
        "votes": Frame(VOTES, tuple(_votes(events, seats))),
        "laws": Frame(LAWS, tuple(_laws(events, seats))),
        "transfers": Frame(TRANSFERS, tuple(_transfers(events, seats))),
        "posts": Frame(POSTS, tuple(_posts(log, seats))),
        "messages": Frame(MESSAGES, tuple(_messages(events, seats))),
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


def _agents(events: Sequence[Event]) -> Iterator[Row]:
    results = next((event.results for event in reversed(events) if isinstance(event, SocietyEnded)), ())
    for each in map(values, sorted(results, key=lambda result: result.agent)):
        yield tuple({**each, "name": each["name"] or None, "rank": each["rank"] or None}.values())


def _proposals(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    resolved = {event.proposal: event for event in events if isinstance(event, ProposalResolved)}
    for event in events:
        if isinstance(event, Proposed):
            made = (event.type, event.title, event.description, in_words(event.terms), event.closes)
            end = resolved.get(event.proposal)
            ended: Row = (None,) * 7
            if end is not None:
                ended = (end.result, end.yes, end.no, end.abstain, end.threshold, end.quorum, end.note)
            yield event.proposal, event.day, event.agent, seats[event.agent], *made, *ended


def _votes(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
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


def _laws(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed)}
    for event in events:
        if isinstance(event, LawEnacted):
            by = (event.proposal or None, event.agent or None, seats[event.agent])
            yield event.law, *by, event.title, in_words(event.terms), event.day, ended.get(event.law)


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


def _transfers(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    event: Any
    for event in events:
        moved = _MOVED.get(type(event))
        for what, giver, taker, resource, amount, by in moved(event) if moved else ():
            if amount:
                yield event.day, what, giver, taker, seats[giver], seats[taker], resource, number(amount), by


def _posts(log: Sequence[LoggedEvent], seats: Seats) -> Iterator[Row]:
    posts = [(told.decision, told.event) for told in log if isinstance(told.event, Posted)]
    replies = Counter(each.parent for _, each in posts)
    for decision, each in posts:
        answered = (each.parent, replies[each.post], json.dumps(each.mentions))
        yield each.day, decision, each.post, each.agent, seats[each.agent], *answered, each.text


def _messages(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    for event in events:
        if isinstance(event, MessageSent):
            yield event.day, event.agent, seats[event.agent], event.recipient, seats[event.recipient], event.text
