"""State: who holds what, and every way in which that can change; the rest of the society hangs on it.

All amounts are hundredths. Which action leads to which change is `turn`, the end of a day `evening`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from agentsim.engine.event_log import Heard
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
"""What is counted of each agent, and of all by day."""


@dataclass
class Citizen:
    """An agent; `number` is what the others know it by, `player` whose seat it is; amounts are hundredths.

    `worked` are the hours of today, `turns` its turns; `heard` is what it had heard when it was last asked, and
    `note` what it wrote for itself. `skills` are hundredths of what others make by the same work; none are all 100.
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
        """All that it holds."""
        return sum(self.stock.values())


Place: TypeAlias = Citizen | Literal["pool", "produced", "consumed", "spent"]
"""Where resources are, come from, or go to."""


def _nothing() -> dict[str, int]:
    return dict.fromkeys((*RESOURCES, "land", "commons"), 0)


@dataclass
class State:
    """The whole society. `citizens[n - 1]` is agent n.

    `awakened` are those who woke and were not yet announced; `names` the agents by their names' signatures. `asleep`
    are the dormant agents and what each lacked, `gone` the dead, the latest last in both. `today` counts talk, votes
    and invalid actions, `flows` what taxes took today, what the pool paid, and gifts; `yesterday` is what the last
    whole day came to. `slump` is by how many percent work makes less today; `drawn` and `regrown` are the day's of the
    commons, a part of the pool.
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
    awakened: list[Citizen] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    asleep: dict[int, tuple[Resource, ...]] = field(default_factory=dict)
    gone: list[int] = field(default_factory=list)
    today: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*get_args(Counted), "invalid"), 0))
    flows: dict[Flow, Counter[Resource]] = field(default_factory=lambda: {flow: Counter() for flow in get_args(Flow)})
    yesterday: DaySum | None = None
    slump: Mapping[Resource, int] = field(default_factory=dict)
    drawn: int = 0
    regrown: int = 0
    day: int = 0
    tick: int = 0

    def __post_init__(self) -> None:
        self.held = self._all_held()
        self.initial = {name: self.total(name) for name in self.pool}
        self.counts = {"active": len(self.citizens), "dormant": 0, "dead": 0}

    def citizen(self, number: int) -> Citizen:
        """Agent #number."""
        return self.citizens[number - 1]

    def active(self) -> list[Citizen]:
        """Those who are awake."""
        return [citizen for citizen in self.citizens if citizen.status == "active"]

    def rename(self, citizen: Citizen, name: str) -> None:
        """Call an agent by a name that no other agent bears; its earlier one is free again."""
        if citizen.name:
            del self.names[signature(citizen.name)]
        citizen.name = name
        self.names[signature(name)] = citizen.number

    # -- resources

    def move(self, resource: Resource, amount: int, source: Place, target: Place) -> None:
        """Every change of what there is: `produced` is where it comes from, `consumed` and `spent` where it ends."""
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
            del self.asleep[target.number]
            target.starved = 0
            self.awakened.append(target)

    def pay(self, citizen: Citizen, resource: Resource, amount: int) -> int:
        """From the pool to an agent, as far as the pool goes; what was paid."""
        paid = min(amount, self.pool[resource])
        self.move(resource, paid, "pool", citizen)
        self.flows["paid"][resource] += paid
        return paid

    def _has_to_wake(self, citizen: Citizen) -> bool:
        stock, config = citizen.stock, self.config
        return stock["food"] >= config.wake_food and stock["energy"] >= config.wake_energy

    # -- the commons

    def draw(self, amount: int) -> None:
        """Take from the commons, for good."""
        self.pool["commons"] -= amount
        self.spent["commons"] += amount
        assert self.pool["commons"] >= 0, "the commons give what they have"

    def regrow(self) -> int:
        """Let the commons grow by a day: r S (1 - S / capacity), rounded, at most up to the capacity."""
        stock, capacity = self.pool["commons"], self.config.capacity(len(self.citizens))
        grown = share(stock, self.config.commons_regrowth * (capacity - stock), UNIT * capacity)
        self.regrown = min(grown, capacity - stock)
        self.pool["commons"] += self.regrown
        self.produced["commons"] += self.regrown
        return self.regrown

    # -- waking and sleeping

    def fall_dormant(self, citizen: Citizen, lacks: tuple[Resource, ...]) -> None:
        """Put an agent to sleep that lacked something for the day."""
        self._become(citizen, "dormant")
        self.asleep[citizen.number] = lacks

    def starve(self, citizen: Citizen) -> bool:
        """Count an evening without enough; whether the agent has died of it."""
        citizen.starved += 1
        dies = self.config.permadeath and citizen.starved >= self.config.starvation_days
        if dies:
            self._become(citizen, "dead")
            del self.asleep[citizen.number]
            self.gone.append(citizen.number)
        return dies

    def _become(self, citizen: Citizen, status: Status) -> None:
        self.counts[citizen.status] -= 1
        self.counts[status] += 1
        citizen.status = status

    # -- measures

    def bonus(self) -> Mapping[Structure, int]:
        """What running projects add to work, in hundredths, by structure; effects add up."""
        running, config = self.projects.running, self.config
        return {"farm": running["farm"] * config.farm_bonus, "generator": running["generator"] * config.generator_bonus}

    def total(self, resource: str) -> int:
        """All there is of a resource."""
        return self.held[resource] + self.pool[resource]

    def wealths(self) -> list[int]:
        """What each agent that is not dead holds in all, the least first."""
        return sorted(citizen.wealth for citizen in self.citizens if citizen.status != "dead")

    def day_sum(self) -> DaySum:
        """What today came to, as its evening ends."""
        hours, wealths = sorted(each.worked for each in self.citizens if each.turns) or [0], self.wealths() or [0]
        flows: dict[str, Any] = {flow: dict(+amounts) for flow, amounts in self.flows.items()}
        flows |= {"drawn": self.drawn, "regrown": self.regrown, "commons": self.pool.get("commons", 0)}
        return DaySum(sum(hours), sum(map(bool, hours)), spread(hours), spread(wealths), self.gini(), **flows)

    def close_day(self) -> DaySum:
        """The same, and begin to count anew."""
        summed, self.drawn = self.day_sum(), 0
        for amounts in self.flows.values():
            amounts.clear()
        return summed

    def gini(self) -> float:
        """The Gini coefficient of the wealth of all who are not dead, to 4 places."""
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
        """Every broken invariant, in words."""
        counted = dict.fromkeys(self.counts, 0)
        for citizen in self.citizens:
            counted[citizen.status] += 1
        out = {**counted, "dormant": len(self.asleep), "dead": len(self.gone)}
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
    """The society before its first day, without its founding laws."""
    citizens = [
        Citizen(number, player, personality, config.stock())
        for number, (player, personality) in enumerate(zip(players, personalities, strict=True), start=1)
    ]
    entrenched = config.constitution == "entrenched"
    rule = Standing({}, (), {}, config.threshold, config.quorum, config.quorum_percent, entrenched)
    tokens = min(config.feed_tokens, config.prompt_tokens // 4) if config.prompt_tokens else config.feed_tokens
    forum = Forum(config.shown_posts, tokens, config.shown_chars)
    return State(config, citizens, config.pool(len(players)), forum, Assembly(rule))
