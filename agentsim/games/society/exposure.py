"""Exposure: which agent was shown which post in which turn, worked out from the events alone.

The forum tells how it chooses posts (`ForumOpened`), so the same forum, given the same posts, shows the same again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.society.evening import AgentWoke, FellDormant
from agentsim.games.society.forum import Forum
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.talk import ForumOpened, Posted, Renamed
from agentsim.games.society.turn import Daily

COLUMNS = ("day", "turn", "decision", "agent", "player", "post", "author", "place")


def exposure(log: Sequence[LogEntry]) -> Frame:
    """A row for each post that an agent was shown in a turn, with the decision that it was asked for.

    The post of `place` 1 stands next to the question, the newest or that of the highest score.

    There are no rows where the forum does not tell how it chooses, and of the part of a log that one agent heard.
    """
    began = next((told.event for told in log if isinstance(told.event, SocietyBegan)), None)
    opened = next((told.event for told in log if isinstance(told.event, ForumOpened)), None)
    number = {being.player: being.agent for being in began.agents} if began else {}
    try:
        return Frame(COLUMNS, tuple(_shown(log, number, opened.forum)) if opened else ())
    except _NotAllHeard:
        return Frame(COLUMNS, ())


class _NotAllHeard(Exception):
    """The log lacks the deeds of an agent that was awake."""


def _shown(log: Sequence[LogEntry], number: Mapping[str, int], forum: Forum) -> Iterator[tuple[Cell, ...]]:
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
