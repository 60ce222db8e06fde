"""The state of one market: its agents, artifacts and accounts; and the events of its course."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from agentsim.engine import Event, Standing, ranked
from agentsim.engine.menu import TOOLS, MenuItem, Tool
from agentsim.engine.wording import By, If, Rows, first_place
from agentsim.games.market import artifacts as registry
from agentsim.games.market.artifact import Artifact
from agentsim.games.market.config import REDEMPTION, MarketConfig
from agentsim.games.market.restrictions import Restriction
from agentsim.games.market.rules_text import default_goal
from agentsim.games.market.world import CAPITAL, Side, World, added
from agentsim.lazy import dataclass

SKIP = "skip"
NO_QUERY = "none"


class MarketBegan(
    Event,
    heading="The market opens",
    content=(
        "{agents:agent}, goods: ",
        If("goods", "{goods}", "none"),
        "; artifacts: {artifacts}; at most {rounds:round}.",
    ),
):
    """`rounds` is the greatest number of rounds."""

    agents: tuple[str, ...]
    goods: tuple[str, ...]
    artifacts: tuple[str, ...]
    rounds: int


class Endowed(Event, label="endowment", heading="{agent} is endowed", private=("agent",)):
    """An agent's holdings from now on, in place of earlier ones; `worth` are its private values per unit, in order."""

    agent: str
    holdings: dict[str, int]
    side: Side | None
    worth: dict[str, tuple[int, ...]]

    @property
    def content(self) -> str:
        held = ", ".join(f"{amount} {asset}" for asset, amount in self.holdings.items())
        values = "; ".join(f"{good}: {', '.join(map(str, units))}" for good, units in self.worth.items())
        what = {"buy": "values", "sell": "costs", None: "values"}[self.side]
        return f"Holds {held or 'nothing'}." + (f" Its {what} of {values}." if values else "")


class OrderDrawn(Event, label="round began", heading="Round {round} begins", random_order=("order",)):
    round: int
    order: tuple[str, ...]

    @property
    def content(self) -> str:
        shown = ", ".join(self.order[:50])
        return f"In this order: {shown}" + (f" and {len(self.order) - 50} more." if len(self.order) > 50 else ".")


class PeriodBegan(Event, heading="Period {period} of {periods} begins", content="Everybody is endowed anew."):
    period: int
    periods: int


@dataclass(frozen=True)
class Result:
    """An agent's result; `surplus` is None outside experiments, `wealth` counts goods at their last price."""

    agent: str
    rank: int
    capital: int
    wealth: int
    surplus: int | None
    forfeits: int
    refused: int


class MarketEnded(
    Event,
    content=(
        "It ended because {reason}.\n",
        Rows(
            "results",
            ("{rank}. {agent}: capital {capital}, wealth {wealth}", By("surplus", {None: ""}, ", surplus {surplus}")),
        ),
    ),
):
    """`results` are in rank order."""

    reason: str
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.agent for result in self.results if result.rank == 1], "comes first")


@dataclass
class Agent:
    """One agent, with the `artifacts` and the tools that it can use.

    `units` are the private values of its units in an experiment, of which `done` are traded.
    """

    id: str
    world: World
    goal: str = ""
    values: Mapping[str, int] = field(default_factory=dict)
    restrictions: tuple[Restriction, ...] = ()
    artifacts: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    notebook: dict[str, str] = field(default_factory=dict)
    forfeits: int = 0
    refused: int = 0
    side: Side | None = None
    units: tuple[int, ...] = ()
    done: int = 0
    surplus: int = 0

    @property
    def active(self) -> bool:
        """Whether it has anything left to do in this period; always true outside experiments."""
        return self.side is None or self.done < len(self.units)

    def worth(self, good: str, side: str) -> int | None:
        """Return its private value of the next unit, or None if it has none."""
        if self.side is None:
            return self.values.get(good)
        return self.units[self.done] if side == self.side and self.active else None

    def endow(self, held: dict[str, int], worth: dict[str, tuple[int, ...]]) -> None:
        """Issue holdings to the agent, and tell it."""
        for asset, amount in held.items():
            self.world.ledger.issue(self.id, asset, amount)
        self.world.tell(Endowed(self.id, held, self.side, worth), to=(self.id,))

    @property
    def held(self) -> Mapping[str, int]:
        """The units that it holds, by asset."""
        account = self.world.ledger.accounts[self.id]
        return {asset: account.amount(asset) for asset in (CAPITAL, *self.world.goods)}

    @property
    def free(self) -> Mapping[str, int]:
        """The units that are not reserved, by asset."""
        account = self.world.ledger.accounts[self.id]
        return {asset: account.free(asset) for asset in (CAPITAL, *self.world.goods)}


@dataclass
class Market:
    """The state of one game; `artifacts` are by name, in the order of the config."""

    world: World
    agents: dict[str, Agent]
    artifacts: dict[str, Artifact]
    actions: dict[str, Artifact] = field(default_factory=dict)
    queries: dict[str, Artifact] = field(default_factory=dict)
    tools: dict[str, MenuItem] = field(default_factory=dict)

    @property
    def meaning(self) -> Mapping[str, str]:
        """The meanings of actions by name, if the name does not say it."""
        return {
            name: means for each in self.artifacts.values() for name, means in each.meaning.items() if name != means
        }

    @classmethod
    def of(cls, world: World, config: MarketConfig) -> Market:
        """Return the market that a config describes, before agents are endowed. Raises `ValueError` if it cannot be."""
        tables = {player: table for table in config.agents for player in table.ids}
        if REDEMPTION in config.all_artifacts:
            world.redeems = {player: table.values for player, table in tables.items() if table.values}
        made = {name: registry.find(name)(world, config.settings_of(name)) for name in config.all_artifacts}
        agents = {}
        for player in world.agents:
            own = tables.get(player)
            rules = (*config.restrictions, *(own.restrictions if own else ()))
            # the config has turned names into restrictions
            restrictions = tuple(each for each in rules if isinstance(each, Restriction))
            goal, values = (own.goal, own.values) if own else (None, {})
            goal = goal or default_goal(config.ranked_by, redeems=player in world.redeems)
            traits = config.traits_of(player)
            used = dict.fromkeys((*config.artifacts, *(each for trait in traits for each in trait.artifacts)))
            tools = dict.fromkeys((*config.tools, *(each for trait in traits for each in trait.tools)))
            agents[player] = Agent(player, world, goal, values, restrictions, tuple(used), tuple(tools))
        market = cls(world, agents, made)
        market.tools = {each.name: each for agent in agents.values() for tool in agent.tools for each in TOOLS[tool]}
        taken = {SKIP, NO_QUERY, *market.tools}
        for artifact in made.values():
            for names, table in ((artifact.actions, market.actions), (artifact.queries, market.queries)):
                for name in names:
                    if name in taken:
                        raise ValueError(f"two things are called {name}: an agent could not tell them apart")
                    taken.add(name)
                    table[name] = artifact
        return market

    def used_by(self, agent: Agent) -> Mapping[str, Artifact]:
        """Return the artifacts that an agent can use, by name."""
        return {name: self.artifacts[name] for name in agent.artifacts}

    def wealth(self, agent: str) -> int:
        """Return capital, claims, and goods at their last price, or at the agent's redemption value if that is more."""
        return self._worth(agent, self.world.last_prices)

    def capital(self, agent: str) -> int:
        """Return capital on the account, what artifacts owe the agent less its debts, and what it can redeem."""
        return self._worth(agent, {})

    def _worth(self, agent: str, prices: Mapping[str, int]) -> int:
        held, redeems = self.agents[agent].held, self.world.redeems.get(agent, {})
        goods = sum(held[good] * max(prices.get(good, 0), redeems.get(good, 0)) for good in self.world.goods)
        return held[CAPITAL] + goods + sum(artifact.claims(agent) for artifact in self.artifacts.values())

    def standings(self, by: str) -> tuple[Standing, ...]:
        """Rank agents by capital, wealth or surplus; every score has all of them."""
        entries = []
        for agent in self.agents.values():
            score = {"capital": self.capital(agent.id), "wealth": self.wealth(agent.id)}
            if agent.side is not None:
                score["surplus"] = agent.surplus
            entries.append((agent.id, score[by], score))
        return ranked(entries)

    def result(self, standing: Standing) -> Result:
        agent = self.agents[standing.player]
        surplus = None if agent.side is None else agent.surplus
        capital, wealth = self.capital(agent.id), self.wealth(agent.id)
        return Result(agent.id, standing.rank or 0, capital, wealth, surplus, agent.forfeits, agent.refused)

    def check(self) -> Sequence[str]:
        made = self.artifacts.values()
        promised = {
            owner: added(each for artifact in made for each in artifact.promised(owner).items())
            for owner in self.world.ledger.touched()
        }
        broken = self.world.ledger.check(promised)
        for name, artifact in self.artifacts.items():
            broken += [f"{name}: {line}" for line in artifact.check()]
        return broken
