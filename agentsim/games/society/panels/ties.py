"""Ties: who talked to whom and gave to whom, and the forum as threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentsim.engine.event import Event
from agentsim.engine.panel import Network, Node, Panel, ThreadPost, Threads, Tie
from agentsim.games.society.giving import Traded
from agentsim.games.society.panels.people import People
from agentsim.games.society.talk import MessageSent, Posted


def ties(events: Sequence[Event], people: People) -> list[Panel]:
    """Messages, replies and gifts between agents as a network, personality by personality; nothing without any."""
    counts: Counter[tuple[int, int, str]] = Counter()
    authors: dict[int, int] = {}
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
        return []
    nodes = tuple(Node(people.called(number), being.personality) for number, being in people.beings.items())
    between = tuple(
        Tie(people.called(source), people.called(target), float(times), kind)
        for (source, target, kind), times in counts.items()
    )
    note = "How often one agent wrote to another, answered it in the forum, or gave it something."
    return [Network("Who deals with whom", nodes, between, note)]


def forum(events: Sequence[Event], people: People) -> list[Panel]:
    """Every post beneath the one that it answers; empty where no agent posted."""
    posts = tuple(
        ThreadPost(event.post, people.called(event.agent), f"day {event.day}", event.text, event.parent)
        for event in events
        if isinstance(event, Posted)
    )
    return [Threads("The forum", posts)] if posts else []
