"""The state of the society: agents, resources and laws, and the operations that change them.

All amounts are in hundredths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from agentsim.engine.event import Heard
from agentsim.games.society.amounts import UNIT, share
from agentsim.games.society.assembly import Assembly, Standing
from agentsim.games.society.config import Personality, SocietyConfig
from agentsim.games.society.forum import Forum
from agentsim.games.society.measures import DaySum, Flow, gini, spread
from agentsim.games.society.names import signature
from agentsim.games.society.projects import Projects
from agentsim.games.society.terms import RESOURCES, Resource, Structure

Status: TypeAlias = Literal["active", "dormant", "dead"]
Counted: TypeAlias = Literal["posts", "messages", "proposals", "votes"]
"""Actions that are counted for each agent, and for all agents by day."""


@dataclass
class Citizen:
    """An agent: the others know it by `number`, the kernel by `player`. Amounts are in hundredths.

    `worked` and `turns` are today's hours of work and turns, `hours` those of the whole game. `starved` counts evenings
    without enough in a row, `breaches` the evenings below a work minimum. `heard` are the events that it had heard
    when it was last asked, `note` is its latest note. `skills` multiply the yield of work, in hundredths by resource;
    an empty mapping means 100 for each.
    """

    number: int
    player: str
    personality: Personality
    stock: dict[Resource, int]
    skills: dict[Resource, int] = field(default_factory=dict)
    name: str = ""
    status: Status = "active"
    starved: int = 0
    worked: int = 0
    turns: int = 0
    heard: Heard = field(default_factory=Heard)
    note: str = ""
    posts: int = 0
    messages: int = 0
    proposals: int = 0
    votes: int = 0
    breaches: int = 0
    hours: int = 0

    @property
    def wealth(self) -> int:
        """The sum of its resources."""
        return sum(self.stock.values())


Place: TypeAlias = Citizen | Literal["pool", "produced", "consumed", "spent"]
"""A holder, source or sink of resources."""


def _nothing() -> dict[str, int]:
    return dict.fromkeys((*RESOURCES, "land", "commons"), 0)


@dataclass
class State:
    """The whole society. `citizens[n - 1]` is agent n.

    - `initial`, `produced`, `consumed`, `spent` and `held` are totals by resource; `held` is the sum over all agents.
    - `counts` are the numbers of active, dormant and dead agents.
    - `woken` are agents that woke and are not yet announced; `names` maps the signatures of names to agents.
    - `dormant` maps dormant agents to the resources that they lacked, `dead` lists dead agents; both in order of time.
    - `today` counts today's talk, votes and invalid actions; `flows` are today's taxes, payments of the pool and gifts.
    - `yesterday` sums up the last whole day.
    - `shock_percent` is the percentage by which shocks lower work today, by resource.
    - `harvest` is today's food from the commons, which are a part of the pool, `regeneration` their last growth.
    """

    config: SocietyConfig
    citizens: list[Citizen]
    pool: dict[str, int]
    forum: Forum
    assembly: Assembly
    projects: Projects = field(default_factory=Projects)
    initial: dict[str, int] = field(default_factory=_nothing)
    produced: dict[str, int] = field(default_factory=_nothing)
    consumed: dict[str, int] = field(default_factory=_nothing)
    spent: dict[str, int] = field(default_factory=_nothing)
    held: dict[str, int] = field(default_factory=_nothing)
    counts: dict[str, int] = field(default_factory=dict)
    woken: list[Citizen] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    dormant: dict[int, tuple[Resource, ...]] = field(default_factory=dict)
    dead: list[int] = field(default_factory=list)
    today: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*get_args(Counted), "invalid"), 0))
    flows: dict[Flow, Counter[Resource]] = field(default_factory=lambda: {flow: Counter() for flow in get_args(Flow)})
    yesterday: DaySum | None = None
    shock_percent: Mapping[Resource, int] = field(default_factory=dict)
    harvest: int = 0
    regeneration: int = 0
    day: int = 0
    tick: int = 0

    def __post_init__(self) -> None:
        self.held = self._all_held()
        self.initial = {name: self.total(name) for name in self.pool}
        self.counts = {"active": len(self.citizens), "dormant": 0, "dead": 0}

    def citizen(self, number: int) -> Citizen:
        """Return agent #`number`."""
        return self.citizens[number - 1]

    def active(self) -> list[Citizen]:
        """Return the active agents, by number."""
        return [citizen for citizen in self.citizens if citizen.status == "active"]

    def rename(self, citizen: Citizen, name: str) -> None:
        """Give an agent a name that no other agent has, and free its earlier name."""
        if citizen.name:
            del self.names[signature(citizen.name)]
        citizen.name = name
        self.names[signature(name)] = citizen.number

    # -- resources

    def move(self, resource: Resource, amount: int, source: Place, target: Place) -> None:
        """Move an amount, and wake the target if it is a dormant agent that now holds enough.

        `produced` is the source of new resources, `consumed` and `spent` are the sinks; all three only grow.
        """
        for place, change in ((source, -amount), (target, amount)) if amount else ():
            if isinstance(place, Citizen):
                place.stock[resource] += change
                self.held[resource] += change
                assert place.stock[resource] >= 0, "no stock is below 0"
            else:
                account: dict[str, int] = getattr(self, place)
                account[resource] += amount if place == "produced" else change
                assert account[resource] >= 0, "the pool pays what it holds"
        if isinstance(target, Citizen) and target.status == "dormant" and self._has_to_wake(target):
            self._become(target, "active")
            del self.dormant[target.number]
            target.starved = 0
            self.woken.append(target)

    def pay(self, citizen: Citizen, resource: Resource, amount: int) -> int:
        """Pay an agent from the pool, at most what the pool holds, and return the amount paid."""
        paid = min(amount, self.pool[resource])
        self.move(resource, paid, "pool", citizen)
        self.flows["paid"][resource] += paid
        return paid

    def _has_to_wake(self, citizen: Citizen) -> bool:
        stock, config = citizen.stock, self.config
        return stock["food"] >= config.wake_food and stock["energy"] >= config.wake_energy

    # -- the commons

    def draw(self, amount: int) -> None:
        """Remove an amount from the commons and count it as spent."""
        self.pool["commons"] -= amount
        self.spent["commons"] += amount
        assert self.pool["commons"] >= 0, "the commons give what they have"

    def regrow(self) -> int:
        """Grow the commons by one day of logistic growth and return the growth.

        The growth is r S (1 - S / capacity), rounded to a hundredth, at most up to the capacity.
        """
        stock, capacity = self.pool["commons"], self.config.capacity(len(self.citizens))
        grown = share(stock, self.config.commons_regrowth * (capacity - stock), UNIT * capacity)
        self.regeneration = min(grown, capacity - stock)
        self.pool["commons"] += self.regeneration
        self.produced["commons"] += self.regeneration
        return self.regeneration

    # -- dormancy and death

    def fall_dormant(self, citizen: Citizen, lacks: tuple[Resource, ...]) -> None:
        """Make an agent dormant and record the resources that it lacked."""
        self._become(citizen, "dormant")
        self.dormant[citizen.number] = lacks

    def starve(self, citizen: Citizen) -> bool:
        """Count an evening without enough food and energy, and return whether the agent dies of it."""
        citizen.starved += 1
        dies = self.config.permadeath and citizen.starved >= self.config.starvation_days
        if dies:
            self._become(citizen, "dead")
            del self.dormant[citizen.number]
            self.dead.append(citizen.number)
        return dies

    def _become(self, citizen: Citizen, status: Status) -> None:
        self.counts[citizen.status] -= 1
        self.counts[status] += 1
        citizen.status = status

    # -- measures

    def bonus(self) -> Mapping[Structure, int]:
        """Return the total bonus of running projects to work, in hundredths, by structure."""
        running, config = self.projects.running, self.config
        return {"farm": running["farm"] * config.farm_bonus, "generator": running["generator"] * config.generator_bonus}

    def total(self, resource: str) -> int:
        """Return the total of a resource that agents and the pool hold."""
        return self.held[resource] + self.pool[resource]

    def wealths(self) -> list[int]:
        """Return the wealth of each agent that is not dead, in ascending order."""
        return sorted(citizen.wealth for citizen in self.citizens if citizen.status != "dead")

    def day_sum(self) -> DaySum:
        """Return the summary of today."""
        hours, wealths = sorted(each.worked for each in self.citizens if each.turns) or [0], self.wealths() or [0]
        flows: dict[str, Any] = {flow: dict(+amounts) for flow, amounts in self.flows.items()}
        flows |= {"harvest": self.harvest, "regeneration": self.regeneration, "commons": self.pool.get("commons", 0)}
        return DaySum(sum(hours), sum(map(bool, hours)), spread(hours), spread(wealths), self.gini(), **flows)

    def close_day(self) -> DaySum:
        """Return the summary of today, and reset the harvest and the flows."""
        summed, self.harvest = self.day_sum(), 0
        for amounts in self.flows.values():
            amounts.clear()
        return summed

    def gini(self) -> float:
        """Return the Gini coefficient of the wealth of all agents that are not dead, to 4 places."""
        return gini(self.wealths())

    def _all_held(self) -> dict[str, int]:
        return _nothing() | {each: sum(citizen.stock[each] for citizen in self.citizens) for each in RESOURCES}

    def _check_citizens(self) -> Iterator[str]:
        for citizen in self.citizens:
            if min(citizen.stock.values()) < 0:
                yield f"agent #{citizen.number} owes nothing"
            if citizen.worked > self.config.hours_per_day:
                yield f"agent #{citizen.number} works no more than it may"
            if citizen.status == "dormant" and self._has_to_wake(citizen):
                yield f"agent #{citizen.number} wakes when it has enough"

    def check(self) -> Sequence[str]:
        """Return the broken invariants, in words."""
        counted = dict.fromkeys(self.counts, 0)
        for citizen in self.citizens:
            counted[citizen.status] += 1
        out = {**counted, "dormant": len(self.dormant), "dead": len(self.dead)}
        invariants = {
            "what is held is what all agents hold": self._all_held() == self.held,
            "every name is one agent's": len(self.names) == sum(1 for citizen in self.citizens if citizen.name),
            "all who are dormant or dead are known": out == counted,
            "active, dormant and dead are counted": counted == self.counts,
            "the pool owes nothing": min(self.pool.values()) >= 0,
        }
        for name, start in self.initial.items():
            there, used = self.total(name), self.consumed[name] + self.spent[name]
            said = f"{name}: initial and produced are held, in the pool, consumed or spent"
            invariants[said] = start + self.produced[name] == there + used
        broken = [invariant for invariant, holds in invariants.items() if not holds]
        return [*self._check_citizens(), *broken, *self.assembly.check()]


def founded(config: SocietyConfig, players: Sequence[str], personalities: Iterable[Personality]) -> State:
    """Return the society before its first day, without its founding laws."""
    citizens = [
        Citizen(number, player, personality, config.stock())
        for number, (player, personality) in enumerate(zip(players, personalities, strict=True), start=1)
    ]
    entrenched = config.constitution == "entrenched"
    rule = Standing({}, (), {}, config.threshold, config.quorum, config.quorum_percent, entrenched)
    tokens = min(config.feed_tokens, config.prompt_tokens // 4) if config.prompt_tokens else config.feed_tokens
    forum = Forum(config.shown_posts, tokens, config.shown_chars)
    return State(config, citizens, config.pool(len(players)), forum, Assembly(rule))
