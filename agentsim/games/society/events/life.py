"""Life: the beginning and the end, the sum of a day, and decisions that change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.citizen import Status
from agentsim.games.society.config import Personality


@dataclass(frozen=True)
class Being:
    """An agent as it begins."""

    agent: int
    player: str
    personality: Personality


@dataclass(frozen=True)
class Totals:
    """Of one resource: what agents and pool hold, and what was made, consumed and spent since the beginning."""

    held: Amount
    pool: Amount
    produced: Amount
    consumed: Amount
    spent: Amount


def _pool(totals: Mapping[str, Totals]) -> str:
    return ", ".join(f"{shown(total.pool)} {resource}" for resource, total in totals.items())


class SocietyBegan(
    Event,
    heading="{agents:#} agents begin",
    content="Each has {food} food, {energy} energy, {materials} materials. The common pool holds {pool}. "
    "There are {days} days.",
):
    """`food`, `energy` and `materials` are each agent's; the pool's are in `totals`."""

    days: int
    agents: tuple[Being, ...]
    food: Amount
    energy: Amount
    materials: Amount
    totals: dict[str, Totals]

    def player(self, agent: int) -> str:
        """Whose seat an agent's number is; "" of 0, which is the common pool."""
        return self.agents[agent - 1].player if 0 < agent <= len(self.agents) else ""

    @property
    def pool(self) -> str:
        """What the common pool holds."""
        return _pool(self.totals)


class Idled(Event, heading="Agent #{agent} does nothing", words="text"):
    """An agent does nothing; it alone hears its reasons."""

    day: int
    agent: int
    text: str


class Reasoned(Event, kind="reasoning", heading="Agent #{agent} to itself, on proposal {proposal}", words="text"):
    """Why an agent voted as it did; it alone hears this."""

    day: int
    agent: int
    proposal: int
    text: str


class InvalidAction(Event, heading="Agent #{agent}: an action is rejected", content="Action rejected: {reason}"):
    """An action that came to nothing, without any penalty; `action` is the object as JSON, "" where none was read."""

    day: int
    agent: int
    action: str
    reason: str

    @property
    def turned_away(self) -> bool:
        return True


class DayEnded(
    Event,
    heading="Day {day} ends: {active} active, {dormant} dormant, {dead} dead",
    content="Agents hold {held}; the pool {pool}. {laws} laws in force.",
):
    """`totals` by resource; posts, messages, proposals, votes and invalid actions are those of the day."""

    day: int
    active: int
    dormant: int
    dead: int
    totals: dict[str, Totals]
    gini: float
    posts: int
    messages: int
    proposals: int
    votes: int
    invalid: int
    laws: int

    @property
    def held(self) -> tuple[str, ...]:
        """What agents hold; land is not held."""
        return tuple(f"{shown(t.held)} {resource}" for resource, t in self.totals.items() if resource != "land")

    @property
    def pool(self) -> str:
        """What the common pool holds."""
        return _pool(self.totals)


@dataclass(frozen=True)
class Result:
    """An agent's end."""

    agent: int
    player: str
    name: str
    personality: Personality
    status: Status
    food: Amount
    energy: Amount
    materials: Amount
    wealth: Amount
    hours: int
    posts: int
    messages: int
    proposals: int
    votes: int
    breaches: int
    rank: int


class SocietyEnded(
    Event,
    heading="The end, on day {day}: {reason}",
    content="{survival:.0%} of the agents are active, {participation:.0%} took part in votes; {laws} laws were passed; "
    "the Gini coefficient of wealth is {gini:.2f}.",
):
    """`survival` is the share of agents that are active, `participation` of those that ever voted or proposed.

    `laws` are those that were passed; `results` are in rank order.
    """

    day: int
    reason: str
    survival: float
    participation: float
    gini: float
    laws: int
    results: tuple[Result, ...]
