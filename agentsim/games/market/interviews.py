"""Interviews: what is said between the moderator and an agent, and what the moderator knows of the market."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from agentsim.engine import Event, LogEntry
from agentsim.games.market.trade import Trade

SHOWN_INTERVIEWS = 6
SHOWN_TRADES = 10


class Paused(Event, heading="The moderator to {agent}", content="PAUSE", private=("agent",)):
    agent: str


class Asked(Event, heading="The moderator asks {agent}", words="question", private=("agent",)):
    agent: str
    question: str


class Answered(Event, heading="{agent} answers the moderator", words="text", private=("agent",)):
    agent: str
    text: str


class Resumed(Event, heading="The moderator to {agent}", content="RESUME", private=("agent",)):
    agent: str


class Heard:
    """The latest interviews that an agent or the moderator has heard, and the latest trades in words; oldest first."""

    def __init__(self, who: str) -> None:
        self.interviews: deque[tuple[str, Mapping[str, str]]] = deque(maxlen=SHOWN_INTERVIEWS)
        self.trades: deque[str] = deque(maxlen=SHOWN_TRADES)
        self._asked: dict[str, str] = {}

    def hear(self, entry: LogEntry) -> None:
        match entry.event:
            case Asked(agent=agent, question=question):
                self._asked[agent] = question
            case Answered(agent=agent, text=text):
                self.interviews.append((agent, {"question": self._asked[agent], "answer": text}))
            case Trade() as made:
                bought = f"{entry.round}: {made.buyer} bought {made.quantity} {made.good}"
                self.trades.append(f"{bought} of {made.seller} at {made.price}.")
