"""Market: the state of one game: its agents, artifacts and accounts. Words and prompts do not belong here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentsim.engine.game import Standing, ranked
from agentsim.games.market import artifacts as registry
from agentsim.games.market.artifact import Artifact, Capability
from agentsim.games.market.config import AgentTable, MarketConfig
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.order_book import Side
from agentsim.games.market.restrictions import Restriction
from agentsim.games.market.tools import TOOLS
from agentsim.games.market.world import World

SKIP = "skip"
NO_QUERY = "none"


@dataclass
class Agent:
    """One agent; `units` are the private values of its units of an experiment's good, of which `done` are traded."""

    id: str
    world: World
    goal: str | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    restrictions: tuple[Restriction, ...] = ()
    notebook: dict[str, str] = field(default_factory=dict)
    forfeits: int = 0
    refused: int = 0
    side: Side | None = None
    units: tuple[int, ...] = ()
    done: int = 0
    surplus: int = 0

    @property
    def active(self) -> bool:
        """Whether there is anything left for it to do in this period; always, outside experiments."""
        return self.side is None or self.done < len(self.units)

    def worth(self, good: str, side: Side) -> int | None:
        """Its private value of the next unit; None where it has none."""
        if self.side is None:
            return self.values.get(good)
        return self.units[self.done] if side == self.side and self.active else None

    def free_capital(self) -> int:
        """Capital that nothing is promised of."""
        return self.world.ledger.free(self.id, CAPITAL)


@dataclass
class Market:
    """The state of one game. `artifacts` by name, in the order of the config."""

    world: World
    agents: dict[str, Agent]
    artifacts: dict[str, Artifact]
    actions: dict[str, Artifact] = field(default_factory=dict)
    queries: dict[str, Artifact] = field(default_factory=dict)
    tools: dict[str, Capability] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World, config: MarketConfig) -> Market:
        """The market that a config describes, before any agent is endowed; `ValueError` where it cannot be."""
        made = {name: registry.find(name)(world, config.settings_of(name)) for name in config.artifacts}
        tables = {player: table for table in config.agents for player in table.ids}
        agents = {player: _agent(player, world, config, tables.get(player)) for player in world.agents}
        market = cls(world, agents, made)
        market.tools = {each.name: each for tool in config.tools for each in TOOLS[tool]}
        taken = {SKIP, NO_QUERY, *market.tools}
        for artifact in made.values():
            for names, table in ((artifact.actions, market.actions), (artifact.queries, market.queries)):
                for name in names:
                    if name in taken:
                        raise ValueError(f"two things are called {name}: an agent could not tell them apart")
                    taken.add(name)
                    table[name] = artifact
        return market

    def wealth(self, agent: str) -> int:
        """Capital, claims, and goods at their last price."""
        account, prices = self.world.ledger.accounts[agent], self.world.last_prices
        goods = sum(account.amount(good) * prices.get(good, 0) for good in self.world.goods)
        return self.capital(agent) + goods

    def capital(self, agent: str) -> int:
        """Capital on the account, and what artifacts owe the agent or it owes them."""
        claims = sum(artifact.claims(agent) for artifact in self.artifacts.values())
        return self.world.ledger.accounts[agent].amount(CAPITAL) + claims

    def standings(self, by: str) -> tuple[Standing, ...]:
        """By capital, wealth or surplus; every score holds all that there are."""
        entries = []
        for agent in self.agents.values():
            score = {"capital": self.capital(agent.id), "wealth": self.wealth(agent.id)}
            if agent.side is not None:
                score["surplus"] = agent.surplus
            entries.append((agent.id, score[by], score))
        return ranked(entries)

    def check(self) -> Sequence[str]:
        """Every broken invariant, in words."""
        promised: dict[str, dict[str, int]] = {}
        for owner in self.world.ledger.touched():
            total: dict[str, int] = {}
            for artifact in self.artifacts.values():
                for asset, amount in artifact.promised(owner).items():
                    total[asset] = total.get(asset, 0) + amount
            promised[owner] = total
        broken = self.world.ledger.check(promised)
        for name, artifact in self.artifacts.items():
            broken += [f"{name}: {line}" for line in artifact.check()]
        return broken


def _agent(player: str, world: World, config: MarketConfig, table: AgentTable | None) -> Agent:
    own = () if table is None else table.restrictions
    # what the config keeps in full, whichever way it was written
    restrictions = tuple(each for each in (*config.restrictions, *own) if isinstance(each, Restriction))
    return Agent(
        player,
        world,
        goal=None if table is None else table.goal,
        values={} if table is None else table.values,
        restrictions=restrictions,
    )
