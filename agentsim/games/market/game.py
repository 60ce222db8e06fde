"""The market for the engine: setup, rounds and the end. `turn` has the stages of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentsim.engine import Everyone, Outcome, PlayerId, Table
from agentsim.engine.chance import Chance
from agentsim.engine.game import Game
from agentsim.engine.memory import RecentEvents
from agentsim.engine.panel import Progress
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError
from agentsim.games.market import invariants, panels
from agentsim.games.market.artifacts.bank import Banked
from agentsim.games.market.artifacts.call_market import Called
from agentsim.games.market.artifacts.dialogue import EVERYONE, Messaged
from agentsim.games.market.artifacts.lmsr import Priced, Settled
from agentsim.games.market.artifacts.redemption import Redeemed
from agentsim.games.market.bots import BOTS
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.experiment import PeriodEnded, Session
from agentsim.games.market.interviews import (
    EVENTS,
    EVERYBODY,
    MODERATOR,
    NOBODY,
    STAFF,
    Moderate,
    Moderator,
)
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import Agent, Endowed, Market, MarketBegan, MarketEnded, OrderDrawn, PeriodBegan
from agentsim.games.market.turn import (
    Act,
    Acted,
    AskQuery,
    Brief,
    Briefed,
    Forfeited,
    Interviewed,
    Observed,
    Remembered,
    Turns,
    brief,
)
from agentsim.games.market.world import CAPITAL, TRADES, Exchanged, Noted, Reported, Trade, Transferred, World


class MarketGame(Game):
    """A market whose agents deal with each other through artifacts: a double auction, messages, a bank."""

    name = "market"
    title = "Market"
    summary = "agents trade and talk through artifacts such as a double auction"
    rules_version = 4
    config = MarketConfig
    requests = (Brief, AskQuery, Act, Interviewed, Moderate)
    events = (
        Exchanged,
        Traded,
        Ordered,
        Withdrawn,
        Transferred,
        Reported,
        Noted,
        Messaged,
        Redeemed,
        MarketBegan,
        Endowed,
        OrderDrawn,
        PeriodBegan,
        MarketEnded,
        PeriodEnded,
        Banked,
        Called,
        Priced,
        Settled,
        Briefed,
        Observed,
        Forfeited,
        Acted,
        Remembered,
        *EVENTS,
    )
    announcements = "restated"
    bots = BOTS
    typical = ("zi_c", "fundamentalist")
    staff = frozenset({MODERATOR})
    seats = (2, None)
    public_scores = True
    reserved = frozenset({NOBODY, EVERYBODY, EVERYONE})
    invariants = staticmethod(invariants.invariants)
    facts = panels.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(panels.truths)
    tables = staticmethod(panels.tables)
    panels = staticmethod(panels.panels)

    def admit(self, config: MarketConfig, players: Sequence[PlayerId]) -> None:
        super().admit(config, players)
        named = {player: "agents" for table in config.agents for player in table.ids}
        named |= {player: "moderator" for interview in config.moderator for player in interview.agents}
        named |= {player: "traits" for trait in config.traits for player in trait.agents}
        for player, key in named.items():
            if player not in players:
                raise ScenarioError(f"no agent is called {player[:40]}", key=f"game_config.{key}")
        if config.experiment is not None:
            wanted = len(config.experiment.buyers) + len(config.experiment.sellers)
            if len(players) != wanted:
                problem = f"the experiment has schedules for {counted(wanted, 'trader')}, and there are {len(players)}"
                raise ScenarioError(problem, key="players")
        late = [each.round for each in config.moderator if each.round > config.most_rounds]
        if late:
            raise ScenarioError(f"round {late[0]} is after the last one", key="game_config.moderator")
        try:  # artifacts may object to the number of agents, and must before anything is played
            Market.of(_world(Table(players, Chance(0)), config), config)
        except ValueError as error:
            raise ScenarioError(str(error), key="game_config.artifacts") from None

    async def play(self, table: Table, config: MarketConfig) -> Outcome:
        world = _world(table, config)
        for player in world.agents:
            world.ledger.open(player)
        market = Market.of(world, config)
        table.watch(market, lambda: _progress(market, table, config))
        began = MarketBegan(world.agents, config.goods, config.all_artifacts, config.most_rounds)
        table.tell(began, to=Everyone)
        session = None if config.experiment is None else Session(market, config.experiment)
        for agent in market.agents.values():
            _endow(config, agent) if session is None else session.endow(agent)
        turns = Turns.of(table, market, config, session)
        if config.briefing:
            await brief(turns)
        reason = await (_to_the_end(turns) if session is None else _periods(turns, session))
        for artifact in market.artifacts.values():
            artifact.game_ended()
        standings = market.standings(config.ranked_by)
        table.tell(MarketEnded(reason, tuple(map(market.result, standings))), to=Everyone)
        return Outcome(reason, standings)


def _world(table: Table, config: MarketConfig) -> World:
    periods = None if config.experiment is None else config.experiment.periods
    return World(table, tuple(table.players), config.goods, config.most_rounds, periods)


async def _to_the_end(turns: Turns) -> str:
    """Play rounds until the last, or until the market is stable, and return why it ended."""
    config, world, quiet = turns.config, turns.market.world, 0
    for number in range(1, config.most_rounds + 1):
        before = world.trades
        await _round(turns, f"Round {number}")
        quiet = quiet + 1 if world.trades == before else 0
        if quiet == config.stable_rounds:
            return f"the market was stable: no trade in {counted(quiet, 'round')}"
    return "all rounds were played"


async def _periods(turns: Turns, session: Session) -> str:
    """Play the periods, each until no trade is possible or its rounds are over, and return why it ended."""
    for period in range(1, session.config.periods + 1):
        played = 0
        while played < session.config.period_rounds and (played == 0 or session.open):
            played += 1
            turns.market.world.left = session.config.period_rounds - played
            await _round(turns, f"Period {period}, round {played}", session if played == 1 else None)
        session.end(played)
    return "all periods were played"


async def _round(turns: Turns, title: str, beginning: Session | None = None) -> None:
    market, world = turns.market, turns.market.world
    world.round += 1
    turns.table.round(title)
    if beginning is not None:
        beginning.begin()
    for artifact in market.artifacts.values():
        artifact.round_began(world.round)
    for each in turns.config.moderator:
        if each.round == world.round:
            await _moderator(turns).interview(each.agents or world.agents, each.questions)
    order = [market.agents[player] for player in world.chance("order").shuffled(world.agents)]
    turns.table.tell(OrderDrawn(world.round, tuple(agent.id for agent in order)), to=Everyone)
    for together in [order] if turns.config.simultaneous else [[agent] for agent in order]:
        # checked again, because a trade in this round may have been an agent's last
        if acting := [agent for agent in together if agent.active]:
            await _pause(turns, acting)
            await turns.take(acting)
    for artifact in market.artifacts.values():
        artifact.round_ended(world.round)


def _moderator(turns: Turns) -> Moderator:
    def about(agent: str, **fields: Any) -> Interviewed:
        return turns.request(Interviewed, turns.market.agents[agent], **fields)

    config = turns.config
    return Moderator(turns.table, about, "a simulation of a market", config.answer_chars, config.follow_ups)


async def _pause(turns: Turns, coming: Sequence[Agent]) -> None:
    """Let the moderator ask questions before these agents act."""
    kept, agents = turns.table.memory(STAFF, RecentEvents).of(TRADES), [agent.id for agent in coming]
    deals = [f"{told.round}: {made.in_short}" for told in kept if isinstance(made := told.event, Trade)]
    news = ("The latest trades, with their rounds:", *deals) if deals else ("There is no trade yet.",)
    at = {"round": turns.market.world.round, "rounds": turns.config.most_rounds}
    await _moderator(turns).boundary(tuple(turns.market.agents), agents, news=news, **at)


def _endow(config: MarketConfig, agent: Agent) -> None:
    """Give an agent what the config says; its own table overrides what holds for all."""
    held = {CAPITAL: config.capital_held, **config.stock}
    for table in config.agents:
        if agent.id in table.ids:
            capital = held[CAPITAL] if table.capital is None else table.capital
            held = {CAPITAL: capital, **(config.stock if table.goods is None else table.goods)}
    agent.endow(held, {good: (value,) for good, value in agent.values.items()})


def _progress(market: Market, table: Table, config: MarketConfig) -> Progress:
    """Return the rounds played, and each agent with the score by which the market ranks."""
    by = config.ranked_by
    rows = ((each.player, f"{by} {each.score[by]:,}", True) for each in market.standings(by))
    facts = (counted(market.world.trades, "trade"),)
    return Progress("round", len(table.rounds) - 1, config.most_rounds, tuple(rows), facts)
