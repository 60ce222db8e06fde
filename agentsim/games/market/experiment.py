"""Experiments with private values: endowments renewed every period, and what each period achieved.

Rounds and turns are those of any market.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import chain
from math import sqrt
from typing import ClassVar

from agentsim.engine import Event, Everyone, Nobody
from agentsim.engine.wording import By
from agentsim.games.market.config import INDUCED, Experiment
from agentsim.games.market.restrictions import Restriction
from agentsim.games.market.state import Agent, Market, PeriodBegan
from agentsim.games.market.world import CAPITAL, Clearing, Trade, clearing
from agentsim.lazy import dataclass


def equilibrium(values: Sequence[Sequence[int]], costs: Sequence[Sequence[int]]) -> Clearing:
    """Return the competitive equilibrium of traders' units; a last pair that gains nothing counts in the quantity."""
    demand = sorted(chain.from_iterable(values), reverse=True)
    supply = sorted(chain.from_iterable(costs))
    return clearing([(value, 1) for value in demand], [(cost, 1) for cost in supply])


def alpha(prices: Sequence[int], equilibrium_price: float) -> float | None:
    """Return Smith's coefficient of convergence (1962), or None without a price.

    It is 100 times the root mean square deviation of prices from the equilibrium price, over that price.
    """
    if not prices:
        return None
    mean_square = sum((price - equilibrium_price) ** 2 for price in prices) / len(prices)
    return 100 * sqrt(mean_square) / equilibrium_price


class PeriodEnded(
    Event,
    heading="Period {period} ends: efficiency {allocative_efficiency:.1%}",
    content=By(
        "alpha",
        {None: "No trade in {rounds:round}; {most_surplus} could have been gained."},
        "{quantity:unit} at {mean_price:.2f} on average in {rounds:round}, alpha {alpha:.1f}; equilibrium "
        "{equilibrium_quantity} units at {equilibrium_price:g}.",
    ),
):
    """The results of a period; `mean_price` and `alpha` are None without a trade.

    `allocative_efficiency` is what traders gained over the most there was: below 0 if they lost more than they gained,
    above 1 only if an artifact that trades itself paid for it. `alpha` is Smith's: 100 times the root mean square
    deviation from the equilibrium price over it.
    """

    for_log: ClassVar[bool] = True

    period: int
    rounds: int
    quantity: int
    mean_price: float | None
    allocative_efficiency: float
    alpha: float | None
    equilibrium_price: float
    equilibrium_quantity: int
    surplus: int
    most_surplus: int
    profits: dict[str, int]


@dataclass
class Session:
    """The periods of one experiment. It keeps account of every trade, as the world's `books`."""

    market: Market
    config: Experiment
    period: int = 0
    prices: list[int] = field(default_factory=list)
    profits: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.market.world.books = self.traded
        self.good = self.market.world.goods[0]
        self.equilibrium = equilibrium(self.config.buyers, self.config.sellers)
        schedules = (*self.config.buyers, *self.config.sellers)
        for index, (agent, units) in enumerate(zip(self.market.agents.values(), schedules, strict=True)):
            agent.side = "buy" if index < len(self.config.buyers) else "sell"
            agent.units = units
            only = Restriction(rule="only_buy" if agent.side == "buy" else "only_sell")
            one = [Restriction(rule="one_unit")] if self.config.kind == INDUCED else []
            agent.restrictions = (*agent.restrictions, only, *one)

    def begin(self) -> None:
        """Begin a period: withdraw what agents have left, and endow every agent anew."""
        self.period += 1
        world = self.market.world
        world.tell(PeriodBegan(self.period, self.config.periods), to=Everyone)
        self.prices, self.profits = [], dict.fromkeys(self.market.agents, 0)
        for agent in self.market.agents.values():
            agent.done = 0
            if self.period > 1:  # the first endowment is in the instructions
                self.endow(agent)

    def endow(self, agent: Agent) -> None:
        """Give an agent exactly what its units need: capital for the highest prices, or the units themselves."""
        world = self.market.world
        for asset in (CAPITAL, self.good):
            world.ledger.withdraw(agent.id, asset, world.ledger.free(agent.id, asset))
        buys = agent.side == "buy"
        held = {CAPITAL: len(agent.units) * self.config.price_max} if buys else {self.good: len(agent.units)}
        agent.endow(held, {self.good: agent.units})

    def traded(self, trade: Trade) -> None:
        """Record what the agents among buyer and seller gained; a unit beyond an agent's schedule is worth nothing."""
        for name, sign in ((trade.buyer, 1), (trade.seller, -1)):
            if agent := self.market.agents.get(name):
                units = agent.units[agent.done : agent.done + trade.quantity]
                gain = sign * (sum(units) - trade.paid)
                agent.done += len(units)
                agent.surplus += gain
                self.profits[name] += gain
        self.prices += [trade.price] * trade.quantity

    @property
    def open(self) -> bool:
        """Whether a trade is possible: one agent has a unit to buy and another one to sell, or an artifact trades.

        If restrictions keep both from a loss, the first must be worth at least what the second costs.
        """
        active = [agent for agent in self.market.agents.values() if agent.active]
        if any(artifact.trades_itself for artifact in self.market.artifacts.values()):
            return bool(active)
        buys, sells = ([agent.units[agent.done] for agent in active if agent.side == side] for side in ("buy", "sell"))
        safe = all(f"{agent.side}_within_value" in {each.rule for each in agent.restrictions} for agent in active)
        return bool(buys and sells) and (not safe or max(buys) >= min(sells))

    def end(self, rounds: int) -> None:
        """End the period in all artifacts, and tell the log alone what it achieved: no agent learns the equilibrium."""
        for artifact in self.market.artifacts.values():
            artifact.period_ended()
        found, surplus = self.equilibrium, sum(self.profits.values())
        ended = PeriodEnded(
            period=self.period,
            rounds=rounds,
            quantity=len(self.prices),
            mean_price=sum(self.prices) / len(self.prices) if self.prices else None,
            allocative_efficiency=surplus / found.surplus if found.surplus else 1.0,
            alpha=alpha(self.prices, found.price),
            equilibrium_price=found.price,
            equilibrium_quantity=found.quantity,
            surplus=surplus,
            most_surplus=found.surplus,
            profits=dict(self.profits),
        )
        self.market.world.tell(ended, to=Nobody)
