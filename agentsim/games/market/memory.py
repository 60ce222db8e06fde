"""Memory: an agent's last steps, what it wrote down, and what it has heard since its last turn.

It is made of the events that the agent hears, and of nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from agentsim.engine import Event, LoggedEvent, quoted
from agentsim.games.market.briefing import Briefed
from agentsim.games.market.moderator import Resumed
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.stages import Acted, Forfeited, Observed, Remembered, given
from agentsim.games.market.state import OrderDrawn

MOST_NEWS = 20
NEWS_CHARS = 1_500
MOST_STEPS = 50


@dataclass
class Since:
    """The news of some time: its latest lines, and the number `told` in all."""

    lines: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_NEWS))
    told: int = 0

    def followed_by(self, later: Since) -> Since:
        return Since(deque((*self.lines, *later.lines), maxlen=MOST_NEWS), self.told + later.told)

    @property
    def news(self) -> tuple[Mapping[str, Any], ...]:
        """The latest news, oldest first, after the number of those that are not shown."""
        shown, left = deque[Mapping[str, Any]](), NEWS_CHARS
        for line in reversed(self.lines):
            left -= len(quoted(**line))
            if left < 0 and shown:
                break
            shown.appendleft(line)
        missed = self.told - len(shown)
        return (*([{"earlier_and_not_shown": missed}] if missed else ()), *shown)


class Step(NamedTuple):
    """A turn of an agent: what it had heard before, its queries with their answers, and what it did."""

    round: int
    heard: Sequence[Mapping[str, Any]]
    observed: Sequence[Observed]
    done: Mapping[str, Any]

    def line(self, answered: set[str]) -> str:
        """Return the step as JSON without the queries in `answered`, to which it adds its own."""
        observed = []
        for each in reversed(self.observed):
            asked = quoted(**{each.query: each.asked})
            if asked not in answered:
                observed.append({each.query: each.asked, "answer": each.answer})
            answered.add(asked)
        parts = {"heard": self.heard, "observed": observed[::-1]}
        return quoted(round=self.round, **{name: part for name, part in parts.items() if part}, **self.done)


class Memory:
    """The memory of one agent in a market whose agents act one after the other.

    `known` is the news from before the turn that is due or going on, `later` the news since it began: only the agent's
    own action can cause the latter. `begun` says that a turn is going on in which others act too (`MemoryAtOnce`).
    """

    at_once: ClassVar[bool] = False
    skips: ClassVar[frozenset[type[Event]]] = frozenset({Ordered})  # by far the most frequent; the ticker has them

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.working_memory = ""
        self.steps: deque[Step] = deque(maxlen=MOST_STEPS)
        self.observed: tuple[Observed, ...] = ()
        self.known = Since()
        self.later = Since()
        self.begun = False
        self.resumed = False  # after an interview since its last turn
        self.turn: LoggedEvent | None = None  # the event of its last action

    @property
    def news(self) -> tuple[Mapping[str, Any], ...]:
        """All news since the last turn began."""
        return (self.known.followed_by(self.later) if self.later.told else self.known).news

    def last_steps(self, window: int) -> tuple[str, ...]:
        """Return the last steps as lines of JSON, oldest first; of equal queries only the last one is shown."""
        answered: set[str] = set()
        return tuple([step.line(answered) for step in islice(reversed(self.steps), window)][::-1])

    def hear(self, entry: LoggedEvent) -> None:
        event = entry.event
        if (news_for := getattr(event, "news_for", None)) is not None:
            if news := news_for(self.agent, entry.by):
                since = self.later if self.begun or entry.by == self.agent else self.known
                since.lines.append(news)
                since.told += 1
            return
        match event:
            case OrderDrawn() if self.at_once:
                self.known, self.later, self.begun = self.known.followed_by(self.later), Since(), True
            case Observed():
                self.observed += (event,)
            case Acted():
                self._step(entry, action=event.action, action_parameters=given(event.parameters), result=event.result)
                self.working_memory = ""  # if it wrote anything, that is told next
            case Forfeited(stage="action"):
                self._step(entry, forfeited=event.content)
            case Forfeited():
                self.observed += (Observed(self.agent, "forfeited", {}, {"reason": event.content}),)
            case Resumed():
                self.resumed = True
            case Remembered() | Briefed(understood=True):
                self.working_memory = event.text

    def _step(self, entry: LoggedEvent, **done: Any) -> None:
        self.steps.append(Step(entry.round, self.known.news, self.observed, done))
        self.turn, self.observed, self.resumed = entry, (), False
        self.known, self.later, self.begun = self.later, Since(), False


class MemoryAtOnce(Memory):
    """The memory of one agent when all decide at once: a turn begins as the order of its round is drawn."""

    at_once: ClassVar[bool] = True
