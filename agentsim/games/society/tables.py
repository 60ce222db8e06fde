"""Tables: what a society leaves for study, row by row: days, agents, proposals, votes, laws, transfers, talk, exposure.

Given the events that one agent heard, they hold what that agent could know. What a page shows is `charts`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine import Event, LogEntry, PlayerId
from agentsim.engine.codec import values
from agentsim.engine.panel import Cell, Frame
from agentsim.games.society.amounts import number
from agentsim.games.society.evening import AgentWoke, DayEnded, FellDormant, SocietyEnded
from agentsim.games.society.forum import Forum
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.laws import LawEnacted, LawLapsed, LawRepealed
from agentsim.games.society.talk import ForumOpened, MessageSent, Posted, Renamed
from agentsim.games.society.terms import RESOURCES, in_words
from agentsim.games.society.transfers import POOL, moved
from agentsim.games.society.turn import Daily
from agentsim.games.society.voting import ProposalResolved, Proposed, Reasoned, Voted

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
EXPOSURE = ("day", "turn", "decision", "agent", "player", "post", "author", "place")


def tables(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """All of them. An agent's status is its `condition`: a column `status` leads every table over many runs."""
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
        "exposure": exposure(log),
    }


Row = tuple[Cell, ...]
Seats = Mapping[int | None, str | None]


def days(events: Sequence[Event]) -> Frame:
    """A row an evening."""
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
    """Every vote that was cast; the last of an agent on a proposal counts."""
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
    ended = {event.law: event.day for event in events if isinstance(event, LawRepealed | LawLapsed)}
    for event in events:
        if isinstance(event, LawEnacted):
            by = (event.proposal or None, event.agent or None, seats[event.agent])
            yield event.law, *by, event.title, in_words(event.terms), event.day, ended.get(event.law)


def _transfers(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    for event in events:
        for what, giver, taker, resource, amount, by in moved(event):
            day = getattr(event, "day", None)
            yield day, what, giver, taker, seats[giver], seats[taker], resource, number(amount), by


def _posts(log: Sequence[LogEntry], seats: Seats) -> Iterator[Row]:
    posts = [(told.decision, told.event) for told in log if isinstance(told.event, Posted)]
    replies = Counter(each.parent for _, each in posts)
    for decision, each in posts:
        answered = (each.parent, replies[each.post], json.dumps(each.mentions))
        yield each.day, decision, each.post, each.agent, seats[each.agent], *answered, each.text


def _messages(events: Sequence[Event], seats: Seats) -> Iterator[Row]:
    for event in events:
        if isinstance(event, MessageSent):
            yield event.day, event.agent, seats[event.agent], event.recipient, seats[event.recipient], event.text


# -- who was shown which post


def exposure(log: Sequence[LogEntry]) -> Frame:
    """A row for each post that an agent was shown in a turn, with the decision that it was asked for.

    The forum tells how it chooses posts (`ForumOpened`): the same one, given the same posts, shows the same again. The
    post of `place` 1 stands next to the question, the newest or that of the highest score. There are no rows where the
    forum does not tell how it chooses, and of the part of a log that one agent heard.
    """
    began = next((told.event for told in log if isinstance(told.event, SocietyBegan)), None)
    opened = next((told.event for told in log if isinstance(told.event, ForumOpened)), None)
    number = {being.player: being.agent for being in began.agents} if began else {}
    try:
        return Frame(EXPOSURE, tuple(_shown(log, number, opened.forum)) if opened else ())
    except _NotAllHeard:
        return Frame(EXPOSURE, ())


class _NotAllHeard(Exception):
    """The log lacks the deeds of an agent that was awake."""


def _shown(log: Sequence[LogEntry], number: Mapping[str, int], forum: Forum) -> Iterator[Row]:
    """The rows in order: as each turn begins, what those who are awake are shown of the posts so far."""
    deciders = {told.decision: number[told.by] for told in log if told.decision and told.by}
    waiting = sorted(deciders, reverse=True)
    awake, players = set(number.values()), {agent: player for player, agent in number.items()}
    names: dict[int, str] = {}
    turns = Counter[int]()
    for told in log:
        event = told.event
        if waiting and told.decision and told.decision >= waiting[-1] and isinstance(event, Daily):
            day = event.day
            turns[day] += 1
            asked = [waiting.pop() for _ in range(min(len(awake), len(waiting)))]
            if [deciders[decision] for decision in asked] != sorted(awake):
                raise _NotAllHeard
            for decision, agent in zip(asked, sorted(awake), strict=True):
                for place, post in enumerate(reversed(forum.shown(agent, day)), 1):
                    yield day, turns[day], decision, agent, players[agent], post.id, post.author, place
        if isinstance(event, Posted):
            forum.post(event.day, event.agent, names.get(event.agent, ""), event.parent, event.text)
        elif isinstance(event, Renamed):
            names[event.agent] = event.name
        elif isinstance(event, FellDormant):
            awake.discard(event.agent)
        elif isinstance(event, AgentWoke):
            awake.add(event.agent)
