"""Memory: what an agent has gone through: its last steps, what it wrote down, and what it has heard since its turn.

It is made of the events that the agent hears, and of nothing else. So is the tape, of what all of them hear.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from agentsim.engine import Event, LogEntry, quoted
from agentsim.engine.moderator import Resumed
from agentsim.engine.wording import If
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.state import OrderDrawn, PeriodBegan
from agentsim.games.market.trade import Side, Trade

MOST_NEWS = 20
NEWS_CHARS = 1_500
MOST_STEPS = 50
MOST_SIGNALS = 500


def _given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _known(value) for name, value in parameters.items() if value is not None}


def _known(value: Any) -> Any:
    """A value without what is null in it, which tells nothing."""
    if isinstance(value, Mapping):
        return _given(value)
    return [_known(part) for part in value] if isinstance(value, list | tuple) else value


Stage: TypeAlias = Literal["query", "action"]


class Briefed(
    Event, heading=("{agent} ", If("understood", "is ready", "does not understand")), words="text", private=("agent",)
):
    """What an agent answered to the briefing."""

    agent: str
    understood: bool
    text: str


class Observed(Event, heading="{agent} asks for {query}", private=("agent",)):
    """An agent asked an artifact or a tool something; `observation` is the answer, for it alone."""

    agent: str
    query: str
    parameters: dict[str, Any]
    observation: dict[str, Any]

    @property
    def content(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.observation.items()) or "Nothing."

    @property
    def asked(self) -> dict[str, Any]:
        """The parameters that were given; a schema's fields that were not asked for come as nulls."""
        return _given(self.parameters)

    @property
    def answer(self) -> dict[str, Any]:
        """The observation as its agent reads it, without nulls."""
        return _given(self.observation)

    @property
    def turned_away(self) -> bool:
        return "refused" in self.observation


class Acted(Event, heading=("{agent}: {action}", If("accepted", "", " (refused)")), content="{result}"):
    """What an agent chose to do, and what came of it; `result` is what it is told, the reason where it is refused."""

    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def turned_away(self) -> bool:
        return not self.accepted


class Forfeited(
    Event,
    heading="{agent} forfeits its {stage}",
    content=("The reply was outside the format", If("lacked", ": {lacked}", ".")),
):
    """A reply was outside the format: the action of this round, or the query, is lost. `lacked` says what was wrong."""

    agent: str
    stage: Stage
    lacked: str = ""
    turned_away = True

    def data(self) -> dict[str, Any]:
        """Histories of earlier rules, which do not say what was wrong, have no such field."""
        return {name: value for name, value in super().data().items() if name != "lacked" or value}


class Remembered(Event, heading="{agent}'s working memory", words="text", private=("agent",)):
    """The working memory an agent wrote; no other agent reads it."""

    agent: str
    text: str


@dataclass
class Since:
    """What was heard in some time: the latest news of `told`."""

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
    """A turn of an agent: what it had heard before, what it asked and was answered, and what it did."""

    round: int
    heard: Sequence[Mapping[str, Any]]
    observed: Sequence[Observed]
    done: Mapping[str, Any]

    def line(self, answered: set[str]) -> str:
        """As JSON, without queries that are `answered` later; those of this step join them."""
        observed = []
        for each in reversed(self.observed):
            asked = quoted(**{each.query: each.asked})
            if asked not in answered:
                observed.append({each.query: each.asked, "answer": each.answer})
            answered.add(asked)
        parts = {"heard": self.heard, "observed": observed[::-1]}
        return quoted(round=self.round, **{name: part for name, part in parts.items() if part}, **self.done)


class Memory:
    """Of one agent, where agents act one after the other: what is not its own doing came before its turn began.

    `known` is what came before the turn that is due or going on, `later` what came after it began. Where others act
    in the meantime, `begun` says that it has.
    """

    at_once: ClassVar[bool] = False
    skips: ClassVar[frozenset[type[Event]]] = frozenset({Ordered})  # by far the most that there is; it is on the tape

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.working_memory = ""
        self.steps: deque[Step] = deque(maxlen=MOST_STEPS)
        self.observed: tuple[Observed, ...] = ()
        self.known = Since()
        self.later = Since()
        self.begun = False
        self.resumed = False  # after an interview since its last turn
        self.turn: LogEntry | None = None  # what it did at last

    @property
    def news(self) -> tuple[Mapping[str, Any], ...]:
        """All that was heard since the last turn began."""
        return (self.known.followed_by(self.later) if self.later.told else self.known).news

    def last_steps(self, window: int) -> tuple[str, ...]:
        """The last so many, as lines of JSON, oldest first; of equal queries the last."""
        answered: set[str] = set()
        return tuple([step.line(answered) for step in islice(reversed(self.steps), window)][::-1])

    def hear(self, entry: LogEntry) -> None:
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
                self._step(entry, action=event.action, action_parameters=_given(event.parameters), result=event.result)
                self.working_memory = ""  # what it wrote is told next, if it wrote anything
            case Forfeited(stage="action"):
                self._step(entry, forfeited=event.content)
            case Forfeited():
                self.observed += (Observed(self.agent, "forfeited", {}, {"reason": event.content}),)
            case Resumed():
                self.resumed = True
            case Remembered() | Briefed(understood=True):
                self.working_memory = event.text

    def _step(self, entry: LogEntry, **done: Any) -> None:
        self.steps.append(Step(entry.round, self.known.news, self.observed, done))
        self.turn, self.observed, self.resumed = entry, (), False
        self.known, self.later, self.begun = self.later, Since(), False


class MemoryAtOnce(Memory):
    """Of one agent, where all decide at once: a turn begins as the order is drawn, for who has one in that round."""

    at_once: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Signal:
    """One public thing in the market: a quote that stands (`traded` False), or a trade.

    `side` is that of the order that came in, None where none did; `price` what it asks or offers, or what the trade was
    made at.
    """

    good: str
    side: Side | None
    price: int
    traded: bool


class Tape:
    """The latest quotes and trades that all have heard of; `opened` were there when the period began."""

    def __init__(self, everybody: str) -> None:
        self.total = 0
        self.opened = 0
        self._kept: deque[tuple[LogEntry, Signal]] = deque(maxlen=MOST_SIGNALS)  # with what told of each
        self._drawn: dict[int, int] = {}  # how many there were when the order of a round was drawn
        self._placed: tuple[Signal, int] | None = None  # a quote, and how many units of its order trade before

    def hear(self, entry: LogEntry) -> None:
        event = entry.event
        if isinstance(event, Ordered):
            self._placed = None
            if event.standing:
                quote = Signal(event.good, event.side, event.price, traded=False)
                self._quoted(quote, event.quantity - event.standing, entry)
        elif isinstance(event, Trade):
            self._append(Signal(event.good, event.side, event.price, traded=True), entry)
            if self._placed is not None:
                self._quoted(self._placed[0], self._placed[1] - event.quantity, entry)
        elif isinstance(event, OrderDrawn):
            self._drawn[event.round] = self.total
        elif isinstance(event, PeriodBegan):
            self.opened = self.total

    def since(self, turn: LogEntry | None, *, at_once: bool) -> tuple[Signal, ...]:
        """Those since an agent's turn began, as far as they are kept, oldest first; `turn` is what it did then."""
        if turn is None:
            return self.latest(self.total)
        if at_once:
            return self.latest(self.total - self._drawn[turn.round])
        new = takewhile(lambda kept: _after(kept[0], turn), reversed(self._kept))
        return tuple(signal for _, signal in new)[::-1]

    def latest(self, count: int) -> tuple[Signal, ...]:
        """The last so many, as far as they are kept; oldest first."""
        return tuple(signal for _, signal in islice(reversed(self._kept), count))[::-1]

    def stale(self, count: int) -> int:
        """How many of the last so many are of an earlier period: of their quotes none stands."""
        return min(count, max(0, self.opened - (self.total - count)))

    def _quoted(self, quote: Signal, trading: int, entry: LogEntry) -> None:
        """What is left of an order stands once the rest has traded, which is told after it."""
        self._placed = (quote, trading) if trading else None
        if not trading:
            self._append(quote, entry)

    def _append(self, signal: Signal, entry: LogEntry) -> None:
        self._kept.append((entry, signal))
        self.total += 1


def _after(entry: LogEntry, turn: LogEntry) -> bool:
    """Whether it was told after a turn began; what no agent did comes after all turns of its round."""
    return entry.round >= turn.round if entry.decision is None else entry.decision >= (turn.decision or 0)
