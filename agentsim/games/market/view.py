"""View: what one agent may know, as plain data. How it is put into words is `prompts`."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.prompt import quoted
from agentsim.engine.schema import Number
from agentsim.games.market.artifact import Capability
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.memory import Memory, Signal, Tape
from agentsim.games.market.order_book import Side
from agentsim.games.market.state import Agent, Market


@dataclass(frozen=True, slots=True)
class Menu:
    """What every agent of one market may do and ask; one object for all requests."""

    head: str
    actions: tuple[Capability, ...]
    queries: tuple[Capability, ...]
    tools: tuple[Capability, ...]
    goods: tuple[str, ...]
    price_max: int | None
    memory_chars: int
    lenient: bool


@dataclass(frozen=True, slots=True)
class Holding:
    """Units of an asset; `free` of them are not reserved."""

    asset: str
    held: int
    free: int


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit that an agent of an experiment trades next: `number` of `total` in this period."""

    side: Side
    worth: int
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Observation:
    """An answer of this turn: what was asked, and what came; its parameters and the answer are lines of JSON."""

    query: str
    asked: str
    line: str


@dataclass(frozen=True, slots=True)
class Now:
    """One agent's view at its turn; `steps` are lines of JSON, `signals` what the market saw since its last turn.

    The first `stale` of these are of an earlier period: of its quotes none stands.
    """

    round: int
    period: int | None
    periods: int | None
    holdings: tuple[Holding, ...]
    values: tuple[tuple[str, int], ...]
    unit: Unit | None
    memory: str
    steps: tuple[str, ...]
    news: tuple[str, ...]
    signals: tuple[Signal, ...]
    stale: int = 0

    def free(self, asset: str) -> int:
        """How much of an asset is free."""
        return next((holding.free for holding in self.holdings if holding.asset == asset), 0)

    def held(self, asset: str) -> int:
        """How much of an asset there is."""
        return next((holding.held for holding in self.holdings if holding.asset == asset), 0)

    def worth(self, good: str) -> int | None:
        """What the next unit is worth to the agent, or costs it; None where it has no value of its own."""
        return dict(self.values).get(good) if self.unit is None else self.unit.worth


def menu_of(market: Market, head: str, *, memory_chars: int, lenient: bool) -> Menu:
    """What every agent may do."""
    actions = tuple(artifact.actions[name] for name, artifact in market.actions.items())
    prices = [price.high for action in actions if isinstance(price := action.parameters.get("price"), Number)]
    return Menu(
        head=head,
        actions=actions,
        queries=tuple(artifact.queries[name] for name, artifact in market.queries.items()),
        tools=tuple(market.tools.values()),
        goods=market.world.goods,
        price_max=prices[0] if prices else None,
        memory_chars=memory_chars,
        lenient=lenient,
    )


def now_of(
    market: Market,
    agent: Agent,
    memory: Memory,
    tape: Tape | None,
    *,
    window: int,
    period: tuple[int | None, int | None],
) -> Now:
    """What the agent may know now; the tape is for who is shown what is quoted and traded."""
    account = market.world.ledger.accounts[agent.id]
    assets = (CAPITAL, *market.world.goods)
    unit = None
    if agent.side is not None and agent.active:
        unit = Unit(agent.side, agent.units[agent.done], agent.done + 1, len(agent.units))
    signals = () if tape is None else tape.since(memory.turn, at_once=memory.at_once)
    return Now(
        round=market.world.round,
        period=period[0],
        periods=period[1],
        holdings=tuple(Holding(asset, account.amount(asset), account.free(asset)) for asset in assets),
        values=tuple(agent.values.items()),
        unit=unit,
        memory=memory.working_memory,
        steps=tuple(memory.steps)[-window:],
        news=tuple(quoted(**each) for each in memory.since.news),
        signals=signals,
        stale=0 if tape is None else tape.stale(len(signals)),
    )
