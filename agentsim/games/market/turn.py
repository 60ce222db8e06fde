"""Turns: the stages of a turn, for one agent or for several that decide on the same state. `game` has the rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agentsim.engine import Number, Table, quoted
from agentsim.engine.capability import TOOLS
from agentsim.engine.prompt import bounded
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.experiment import Session
from agentsim.games.market.memory import Memory, MemoryAtOnce
from agentsim.games.market.moderator import EVERYBODY
from agentsim.games.market.restrictions import Scope
from agentsim.games.market.rules_text import SYSTEM_TEXT, in_two, words
from agentsim.games.market.stages import Act, AskQuery, act, observe, offers
from agentsim.games.market.state import Agent, Market
from agentsim.games.market.ticker import Signal, Ticker
from agentsim.games.market.view import Menu, Now, Unit

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
            signals = ticker.between(ticker.before(memory.turn, at_once=memory.at_once), ticker.total)
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
        return self.table.memory(agent.id, MemoryAtOnce if self.config.simultaneous else Memory)

    def _scope(self, agent: Agent) -> Scope:
        artifacts = self.market.artifacts.values()
        orders = tuple(order for artifact in artifacts for order in artifact.orders(agent.id))
        bounding = () if self.config.simultaneous else artifacts
        most = {name: most for each in bounding for name, most in each.most(agent.id).items()}
        closed = frozenset().union(*(artifact.barred(agent.id) for artifact in artifacts))
        return Scope(agent.restrictions, orders, most, self.market.meaning, closed)


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
