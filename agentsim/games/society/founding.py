"""The beginning of a game: personalities, skills and the first stocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from agentsim.engine import Event, Everyone, Table
from agentsim.engine.wording import By, If
from agentsim.games.society.amounts import UNIT, Amount, shown
from agentsim.games.society.assembly import RESOURCES, Resource
from agentsim.games.society.config import Personality, SocietyConfig
from agentsim.games.society.state import State
from agentsim.lazy import dataclass


@dataclass(frozen=True)
class Being:
    """An agent at the beginning of the game."""

    agent: int
    player: str
    personality: Personality


@dataclass(frozen=True)
class Totals:
    """The account of one resource: the stocks of agents and pool, and the flows since the beginning."""

    held: Amount
    pool: Amount
    produced: Amount
    consumed: Amount
    spent: Amount


def totals(state: State) -> dict[str, Totals]:
    """Return the account of every resource."""
    where = (state.held, state.pool, state.produced, state.consumed, state.spent)
    return {resource: Totals(*(amounts[resource] for amounts in where)) for resource in state.pool}


def in_pool(totals: Mapping[str, Totals]) -> str:
    """Return the contents of the common pool in words, with the commons if there are any."""
    called = ((total, "food in the commons" if name == "commons" else name) for name, total in totals.items())
    return ", ".join(f"{shown(total.pool)} {name}" for total, name in called)


class SocietyBegan(
    Event,
    heading=("{agents:agent} ", By("count", {1: "begins"}, "begin")),
    content=(
        "Each has {food} food, {energy} energy, {materials:material}. The common pool holds {pool}.",
        If("days", By("days", {1: " There is 1 day."}, " There are {days} days.")),
    ),
):
    """The game begins: `food`, `energy` and `materials` are the stock of each agent; `totals` has the pool.

    `days` is None if agents are not told how many days are played.
    """

    days: int | None
    agents: tuple[Being, ...]
    food: Amount
    energy: Amount
    materials: Amount
    totals: dict[str, Totals]

    def player(self, agent: int) -> str:
        """Return the player of an agent, or "" for 0, which is the common pool."""
        return self.agents[agent - 1].player if 0 < agent <= len(self.agents) else ""

    @property
    def count(self) -> int:
        """The number of agents."""
        return len(self.agents)

    @property
    def pool(self) -> str:
        """The contents of the common pool, in words."""
        return in_pool(self.totals)


def dealt(table: Table, config: SocietyConfig) -> Sequence[Personality]:
    """Deal the personalities to the agents in turn, in an order drawn once.

    Among any consecutive agents the counts of two personalities differ by at most one (if the config names each once).
    The agents of one model are consecutive, so this holds within every model too.
    """
    order = table.chance.stream("personalities").shuffled(config.personalities)
    return list(islice(cycle(order), len(table.players)))


class SkillsDrawn(Event, heading="Agent #{agent} has skills", content="{in_words}", private=("agent",)):
    """The skills of an agent: factors of the yield of its work, by resource."""

    agent: int
    skills: dict[Resource, Amount]

    @property
    def in_words(self) -> str:
        """The skills as percentages."""
        return ", ".join(f"{each} {skill}%" for each, skill in self.skills.items())


def tell_beginning(table: Table, state: State) -> None:
    """Tell the beginning to all players; if skills differ, draw them and tell each agent its own."""
    beings = tuple(Being(each.number, each.player, each.personality) for each in state.citizens)
    config = state.config
    days = config.days if config.tell_days else None
    table.tell(SocietyBegan(days, beings, **config.stock(), totals=totals(state)), to=Everyone)
    if spread := config.skill_spread:
        chance = table.chance.stream("skills")
        for citizen in state.citizens:
            citizen.skills = {each: chance.integer(UNIT - spread, UNIT + spread) for each in RESOURCES}
            table.tell(SkillsDrawn(citizen.number, citizen.skills), to=(citizen.player,))
