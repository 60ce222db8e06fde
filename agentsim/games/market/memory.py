"""Memory: an agent's last steps, what it wrote down, and what it has heard since its last turn.

It is made of the events that the agent hears, and of nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, ClassVar, NamedTuple

from agentsim.engine import Event, LoggedEvent, quoted
from agentsim.games.market.briefing import Briefed
from agentsim.games.market.moderator import Resumed
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.stages import Acted, Forfeited, Observed, Remembered, given
from agentsim.games.market.state import OrderDrawn
from agentsim.games.market.ticker import Ticker

MOST_NEWS = 20
NEWS_CHARS = 8_000
MOST_STEPS = 51  # the longest window, and the step before it


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
    """A turn of an agent: what it had heard before, its queries with their answers, and what it did in `turn`."""

    turn: LoggedEvent
    heard: Sequence[Mapping[str, Any]]
    observed: Sequence[Observed]
    done: Mapping[str, Any]

    def line(self, ticker: str) -> str:
        """Return the step as JSON; `ticker` are the quotes and trades that it was shown, or "" for none."""
        observed = [{each.query: each.asked, "answer": each.answer} for each in self.observed]
        parts = {"ticker": ticker, "heard": self.heard, "observed": observed}
        return quoted(round=self.turn.round, **{name: part for name, part in parts.items() if part}, **self.done)


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

    @property
    def news(self) -> tuple[Mapping[str, Any], ...]:
        """All news since the last turn began."""
        return (self.known.followed_by(self.later) if self.later.told else self.known).news

    @property
    def turn(self) -> LoggedEvent | None:
        """The event of its last action, or None before the first."""
        return self.steps[-1].turn if self.steps else None

    def last_steps(self, window: int, ticker: Ticker | None) -> tuple[str, ...]:
        """Return the last steps as lines of JSON, oldest first, each with what `ticker` showed in it."""
        last = list(islice(reversed(self.steps), window + 1))[::-1]
        steps = last[-window:]
        if ticker is None:
            return tuple(step.line("") for step in steps)
        turns = [None, *(step.turn for step in last)][-len(steps) - 1 :]
        began = [ticker.before(turn, at_once=self.at_once) for turn in turns]
        return tuple(step.line(ticker.line(*seen)) for step, seen in zip(steps, pairwise(began), strict=True))

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
        self.steps.append(Step(entry, self.known.news, self.observed, done))
        self.observed, self.resumed = (), False
        self.known, self.later, self.begun = self.later, Since(), False


class MemoryAtOnce(Memory):
    """The memory of one agent when all decide at once: a turn begins as the order of its round is drawn."""

    at_once: ClassVar[bool] = True
