"""A turn: what an agent knows, what it is asked, and what comes of its answers; before them all, the briefing.

The text that never changes comes first, the same for all agents as far as possible; then the agent's own; then its
latest steps, at most as many as the window; then the question. A reply outside the format forfeits its stage, and an
action's artifact decides whether it can be done.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import groupby, islice, pairwise
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

from agentsim.engine import (
    Choice,
    Decision,
    Event,
    LoggedEvent,
    Number,
    Options,
    Prompt,
    Request,
    Table,
    Text,
    joined,
    quoted,
)
from agentsim.engine.menu import TOOLS, ActionRefused, MenuItem, use_tool, variant
from agentsim.engine.options import FormField, LegalValues
from agentsim.engine.wording import If, bounded, counted, cut, listed
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.games.market.artifacts.dialogue import EVERYONE
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.experiment import Session
from agentsim.games.market.interviews import EVERYBODY, InterviewAnswer, Questioned, Resumed
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.restrictions import Scope
from agentsim.games.market.rules_text import SYSTEM_TEXT, in_two, words
from agentsim.games.market.state import NO_QUERY, SKIP, Agent, Market, OrderDrawn, PeriodBegan
from agentsim.games.market.world import Side, Trade
from agentsim.lazy import dataclass

# -- the ticker: the latest quotes and trades that all agents have heard of


MOST_SIGNALS = 500  # that are kept at least
MOST_SHOWN = 100  # in one line of a prompt


@dataclass(frozen=True, slots=True)
class Signal:
    """A public event in the market: a quote that rests in the book (`traded` is False), or a trade.

    `side` is that of the incoming order, or None if there was none; `price` is that of the quote or the trade.
    """

    good: str
    side: Side | None
    price: int
    traded: bool


_QUOTES = {"buy": "bid", "sell": "ask", None: ""}


def ticker_line(signals: Sequence[Signal], openings: Sequence[int] = ()) -> str:
    """Return quotes and trades in words, oldest first; `openings` are the places before which a period began.

    Equal ones in a row are counted, such as the trades of a call auction.
    """
    shown = signals[-MOST_SHOWN:]
    missed = len(signals) - len(shown)
    words = [f"{missed} earlier ones are not shown"] if missed else []
    goods = dict.fromkeys(signal.good for signal in shown)
    starts = sorted({0, len(shown), *(each - missed for each in openings if each > missed)})
    for start, end in pairwise(starts):
        words += ["a new period began"] * (start > 0)
        for signal, same in groupby(shown[start:end]):
            good, count = "" if len(goods) == 1 else f"{signal.good} ", len(list(same))
            what = "traded at" if signal.traded else _QUOTES[signal.side]
            words.append(f"{good}{what} {signal.price}" + (f" ({count} times)" if count > 1 else ""))
    words += ["a new period began"] * (len(signals) in openings)
    return f"{'; '.join(words)}."


class Ticker:
    """The latest quotes and trades that all have heard of; `opened` is how many there were when each period began."""

    def __init__(self, player: str) -> None:
        self.total = 0
        self.opened: list[int] = []
        self._kept: list[tuple[LoggedEvent, Signal]] = []  # with the event that told of each
        self._drawn: dict[int, int] = {}  # by round, how many there were when its order was drawn
        self._placed: tuple[Signal, int] | None = None  # a quote, and how many units of its order trade before it rests

    def hear(self, entry: LoggedEvent) -> None:
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
            self.opened.append(self.total)

    def before(self, turn: LoggedEvent | None, *, simultaneous: bool) -> int:
        """Return how many quotes and trades there were when an agent's turn began; `turn` is what it did then.

        None stands for no turn at all. Only the last `MOST_SIGNALS` are kept, and earlier turns began before those.
        """
        if turn is None:
            return 0
        if simultaneous:
            return self._drawn[turn.round]
        later = bisect_left(self._kept, True, key=lambda kept: _after(kept[0], turn))
        return self.total - len(self._kept) + later

    def between(self, first: int, end: int) -> tuple[Signal, ...]:
        """Return the quotes and trades after the first `first` and up to `end`, as far as they are kept."""
        gone = self.total - len(self._kept)
        return tuple(signal for _, signal in self._kept[max(0, first - gone) : max(0, end - gone)])

    def line(self, first: int, end: int) -> str:
        """Return the same in words, or "" for none."""
        signals = self.between(first, end)
        start = end - len(signals)
        return ticker_line(signals, [each - start for each in self.opened if start < each <= end]) if signals else ""

    def stale(self, count: int) -> int:
        """Return how many of the last `count` are of an earlier period, whose quotes are withdrawn."""
        opened = self.opened[-1] if self.opened else 0
        return min(count, max(0, opened - (self.total - count)))

    def _quoted(self, quote: Signal, trading: int, entry: LoggedEvent) -> None:
        """Add a quote once the units of its order that trade at once have been told, which is after the order."""
        self._placed = (quote, trading) if trading else None
        if not trading:
            self._append(quote, entry)

    def _append(self, signal: Signal, entry: LoggedEvent) -> None:
        self._kept.append((entry, signal))
        self.total += 1
        if len(self._kept) >= 2 * MOST_SIGNALS:
            del self._kept[:-MOST_SIGNALS]


def _after(entry: LoggedEvent, turn: LoggedEvent) -> bool:
    """Return whether an event was told after a turn began; what no agent did comes after all turns of its round."""
    return entry.round >= turn.round if entry.decision is None else entry.decision >= (turn.decision or 0)


# -- what one agent may know


D = TypeVar("D", bound=Decision)


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that an agent may do and ask; one object for all agents with the same artifacts and tools."""

    actions: tuple[MenuItem, ...]
    queries: tuple[MenuItem, ...]
    tools: tuple[MenuItem, ...]
    goods: tuple[str, ...]
    price_max: int | None
    memory_chars: int
    lenient: bool
    explains: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit that an agent of an experiment trades next: `number` of `total` in this period."""

    side: Side
    worth: int
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Now:
    """One agent's view at its turn; `steps` are lines of JSON, `signals` the quotes and trades since its last turn.

    `rounds` are those of the market, `left` those of the period after this one. `held` are units by asset, of which
    `free` are not reserved. `shown` is what artifacts show without being asked, by their names. The first `stale`
    signals are of an earlier period, whose quotes are withdrawn. `resumed` says that the agent was interviewed since
    its last turn.
    """

    round: int
    rounds: int
    period: int | None
    periods: int | None
    left: int | None
    held: Mapping[str, int]
    free: Mapping[str, int]
    values: Mapping[str, int]
    unit: Unit | None
    memory: str
    steps: tuple[str, ...]
    news: tuple[str, ...]
    shown: Mapping[str, Mapping[str, Any]]
    signals: tuple[Signal, ...]
    stale: int = 0
    resumed: bool = False

    def worth(self, good: str) -> int | None:
        """Return what the next unit is worth to the agent, or costs it, or None without a private value."""
        return self.values.get(good) if self.unit is None else self.unit.worth

    def lines(self) -> tuple[str, ...]:
        """Return the agent's situation in words: first what changes rarely, last what a decision depends on most."""
        return (
            *(["YOUR LAST STEPS:", *self.steps] if self.steps else []),
            joined("WORKING MEMORY: ", quoted(text=self.memory)),
            *(["SINCE YOUR LAST TURN:", *self.news] if self.news else []),
            *([self._ticker()] if self.signals else []),
            *(["The moderator says: RESUME"] if self.resumed else []),
            self._time(),
            f"INVENTORY: {', '.join(self._amount(asset) for asset in self.held)}.",
            *(joined(f"{name.upper()}: ", quoted(**found)) for name, found in self.shown.items()),
            *self._worth(),
        )

    def _time(self) -> str:
        if self.period is None:
            return f"ROUND {self.round} of {self.rounds} at most."
        more = f"after {counted(self.left, 'more round')}, or once no trade is possible" if self.left else ""
        return f"ROUND {self.round}. PERIOD {self.period} of {self.periods} ends {more or 'with this round'}."

    def _amount(self, asset: str) -> str:
        held, free = self.held[asset], self.free[asset]
        return f"{asset} {held}" if held == free else f"{asset} {held} ({free} free)"

    def _worth(self) -> Iterator[str]:
        if self.values:
            worth = ", ".join(f"{good} {value}" for good, value in self.values.items())
            yield f"Your private value of a unit: {worth}."
        if unit := self.unit:
            what = "You buy. This unit is worth" if unit.side == "buy" else "You sell. This unit costs you"
            yield f"{what} {unit.worth}: it is number {unit.number} of {unit.total} in this period."

    def _ticker(self) -> str:
        goods = dict.fromkeys(signal.good for signal in self.signals)
        of = f" of {next(iter(goods))}" if len(goods) == 1 else ""
        stale = " Quotes of the earlier period no longer rest." if self.stale else ""
        return f"TICKER{of} since your last turn, newest last: {ticker_line(self.signals, [self.stale])}{stale}"


class MarketRequest(Request[D]):
    """Base of all questions: the instructions, what the agent may do, and what it knows now.

    The instructions have a `head` that all agents share, and a `tail` of the agent's own.
    """

    unshown: ClassVar[Mapping[str, str]] = {
        "menu": "the system text has it for every stage; a question shows its own part",
        "now.stale": "said where quotes of an earlier period are shown, which only an experiment has",
        "scope": "what an action may name; the person's form and the check go by it",
        "observed.#.agent": "the player itself",
    }
    labels: ClassVar[Mapping[str, str]] = {
        "working_memory": "your notes for later (private)",
        "action": "your action",
        "query": "your question to the market",
        "text": "your words",
        "answer": "your answer",
    }

    menu: Menu
    head: str
    tail: str
    now: Now

    def state(self) -> tuple[str, ...]:
        return self.now.lines()

    def asks(self) -> tuple[str, ...]:
        raise NotImplementedError

    def prompt(self) -> Prompt:
        return Prompt(tuple(filter(None, (self.head, self.tail))), (), self.state(), self.asks())

    def fingerprint_fields(self) -> Mapping[str, Any]:
        holdings = [[asset, held, self.now.free[asset]] for asset, held in self.now.held.items()]
        return {"round": self.now.round, "period": self.now.period, "holdings": holdings}


# -- the briefing and interviews


UNCLEAR = "unclear"


class Briefed(
    Event,
    label="briefing",
    heading=("{agent} ", If("understood", "is ready", "does not understand")),
    words="text",
    private=("agent",),
):
    """An agent's answer to the briefing."""

    agent: str
    understood: bool
    text: str


def _as_text(given: Any) -> Any:
    """Return working memory as text: what is no string becomes its JSON, so that it never spoils an action."""
    return given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)


Memo: TypeAlias = Annotated[str, BeforeValidator(_as_text)]


class BriefingAnswered(Decision):
    """The answer to a briefing: a skip if the agent understands, else in words what is unclear."""

    action: Annotated[str, Choice((SKIP, UNCLEAR))]
    working_memory: Annotated[Memo, lambda asked: Text(asked.menu.memory_chars)] = ""


class Brief(MarketRequest[BriefingAnswered], kind="briefing"):
    """The question whether an agent understands what is asked of it."""

    unshown: ClassVar[Mapping[str, str]] = {
        **MarketRequest.unshown,
        "now": "a briefing comes before there is anything to see",
    }

    def state(self) -> tuple[str, ...]:
        return ()

    def asks(self) -> tuple[str, ...]:
        return (
            "The simulation is about to begin. If you understand what is asked of you, answer skip, and write what you "
            "want to remember as working_memory. If not, answer unclear, and write there what you do not understand. "
            f"{self.answer_line}",
        )

    def decision_of_prose(self, words: str) -> BriefingAnswered:
        """Return a reply without an object as the words in which the agent does not understand."""
        return BriefingAnswered(action=UNCLEAR, working_memory=cut(words, self.menu.memory_chars))

    def fallback(self) -> BriefingAnswered:
        return BriefingAnswered(action=UNCLEAR)


async def brief(turns: Turns) -> None:
    """Brief all agents at once, and tell each its answer."""
    table, most = turns.table, turns.config.working_memory_chars
    asked = [turns.request(Brief, agent) for agent in turns.market.agents.values()]
    for request, given in zip(asked, await table.ask_all(asked), strict=True):
        agent, text = request.player, cut(given.working_memory, most)
        table.tell(Briefed(agent, given.action == SKIP, text), to=(agent,), by=agent)


class Interviewed(Questioned, MarketRequest[InterviewAnswer], kind="interview"):
    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *self.so_far())

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"round": self.now.round}


# -- the stages


MOST_PARAMETERS = 400  # characters of an action's or a query's parameters that are kept
LACKED_CHARS = 200
Stage: TypeAlias = Literal["query", "action"]


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _known(value) for name, value in parameters.items() if value is not None}


def _known(value: Any) -> Any:
    """Return a value without its nulls, which tell nothing."""
    if isinstance(value, Mapping):
        return given(value)
    return [_known(part) for part in value] if isinstance(value, list | tuple) else value


class Observed(Event, label="query", heading="{agent} asks for {query}", private=("agent",)):
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
        """The parameters without nulls, which a schema gives for fields left out."""
        return given(self.parameters)

    @property
    def answer(self) -> dict[str, Any]:
        """The observation without nulls, as its agent reads it."""
        return given(self.observation)

    @property
    def turned_away(self) -> bool:
        return "refused" in self.observation


class Forfeited(
    Event,
    label="forfeited turn",
    heading="{agent} forfeits its {stage}",
    content=("The reply was outside the format", If("lacked", ": {lacked}", ".")),
    private=("agent",),
):
    """A reply was outside the format, and its stage is lost; `lacked` says what was wrong."""

    agent: str
    stage: Stage
    lacked: str = ""
    turned_away = True


class Acted(
    Event,
    label="action",
    heading=("{agent}: {action}", If("accepted", "", " (refused)")),
    content="{result}",
    private=("agent",),
):
    """An agent's action; `result` is the message for the agent, or the reason if the action is refused."""

    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def turned_away(self) -> bool:
        return not self.accepted


class Remembered(Event, label="working memory", heading="{agent}'s working memory", words="text", private=("agent",)):
    """The working memory that an agent wrote; no other agent reads it."""

    agent: str
    text: str


def _parameters(given: Any) -> Any:
    """Return the parameters as an object: "None", null and "" are no parameters."""
    return {} if given is None or (isinstance(given, str) and given.strip() in {"", "None"}) else given


Parameters: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_parameters)]


class QueryChosen(Decision):
    """A query or a tool, with parameters; a `query` of None is a forfeit, given by the fallback alone."""

    query: str | None
    query_parameters: Parameters = Field(default={})


class QueryForfeited(QueryChosen):
    """A forfeit that says what its reply `lacked`."""

    query: None = None
    lacked: str = ""


def _nothing(name: str) -> MenuItem:
    """Return the choice of no capability, which takes no parameters."""
    return MenuItem(name, "does nothing")


class StageRequest(MarketRequest[D]):
    """Base of the questions of a turn; `observed` are the answers that the turn has brought so far."""

    observed: tuple[Observed, ...] = ()

    def in_private(self, said: Mapping[str, Any]) -> bool:
        return isinstance(to := said.get("to"), str) and EVERYONE not in to.casefold()

    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *map(_in_words, self.observed))


def _in_words(seen: Observed) -> str:
    asked = (" ", quoted(**seen.asked)) if seen.asked else ()
    return joined(f"OBSERVATION ({seen.query}", *asked, "): ", quoted(**seen.answer))


class AskQuery(StageRequest[QueryChosen], kind="query"):
    """The question what an agent wants to know before it acts."""

    calls_left: int = 0

    @property
    def offered(self) -> Mapping[str, MenuItem]:
        """Queries, and tools while any call is left; by name."""
        return {each.name: each for each in (*self.menu.queries, *(self.menu.tools if self.calls_left else ()))}

    def options(self) -> Options:
        names = Choice((NO_QUERY, *self.offered), if_null=NO_QUERY, about="name")
        return {"query": names, "query_parameters": variant("query", (_nothing(NO_QUERY), *self.offered.values()))}

    def asks(self) -> tuple[str, ...]:
        queries, tools = ([each.name for each in offered] for offered in (self.menu.queries, self.menu.tools))
        one = f" Name one query: {', '.join((NO_QUERY, *queries))}." if queries else f" Name {NO_QUERY} to go on."
        use = f" Before it you may use tools, {counted(self.calls_left, 'more time')}: {', '.join(tools)}."
        more = use if tools and self.calls_left else ""
        return (f"QUERY: what do you want to know before you act?{one}{more} {self.answer_line}",)

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "calls": self.calls_left}

    def check(self, decision: QueryChosen) -> None:
        if decision.query is not None:
            super().check(decision)

    def fallback(self) -> QueryChosen:
        return QueryChosen(query=None)

    def fallback_after(self, problem: str) -> QueryChosen:
        return QueryForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()


class ActionChosen(Decision):
    """An action and what the agent wants to remember; an `action` of None is a forfeit, given by the fallback alone."""

    action: str | None
    action_parameters: Parameters = Field(default={})
    working_memory: Memo = ""


class ActionForfeited(ActionChosen):
    """A forfeit that says what its reply `lacked`."""

    action: None = None
    lacked: str = ""


SKIPPED = ActionChosen(action=SKIP)


class Act(StageRequest[ActionChosen], kind="action"):
    """The question what an agent does; the artifact decides whether it can be done."""

    scope: Scope = field(default_factory=Scope)

    @property
    def object_first(self) -> bool:  # type: ignore[override] # a setting of the market
        return not self.menu.lenient

    @cached_property
    def actions(self) -> tuple[MenuItem, ...]:
        """Every action but those that the agent's scope bars."""
        barred = self.scope.barred
        return tuple(each for each in self.menu.actions if each.name not in barred) if barred else self.menu.actions

    @property
    def names(self) -> tuple[str, ...]:
        return (SKIP, *(each.name for each in self.actions))

    def options(self) -> Options:
        return {
            "action": Choice(self.names, about="name"),
            "action_parameters": variant("action", (_nothing(SKIP), *self.actions)),
            "working_memory": Text(self.menu.memory_chars, "why you choose this action, and what to remember"),
        }

    def asks(self) -> tuple[str, ...]:
        begin = "" if self.menu.lenient else " Answer with one JSON object and nothing before it."
        return (f"ACTION: what do you do? Choose one of {', '.join(self.names)}.{begin} {self.answer_line}",)

    def check(self, decision: ActionChosen) -> None:
        # a barred action is valid in form, and is refused in the words of its restriction
        if decision.action not in {None, SKIP, *(each.name for each in self.menu.actions)}:
            raise IllegalDecision(f"action must be one of: {', '.join(self.names)}.")

    def form_field(self, path: str, option: LegalValues, answered: Mapping[str, Any]) -> FormField:
        if path == "working_memory":
            return FormField(option, f"at most {counted(self.menu.memory_chars, 'character')}", preset="")
        if path == "action_parameters.to" and option.kind == "choice":
            return FormField(Choice(tuple(each for each in option.values if each != self.player)))
        if path == "action_parameters.order":
            return FormField(option, ", ".join(each.words for each in self.scope.orders))
        most = self.scope.most.get(str(answered.get("action")))
        if path == "action_parameters.amount" and most is not None:
            return FormField(option, f"1 to {most}" if most else "none can be now")
        return super().form_field(path, option, answered)

    def decision_of(self, said: Mapping[str, Any]) -> ActionChosen:
        missing = ActionChosen.model_fields.keys() - said.keys()
        if missing and self.object_first:
            raise UnreadableReply(f"The object lacks {listed([f'`{name}`' for name in sorted(missing)])}.")
        return super().decision_of(said)

    def fallback(self) -> ActionChosen:
        return ActionChosen(action=None)

    def fallback_after(self, problem: str) -> ActionChosen:
        return ActionForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()


def offers(turns: Turns, turn: Turn) -> bool:
    """Return whether there is anything that the agent may still ask for in its turn."""
    menu = turns.menus[turn.agent.id]
    return bool(menu.queries or (menu.tools and turn.calls < turns.config.tool_calls))


def observe(turns: Turns, turn: Turn, chosen: QueryChosen) -> bool:
    """Answer a query or use a tool, and return whether the agent may ask again."""
    agent, name, market = turn.agent, chosen.query, turns.market
    if name is None:
        turns.table.tell(Forfeited(agent.id, "query", getattr(chosen, "lacked", "")), to=(agent.id,), by=agent.id)
    if name is None or name == NO_QUERY:
        return False
    is_tool = name in market.tools
    try:
        if is_tool:
            found = use_tool(name, chosen.query_parameters, agent.notebook)
        else:
            artifact = market.queries[name]
            found = artifact.call(agent.id, name, artifact.queries[name].read(chosen.query_parameters))
    except ActionRefused as error:
        found = {"refused": str(error)}
    asked = bounded(chosen.query_parameters, MOST_PARAMETERS)
    seen = Observed(agent.id, name, asked, bounded(found, turns.config.observation_chars))
    turns.table.tell(seen, to=(agent.id,), by=agent.id)
    turn.calls += is_tool
    return is_tool and offers(turns, turn)


def act(turns: Turns, agent: Agent, chosen: ActionChosen, scope: Scope) -> None:
    """Carry an action out or refuse it, and keep what the agent writes for itself."""
    to, table = (agent.id,), turns.table
    if chosen.action is None:
        agent.forfeits += 1
        table.tell(Forfeited(agent.id, "action", getattr(chosen, "lacked", "")), to=to, by=agent.id)
        return
    given = bounded(chosen.action_parameters, MOST_PARAMETERS)
    try:
        accepted, result = True, _carried_out(turns, agent, chosen.action, chosen.action_parameters, scope)
    except ActionRefused as error:
        accepted, result = False, f"Refused: {error}"
        agent.refused += 1
    table.tell(Acted(agent.id, chosen.action, given, accepted, result), to=to, by=agent.id)
    if text := cut(chosen.working_memory, turns.config.working_memory_chars):
        table.tell(Remembered(agent.id, text), to=to, by=agent.id)


def _carried_out(turns: Turns, agent: Agent, name: str, said: Mapping[str, Any], scope: Scope) -> str:
    """Execute an action and return the message for its agent. Raises `ActionRefused`."""
    if name == SKIP:
        return "You skipped."
    artifact, world = turns.market.actions[name], turns.market.world
    given = artifact.actions[name].read(said)
    what, _, _ = scope.meant(name, given)
    if not agent.active and what in {"buy", "sell"}:  # if all act on one state, its last unit may be gone by now
        raise ActionRefused("you have no unit left to trade in this period")
    scope.forbid(agent, name, given)
    world.acting = agent.id
    try:
        return str(artifact.call(agent.id, name, given))
    finally:
        world.acting = None


# -- an agent's memory, of the events that it hears and of nothing else


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
    own action can cause the latter. `begun`: a turn is going on in which others act too (`SimultaneousMemory`).
    """

    simultaneous: ClassVar[bool] = False
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
        began = [ticker.before(turn, simultaneous=self.simultaneous) for turn in turns]
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
            case OrderDrawn() if self.simultaneous:
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


class SimultaneousMemory(Memory):
    """The memory of one agent when all decide at once: a turn begins as the order of its round is drawn."""

    simultaneous: ClassVar[bool] = True


# -- the turns of a market


SHOWN_CHARS = 400  # of what an artifact shows at every turn
R = TypeVar("R")


@dataclass
class Turn:
    """One agent's turn so far."""

    agent: Agent
    now: Now
    calls: int = 0


@dataclass(frozen=True)
class Turns:
    """The turns of one market; `head` are the instructions that all agents share, `tails` go on with each agent's."""

    table: Table
    market: Market
    config: MarketConfig
    menus: Mapping[str, Menu]
    head: str
    tails: Mapping[str, str]
    session: Session | None

    @classmethod
    def of(cls, table: Table, market: Market, config: MarketConfig, session: Session | None) -> Turns:
        """Return the turns of a market whose agents are endowed."""
        menus = _menus(market, config)
        text = SYSTEM_TEXT if config.system_prompt is None else config.system_prompt.text
        return cls(table, market, config, menus, *in_two(text, words(market, config)), session)

    def request(self, kind: Callable[..., R], agent: Agent, now: Now | None = None, **more: Any) -> R:
        """Build a request to an agent, which knows what it knows `now`."""
        text = {"head": self.head, "tail": self.tails[agent.id]}
        return kind(player=agent.id, menu=self.menus[agent.id], **text, now=now or self.now(agent), **more)

    def now(self, agent: Agent) -> Now:
        config, memory = self.config, self._memory(agent)
        period, periods = (None, None) if self.session is None else (self.session.period, self.session.config.periods)
        unit, ticker, signals, stale = None, None, tuple[Signal, ...](), 0
        if agent.side is not None and agent.active:
            unit = Unit(agent.side, agent.units[agent.done], agent.done + 1, len(agent.units))
        if config.shows_ticker:
            ticker = self.table.memory(EVERYBODY, Ticker)
            signals = ticker.between(ticker.before(memory.turn, simultaneous=memory.simultaneous), ticker.total)
            stale = ticker.stale(len(signals))
        world = self.market.world
        shown = {
            name: {**({} if config.queries else artifact.quotes()), **artifact.shown(agent.id)}
            for name, artifact in self.market.used_by(agent).items()
        }
        return Now(
            round=world.round,
            rounds=config.most_rounds,
            period=period,
            periods=periods,
            left=world.left,
            held=agent.held,
            free=agent.free,
            values=agent.values,
            unit=unit,
            memory=memory.working_memory,
            steps=memory.last_steps(config.window, ticker),
            news=tuple(quoted(**each) for each in memory.news),
            shown={name: bounded(found, SHOWN_CHARS) for name, found in shown.items() if found},
            signals=signals,
            stale=stale,
            resumed=memory.resumed,
        )

    async def take(self, agents: Sequence[Agent]) -> None:
        """Let all of these agents query and decide on the same state, then carry out their actions in this order."""
        turns = [Turn(agent, self.now(agent)) for agent in agents]
        asking = [turn for turn in turns if self.config.queries and offers(self, turn)]
        while asking:  # tools as often as they may be used, and one query
            left = [self.config.tool_calls - turn.calls for turn in asking]
            queries = [
                self._request(AskQuery, turn, calls_left=calls) for turn, calls in zip(asking, left, strict=True)
            ]
            answers = await self.table.ask_all(queries)
            asking = [turn for turn, chosen in zip(asking, answers, strict=True) if observe(self, turn, chosen)]
        requests = [self._request(Act, turn, scope=self._scope(turn.agent)) for turn in turns]
        for request, turn, chosen in zip(requests, turns, await self.table.ask_all(requests), strict=True):
            # what others do at the same moment may have changed what the agent can do
            act(self, turn.agent, chosen, self._scope(turn.agent) if self.config.simultaneous else request.scope)

    def _request(self, kind: Callable[..., R], turn: Turn, **more: Any) -> R:
        observed = self._memory(turn.agent).observed if self.config.queries else ()
        return self.request(kind, turn.agent, turn.now, observed=observed, **more)

    def _memory(self, agent: Agent) -> Memory:
        return self.table.memory(agent.id, SimultaneousMemory if self.config.simultaneous else Memory)

    def _scope(self, agent: Agent) -> Scope:
        artifacts = self.market.artifacts.values()
        orders = tuple(order for artifact in artifacts for order in artifact.orders(agent.id))
        bounding = () if self.config.simultaneous else artifacts
        most = {name: most for each in bounding for name, most in each.most(agent.id).items()}
        return Scope(agent.restrictions, orders, most, self.market.meaning)


def _menus(market: Market, config: MarketConfig) -> dict[str, Menu]:
    """Return the menu of each agent; agents that can use the same share one object."""
    made: dict[tuple[Sequence[str], Sequence[str]], Menu] = {}
    menus = {}
    for agent in market.agents.values():
        key = agent.artifacts, agent.tools
        if key not in made:
            used = market.used_by(agent).values()
            actions = tuple(each for artifact in used for each in artifact.actions.values())
            queries = tuple(each for artifact in used for each in artifact.queries.values())
            prices = [price.high for action in actions if isinstance(price := action.parameters.get("price"), Number)]
            made[key] = Menu(
                actions=actions,
                queries=queries if config.queries else (),
                tools=tuple(each for tool in agent.tools for each in TOOLS[tool]),
                goods=market.world.goods,
                price_max=prices[0] if prices else None,
                memory_chars=config.working_memory_chars,
                lenient=config.lenient_format,
                explains=config.explain_forfeits,
            )
        menus[agent.id] = made[key]
    return menus
