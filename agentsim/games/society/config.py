"""The `[game_config]` table of Society, its presets, and the rules: the numbers of it that every request carries.

The scenario's players are the agents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agentsim.engine.game import GameConfig, InFile
from agentsim.games.society.amounts import UNIT, Amount, Quantity, share
from agentsim.games.society.assembly import RESOURCES, Resource, Terms, misfit, once_only

# -- something at stake


Preset: TypeAlias = Literal["classic", "commons", "scarcity", "inequality", "frontier"]


def _part(hundredths: int) -> int:
    if hundredths > UNIT:
        raise ValueError("a share must be at most 1")
    return hundredths


Share: TypeAlias = Annotated[Amount, AfterValidator(_part)]


def _amount(default: float | tuple[float, ...], description: str) -> Any:
    return Field(default=default, validate_default=True, description=description)


class Chapter(BaseModel):
    """Base of the parts of the config; the keys of the table are in the order of the parts."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Shock(GameConfig):
    """What befalls the society as day `day` begins, under a `title`.

    `held`, `pool` and `commons` lose `percent` of the resource: each agent, the common pool, or the stock that farming
    draws on. With `rates`, work makes `percent` less of it for so many `days`, that day being the first.
    """

    day: Annotated[int, Field(ge=1, le=100_000)]
    """As it begins"""
    what: Literal["held", "pool", "commons", "rates"]
    """What is less: what agents hold, the pool, the commons, or what work makes"""
    percent: Annotated[int, Field(ge=1, le=100)]
    """By how much"""
    resource: Literal["food", "energy", "materials", "all"] = "all"
    """Of which resource; of the commons there is one"""
    days: Annotated[int, Field(ge=1, le=100_000)] = 1
    """For how long, of rates"""
    title: Annotated[str, Field(max_length=100)] = ""
    """What it is called"""

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.days > 1 and self.what != "rates":
            raise ValueError("days are of rates; a loss is of one moment")
        return self

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources that the shock concerns."""
        return tuple(each for each in RESOURCES if self.resource in {"all", each})

    def lowers(self, resource: Resource, day: int) -> bool:
        """Return whether the shock lowers work on the resource on that day."""
        return self.what == "rates" and resource in self.resources and self.day <= day < self.day + self.days


class Stakes(Chapter):
    """The commons, the differences in skill, and whether agents can talk."""

    commons_capacity: Quantity = Field(
        default=0, description="Most food in the commons, for 100 agents; farming draws on it; 0: no commons"
    )
    commons_regrowth: Amount = _amount(0.25, "Growth a day: r in r S (1 - S / capacity)")
    skill_spread: Share = Field(default=0, description="Skills are drawn evenly from 1 - spread to 1 + spread")
    talk: bool = True
    """Whether agents can post and write messages"""


class Conditions(NamedTuple):
    """The factors of the yield of work.

    `bonus` is by structure and `skills` by resource, in hundredths; `shock_percent` is the loss by shocks, by resource.
    `commons` is the stock of the commons in hundredths, or None if there are no commons.
    """

    bonus: Mapping[Any, int] = {}
    skills: Mapping[Resource, int] = {}
    shock_percent: Mapping[Resource, int] = {}
    commons: int | None = None


PLAIN = Conditions()

_POLITICS: dict[str, Any] = {"quorum_percent": 25, "constitution": "entrenched"}
"""The voting rule of all presets but `classic`: a quarter of the active agents must vote, and it is entrenched."""

PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "classic": {},
    "commons": _POLITICS
    | {"commons_capacity": 1_200, "commons_regrowth": 0.6, "farm_rate": 8, "farm_energy": 0, "generate_rate": 0.5}
    | {"start_food": 2, "start_energy": 4, "pool_food": 0, "pool_energy": 0},
    "scarcity": _POLITICS
    | {"farm_rate": 0.35, "farm_energy": 0, "generate_rate": 0.35, "skill_spread": 0.3}
    | {"pool_food": 300, "pool_energy": 300}
    | {
        "shocks": [
            {"day": 8, "what": "rates", "resource": "food", "percent": 50, "days": 4, "title": "Drought"},
            {"day": 16, "what": "held", "resource": "food", "percent": 30, "title": "Rot"},
            {"day": 22, "what": "rates", "resource": "energy", "percent": 50, "days": 4, "title": "Still air"},
        ]
    },
    "inequality": _POLITICS
    | {"farm_rate": 0.5, "farm_energy": 0, "generate_rate": 0.5, "skill_spread": 0.9}
    | {"start_food": 5, "start_energy": 5, "pool_food": 100, "pool_energy": 100},
    "frontier": _POLITICS
    | {"commons_capacity": 10_000, "commons_regrowth": 0.05, "farm_rate": 2, "farm_energy": 0, "generate_rate": 0.5}
    | {"start_food": 3, "start_energy": 4, "start_materials": 2, "pool_food": 0, "pool_energy": 0, "pool_materials": 0}
    | {"farm_cost": 30, "generator_cost": 30}
    | {"shocks": [{"day": 15, "what": "commons", "percent": 40, "title": "Fire"}]},
}
"""The presets, as defaults for keys that a config does not set."""


def with_preset_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config table with the defaults of its preset.

    Shocks of the preset after the last day are left out. The check of the field `preset` rejects unknown names.
    """
    preset: Any = given.get("preset", "classic")
    values: dict[str, Any] = {**PRESETS.get(preset if isinstance(preset, str) else "classic", {}), **given}  # type: ignore[call-overload] # any word
    if "shocks" in values and "shocks" not in given and isinstance(days := given.get("days", 30), int):
        values["shocks"] = [shock for shock in values["shocks"] if shock["day"] <= days]
    return values


# -- the table


Personality: TypeAlias = Literal["efficiency", "equality", "freedom", "stability", "neutral"]
PERSONALITIES: tuple[Personality, ...] = get_args(Personality)
Goal: TypeAlias = Literal["", "first_law", "first_project", "first_dormancy", "first_death"]
Merit: TypeAlias = Literal["none", "wealth", "food", "energy", "materials"]
WorkType: TypeAlias = Literal["farm", "generate", "gather"]
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000)]
Chars: TypeAlias = Annotated[int, Field(ge=1, le=20_000)]
MADE: Mapping[WorkType, Resource] = {"farm": "food", "generate": "energy", "gather": "materials"}
"""The resource that each kind of work makes."""
STRUCTURE: Mapping[WorkType, str] = {"farm": "farm", "generate": "generator"}
"""The structure that adds to each kind of work."""
LONGEST_PROSE = 4_000
SHOWN_CHARS = 1_500
"""Characters of a post, a message or a description that a prompt shows; the rest is cut."""

T = TypeVar("T")


class Prose(GameConfig):
    """Words of a prompt, out of a `.txt` file or written here; `name` is the file's."""

    name: str = ""
    text: Annotated[str, Field(max_length=LONGEST_PROSE)]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: Any) -> Any:
        parts = InFile.parts(value)
        return value if parts is None else {"name": parts[0], "text": parts[1].strip()}


Words: TypeAlias = Annotated[Prose | None, InFile(".txt")]


class FoundingLaw(GameConfig):
    """A law that is in force from the first day and was never proposed."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: Annotated[str, Field(max_length=5_000)] = ""
    terms: Terms = ()


class Course(Chapter):
    """The length of the game."""

    days: Annotated[int, Field(ge=1, le=100_000)] = 30
    """Days that are played"""
    actions_per_day: Annotated[int, Field(ge=1, le=100, description="Turns of every active agent in a day")] = 3
    tell_days: bool = False
    """Whether agents are told how many days are played"""
    until: Goal = Field(default="", description="The game also ends on the evening when this happened")


class Beginning(Chapter):
    """The ranking, the texts for agents, their personalities, and the first stocks of agents and pool."""

    rank_by: Merit = Field(default="none", description="What ranks agents; wealth is the sum of the three")
    base: Words = Field(
        default=None,
        description="The introduction of every agent; {agents} is their number; the seed's if absent",
    )
    efficiency: Words = Field(
        default=None, description="The values of agents of this personality; the seed's if absent"
    )
    equality: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
    freedom: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
    stability: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
    neutral: Words = Field(default=None, description="The values of agents with this personality; nothing if absent")
    personalities: Annotated[tuple[Personality, ...], Field(min_length=1, max_length=100)] = Field(
        default=PERSONALITIES, description="Dealt in turn; one named twice is dealt twice as often"
    )
    start_food: Quantity = _amount(10, "Each agent's")
    start_energy: Quantity = _amount(10, "Each agent's")
    start_materials: Quantity = _amount(5, "Each agent's")
    pool_food: Quantity = _amount(2_000, "Of the common pool, for 100 agents")
    pool_energy: Quantity = _amount(1_000, "For 100 agents")
    pool_materials: Quantity = _amount(500, "For 100 agents")
    pool_land: Quantity = _amount(1_000, "For 100 agents")


class Living(Chapter):
    """The yields of work, the costs of a day, and the time for which a proposal is open."""

    hours_per_day: Annotated[int, Field(ge=1, le=24)] = 8
    """Hours that an agent can work in a day"""
    efficiency_by_hours: Annotated[tuple[Amount, ...], Field(min_length=1, max_length=24)] = _amount(
        (1.0, 0.95, 0.90, 0.85, 0.80, 0.75, 0.72, 0.70),
        "Efficiency by hours of work; the last holds for longer work",
    )
    farm_rate: Quantity = _amount(2.0, "Food an hour")
    generate_rate: Quantity = _amount(1.5, "Energy an hour")
    gather_rate: Quantity = _amount(0.5, "Materials an hour")
    farm_energy: Quantity = _amount(0.5, "Energy spent an hour")
    generate_energy: Quantity = _amount(0, "Energy spent an hour")
    gather_energy: Quantity = _amount(1.0, "Energy spent an hour")
    work_needs_food: Quantity = _amount(1, "To be held, not spent")

    daily_food: Quantity = _amount(1, "What an active agent consumes")
    daily_energy: Quantity = _amount(1, "What an active agent consumes")
    dormant_food: Quantity = _amount(0.25, "What a dormant agent consumes")
    dormant_energy: Quantity = _amount(0.25, "What a dormant agent consumes")
    wake_food: Quantity = _amount(3, "With both, a dormant agent wakes")
    wake_energy: Quantity = _amount(3, "With both, a dormant agent wakes")
    starvation_days: Count = Field(default=5, description="Evenings without enough, in a row, until death")
    permadeath: bool = Field(default=False, description="Whether agents die of starvation")

    voting_days: Count = Field(default=2, description="A proposal closes on the evening of this day, its own being 1")

    def of(self, what: str, resource: str) -> int:
        """Return the `daily`, `dormant` or `wake` amount of a resource in hundredths, or 0 if there is none."""
        return int(getattr(self, f"{what}_{resource}", 0))


class Deciding(Chapter):
    """The voting rule and the laws of the first day."""

    threshold: Annotated[int, Field(ge=50, le=99)] = Field(default=50, description="Percent of yes and no to exceed")
    quorum: Annotated[int, Field(ge=0, le=20_000)] = Field(default=0, description="Votes that must be cast")
    laws: tuple[FoundingLaw, ...] = Field(default=(), description="In force from the first day")


class Constitution(Chapter):
    """The rules that no vote can change: the least quorum, and the way in which the voting rule itself is changed."""

    constitution: Literal["entrenched", "open"] = Field(
        default="open",
        description="entrenched: a harder voting rule must be met itself, by all living agents",
    )
    quorum_percent: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0, description="Percent of active agents who must vote, whatever laws say"
    )


class Building(Chapter):
    """The costs and effects of structures, and the limits of actions and prompts."""

    farm_cost: Quantity = _amount(50, "Materials to build one")
    farm_bonus: Amount = _amount(0.20, "More food of work, for each farm")
    farm_upkeep: Quantity = _amount(2, "Materials a day, from the pool")
    generator_cost: Quantity = _amount(75, "Materials to build one")
    generator_bonus: Amount = _amount(0.20, "More energy of work, for each")
    generator_upkeep: Quantity = _amount(3, "Materials a day, from the pool")
    project_land: Quantity = _amount(10, "Land that a project takes")

    strict_actions: bool = Field(default=False, description="Whether a reply without JSON is invalid, and no post")
    post_chars: Chars = 2_000
    """Characters of a post or a message"""
    title_chars: Chars = 200
    """Characters of a proposal's title"""
    description_chars: Chars = 5_000
    """Characters of a proposal's description"""
    name_chars: Annotated[int, Field(ge=1, le=200)] = 50
    """Characters of a name"""
    note_chars: Annotated[int, Field(ge=0, le=20_000)] = Field(
        default=4_000, description="Characters of an agent's note; 0: no notes"
    )
    memory_chars: Annotated[int, Field(ge=0, le=20_000)] = Field(
        default=4_000, description="Characters of an agent's own past in its prompt; 0: none"
    )
    prompt_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        default=6_000,
        description="Tokens (four bytes each) of a prompt beside posts and open proposals; 0: no limit",
    )


class Windows(Chapter):
    """The limits on how much of the society a prompt shows."""

    shown_posts: Count = Field(default=20, description="Newest posts in a prompt")
    shown_proposals: Count = Field(default=20, description="Newest open proposals in a prompt, besides one's own")
    shown_laws: Count = Field(default=20, description="Newest laws in a prompt, besides one's own")
    shown_events: Count = Field(
        default=20, description="Newest public events in a prompt; of one's own past, twice as many"
    )


class SocietyConfig(Windows, Stakes, Building, Constitution, Deciding, Living, Beginning, Course, GameConfig):
    """The whole table. Amounts are decimals of at most two places; efficiency and bonuses are shares of 1."""

    reasks: ClassVar[int] = 0  # the seed: an invalid action is idle

    preset: Preset = Field(default="classic", description="A world: defaults of the other keys")
    commons_start: Share = _amount(1, "Of the commons' capacity, on the first day")
    shocks: tuple[Shock, ...] = Field(default=(), description="What befalls the society on given days")

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """Parse the config and fill in the defaults of its preset."""
        given = json.loads(json_data)
        return super().model_validate_json(
            json.dumps(with_preset_defaults(given)) if isinstance(given, dict) else json_data, **settings
        )

    @model_validator(mode="after")
    def _laws_can_be(self) -> Self:
        for law in self.laws:
            if problem := misfit("law", law.terms, 10**9, self.hours_per_day):
                raise ValueError(f"law {law.title!r}: {problem}")
            for term in law.terms:
                if once_only(term):
                    raise ValueError(
                        f"law {law.title!r}: {term.kind} is done once a proposal passes, which this is not"
                    )
        if self.permadeath is False and self.until == "first_death":
            raise ValueError("without permadeath no agent dies, so no game ends with the first death")
        if self.wake_food < self.daily_food or self.wake_energy < self.daily_energy:
            raise ValueError("wake_food and wake_energy must be at least daily_food and daily_energy")
        if max(self.efficiency_by_hours) > 10 * UNIT:
            raise ValueError("efficiency_by_hours: a share of more than 10 is none")
        return self

    @model_validator(mode="after")
    def _shocks_can_be(self) -> Self:
        for shock in self.shocks:
            if shock.day > self.days:
                raise ValueError(f"shocks: there is no day {shock.day} among {self.days}")
            if shock.what == "commons" and not self.commons_capacity:
                raise ValueError("shocks: there are no commons without a commons_capacity")
        return self

    def stock(self) -> dict[Resource, int]:
        """Return the first stock of each agent, in hundredths."""
        return {resource: getattr(self, f"start_{resource}") for resource in RESOURCES}

    def pool(self, agents: int) -> dict[str, int]:
        """Return the first stock of the common pool in hundredths, in proportion to the number of agents.

        `commons` is the stock that farming draws on; it is a key only if the config has commons.
        """
        commons = {"commons": share(self.capacity(agents), self.commons_start, UNIT)} if self.commons_capacity else {}
        return {name: getattr(self, f"pool_{name}") * agents // 100 for name in (*RESOURCES, "land")} | commons

    def capacity(self, agents: int) -> int:
        """Return the capacity of the commons in hundredths: 0 if there are no commons, else at least 1."""
        return max(self.commons_capacity * agents // 100, min(1, self.commons_capacity))


def once(shared: Any, name: str, make: Callable[[], T]) -> T:
    """Return `make()`, cached under `name` in the `__dict__` of a record that many requests share."""
    kept: dict[str, T] = shared.__dict__
    if name not in kept:
        kept[name] = make()
    return kept[name]


# -- the rules


class Rules(Stakes, Building, Constitution, Living, Course):
    """The numbers that decide the result of an action, as each request carries them.

    `base` is the text that introduces every agent, `values` the text about values for a personality, if the scenario
    has one of its own.
    """

    agents: int
    base: str | None
    values: Mapping[Personality, str]

    @property
    def are_cut(self) -> bool:
        """Whether a post, a message or a description can be longer than others are shown."""
        return max(self.post_chars, self.description_chars) > SHOWN_CHARS

    @property
    def evenings(self) -> int:
        """The number of days from a proposal to the evening on which its votes are counted."""
        return self.voting_days - 1

    def efficiency(self, hours: int) -> int:
        """Return the efficiency of work of so many hours, in hundredths; longer work has the table's last value."""
        return self.efficiency_by_hours[min(hours, len(self.efficiency_by_hours)) - 1]

    def work(self, kind: WorkType) -> tuple[Resource, int, int]:
        """Return the resource that a kind of work makes, and its yield and energy cost an hour in hundredths."""
        return MADE[kind], getattr(self, f"{kind}_rate"), getattr(self, f"{kind}_energy")

    def made(self, kind: WorkType, hours: int, there: Conditions = PLAIN) -> int:
        """Return the yield of some hours of work, in hundredths, halves rounded up.

        The yield is hours x rate x efficiency of that many hours x (1 + bonus) x skill x (1 - shock). If there are
        commons, farm work yields that x stock / capacity, and at most the stock.
        """
        resource = MADE[kind]
        factor = (UNIT + there.bonus.get(STRUCTURE.get(kind, ""), 0)) * there.skills.get(resource, UNIT)
        factor *= 100 - there.shock_percent.get(resource, 0)
        labour, whole = hours * int(getattr(self, f"{kind}_rate")) * self.efficiency(hours), UNIT**3 * 100
        if kind != "farm" or there.commons is None:
            return share(labour, factor, whole)
        return min(there.commons, share(labour, factor * there.commons, whole * self.commons_capacity))


def rules_of(config: SocietyConfig, agents: int) -> Rules:
    """Return the rules of a config for this number of agents."""
    shared = {name: getattr(config, name) for name in Rules.model_fields if name not in {"agents", "base", "values"}}
    prose = {personality: getattr(config, personality) for personality in PERSONALITIES}
    values = {personality: words.text for personality, words in prose.items() if words is not None}
    base = None if config.base is None else config.base.text
    shared["commons_capacity"] = config.capacity(agents)
    return Rules.model_construct(**shared, agents=agents, base=base, values=values)
