"""Views: what one agent may know, as plain data and in words; and the base of all questions to agents.

The text that never changes comes first, the same for all agents as far as possible; then the agent's own; then its
latest steps, at most as many as the window; then the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from agentsim.engine import Decision, Prompt, Request, joined, quoted
from agentsim.engine.capability import Capability
from agentsim.engine.wording import counted
from agentsim.games.market.ticker import Signal, ticker_line
from agentsim.games.market.world import Side

D = TypeVar("D", bound=Decision)


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that an agent may do and ask; one object for all agents with the same artifacts and tools."""

    actions: tuple[Capability, ...]
    queries: tuple[Capability, ...]
    tools: tuple[Capability, ...]
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
            yield f"What a unit is worth to you: {worth}."
        if unit := self.unit:
            what = "You buy. This unit is worth" if unit.side == "buy" else "You sell. This unit costs you"
            yield f"{what} {unit.worth}: it is number {unit.number} of {unit.total} in this period."

    def _ticker(self) -> str:
        goods = dict.fromkeys(signal.good for signal in self.signals)
        of = f" of {next(iter(goods))}" if len(goods) == 1 else ""
        stale = " Of the earlier period no quote stands." if self.stale else ""
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
