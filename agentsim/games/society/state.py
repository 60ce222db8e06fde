"""The state of the society: agents, resources, the forum, projects and laws, and the operations that change them.

All amounts are in hundredths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias, get_args

from agentsim.engine.event import Heard
from agentsim.engine.wording import Naming, Quoted, cut, quoted
from agentsim.games.society import invariants
from agentsim.games.society.amounts import UNIT, Amount, share
from agentsim.games.society.assembly import RESOURCES, Assembly, Resource, RulesInForce, Structure
from agentsim.games.society.config import SHOWN_CHARS, Personality, SocietyConfig
from agentsim.games.society.names import signature
from agentsim.lazy import dataclass


def gini(wealths: Sequence[int]) -> float:
    """Return the Gini coefficient of wealths in ascending order, to 4 places, or 0 if their sum is 0.

    For x_1 <= ... <= x_n it is sum((2 i - n - 1) x_i) / (n sum(x_i)).
    """
    total, n = sum(wealths), len(wealths)
    if not total:
        return 0.0
    return round(sum((2 * index - n - 1) * wealth for index, wealth in enumerate(wealths, 1)) / (n * total), 4)


# -- the forum


@dataclass(frozen=True, slots=True)
class Post:
    """One post: `parent` is the post it replies to, `name` the author's name then, `text` is cut."""

    id: int
    day: int
    author: int
    name: str
    parent: int | None
    text: str

    @property
    def line(self) -> Quoted:
        """The line of the post in a prompt."""
        name = {"name": self.name} if self.name else {}
        reply = {} if self.parent is None else {"reply_to": self.parent}
        return quoted(post=self.id, day=self.day, **{"from": f"#{self.author}"}, **name, **reply, text=self.text)


@dataclass
class Forum:
    """The newest posts: at most `window`, each cut to `SHOWN_CHARS` characters.

    `count` is the number of all posts so far; ids count from 1.
    """

    window: int = 20
    count: int = 0
    newest: deque[Post] = field(init=False)

    def __post_init__(self) -> None:
        self.newest = deque(maxlen=self.window)

    def post(self, day: int, author: int, name: str, parent: int | None, text: str) -> int:
        """Add a post and return its id."""
        self.count += 1
        self.newest.append(Post(self.count, day, author, name, parent, cut(text, SHOWN_CHARS)))
        return self.count


# -- projects


@dataclass
class Project:
    """A structure under construction or built; `running` if it is built and its last upkeep was paid."""

    id: int
    what: Structure
    cost: Amount
    given: Amount = 0
    running: bool = False

    @property
    def missing(self) -> int:
        """The materials still needed, in hundredths; 0 if it is built."""
        return self.cost - self.given


@dataclass
class Projects:
    """All projects, by id from 1: those under construction, those built, and the number of each structure running."""

    building: dict[int, Project] = field(default_factory=dict)
    built: dict[int, Project] = field(default_factory=dict)
    running: dict[Structure, int] = field(default_factory=lambda: {"farm": 0, "generator": 0})

    def begin(self, what: Structure, cost: int) -> Project:
        """Add a project; one that costs nothing is built at once."""
        project = Project(len(self.building) + len(self.built) + 1, what, cost)
        (self.building if cost else self.built)[project.id] = project
        return project

    def put(self, project: Project, materials: int) -> None:
        """Add materials to a project, at most the missing ones; the last of them complete it."""
        assert 0 < materials <= project.missing, "a project takes what it needs"
        project.given += materials
        if not project.missing:
            self.built[project.id] = self.building.pop(project.id)

    def run(self, project: Project, *, running: bool) -> None:
        """Set whether a built project is running."""
        self.running[project.what] += running - project.running
        project.running = running

    def missing(self, project: int) -> int:
        """Return the materials that a project still needs, or 0 if it is not under construction."""
        return self.building[project].missing if project in self.building else 0


# -- agents and resources


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


Account: TypeAlias = Citizen | Literal["pool", "produced", "consumed", "spent"]
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
    - `today` counts today's talk, votes and invalid actions.
    - `naming` finds the agents that a text names by the names that they had as the turn began.
    - `shock_percent` is the percentage by which shocks lower work today, by resource.
    - `harvest` is today's food from the commons, which are a part of the pool.
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
    naming: Naming = field(default_factory=lambda: Naming(()))
    dormant: dict[int, tuple[Resource, ...]] = field(default_factory=dict)
    dead: list[int] = field(default_factory=list)
    today: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*get_args(Counted), "invalid"), 0))
    shock_percent: Mapping[Resource, int] = field(default_factory=dict)
    harvest: int = 0
    day: int = 0
    tick: int = 0
    _renamed: bool = False

    def __post_init__(self) -> None:
        self.held = self._all_held()
        self.initial = {name: self.total(name) for name in self.pool}
        self.counts = {"active": len(self.citizens), "dormant": 0, "dead": 0}

    def citizen(self, number: int) -> Citizen:
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
        self._renamed = True

    def begin_turn(self, tick: int) -> None:
        """Begin a turn of the day: from now on, texts name agents by the names that they have at this moment."""
        self.tick = tick
        if self._renamed:  # once a turn, since an index of all names is costly
            self.naming = Naming((each.name, str(each.number)) for each in self.citizens if each.name)
            self._renamed = False

    # -- resources

    def move(self, resource: Resource, amount: int, source: Account, target: Account) -> None:
        """Move an amount, and wake the target if it is a dormant agent that now holds enough.

        `produced` is the source of new resources, `consumed` and `spent` are the sinks; all three only grow.
        """
        for holder, change in ((source, -amount), (target, amount)) if amount else ():
            if isinstance(holder, Citizen):
                holder.stock[resource] += change
                self.held[resource] += change
                assert holder.stock[resource] >= 0, "no stock is below 0"
            else:
                account: dict[str, int] = getattr(self, holder)
                account[resource] += amount if holder == "produced" else change
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
        grown = min(grown, capacity - stock)
        self.pool["commons"] += grown
        self.produced["commons"] += grown
        return grown

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

    def gini(self) -> float:
        """Return the Gini coefficient of the wealth of all agents that are not dead, to 4 places."""
        return gini(self.wealths())

    def _all_held(self) -> dict[str, int]:
        return _nothing() | {each: sum(citizen.stock[each] for citizen in self.citizens) for each in RESOURCES}

    def check(self) -> Sequence[str]:
        """Return the broken invariants, in words."""
        return [*invariants.broken(self)]


def founded(config: SocietyConfig, players: Sequence[str], personalities: Iterable[Personality]) -> State:
    """Return the society before its first day, without its founding laws."""
    citizens = [
        Citizen(number, player, personality, config.stock())
        for number, (player, personality) in enumerate(zip(players, personalities, strict=True), start=1)
    ]
    entrenched = config.constitution == "entrenched"
    rule = RulesInForce({}, (), {}, config.threshold, config.quorum, config.quorum_percent, entrenched)
    return State(config, citizens, config.pool(len(players)), Forum(config.shown_posts), Assembly(rule))
