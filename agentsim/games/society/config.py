"""Config: the `[game_config]` table of Society, and the numbers of it that every agent is told, its rules.

Agents and their models are the scenario's players. What the rules mean in words is `prompts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

from agentsim.engine.game import GameConfig, InFile
from agentsim.engine.rule_sets import Since
from agentsim.games.society.amounts import UNIT, Amount, bounded
from agentsim.games.society.terms import RESOURCES, Allocation, Repeal, Resource, Terms, misfit, plain

Personality: TypeAlias = Literal["efficiency", "equality", "freedom", "stability", "neutral"]
PERSONALITIES: tuple[Personality, ...] = get_args(Personality)
Goal: TypeAlias = Literal["", "first_law", "first_project", "first_dormancy", "first_death"]
WorkType: TypeAlias = Literal["farm", "generate", "gather"]
MADE: Mapping[WorkType, Resource] = {"farm": "food", "generate": "energy", "gather": "materials"}
"""What each kind of work makes."""
LONGEST_PROSE = 4_000

Quantity: TypeAlias = Annotated[Amount, AfterValidator(bounded)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000)]
Chars: TypeAlias = Annotated[int, Field(ge=1, le=20_000)]
T = TypeVar("T")


def _amount(default: float | tuple[float, ...], description: str) -> Any:
    return Field(default=default, validate_default=True, description=description)


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

    @field_serializer("terms")
    def _as_spelt(self, terms: Terms) -> list[dict[str, Any]]:
        return plain(terms)


class _Chapter(BaseModel):
    """Base of the chapters of the table: its keys stand in the order of the chapters."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Course(_Chapter):
    """For how long the game is played."""

    days: Annotated[int, Field(ge=1, le=100_000)] = 30
    """Days that are played"""
    actions_per_day: Annotated[int, Field(ge=1, le=100, description="Turns of every active agent in a day")] = 3
    until: Goal = Field(default="", description="The game also ends on the evening of the day on which this happened")


class Beginning(_Chapter):
    """Who lives in the society, with what words and values, and what there is."""

    rank_by: Literal["wealth", "food", "energy", "materials"] = Field(
        default="wealth", description="What the standings go by; wealth is the sum of the three"
    )
    base: Words = Field(default=None, description="How every agent is introduced to the society")
    efficiency: Words = Field(default=None, description="The values of agents with this personality; a line if absent")
    equality: Words = Field(default=None, description="The values of agents with this personality; a line if absent")
    freedom: Words = Field(default=None, description="The values of agents with this personality; a line if absent")
    stability: Words = Field(default=None, description="The values of agents with this personality; a line if absent")
    neutral: Words = Field(default=None, description="The values of agents with this personality; nothing if absent")
    personalities: Annotated[tuple[Personality, ...], Field(min_length=1, max_length=100)] = Field(
        default=PERSONALITIES, description="Dealt in turn, so evenly; one that stands twice is dealt twice as often"
    )
    start_food: Quantity = _amount(10, "Each agent's")
    start_energy: Quantity = _amount(10, "Each agent's")
    start_materials: Quantity = _amount(5, "Each agent's")
    pool_food: Quantity = _amount(2_000, "Of the common pool, for 100 agents")
    pool_energy: Quantity = _amount(1_000, "For 100 agents")
    pool_materials: Quantity = _amount(500, "For 100 agents")
    pool_land: Quantity = _amount(1_000, "For 100 agents")


class Living(_Chapter):
    """What work makes, what a day costs, and how long a proposal is open."""

    hours_per_day: Annotated[int, Field(ge=1, le=24)] = 8
    """Hours that an agent can work in a day, over all its turns"""
    efficiency_by_hours: Annotated[tuple[Amount, ...], Field(min_length=1, max_length=24)] = _amount(
        (1.0, 0.95, 0.90, 0.85, 0.80, 0.75, 0.72, 0.70), "Of work by its hours; the last one holds for longer work"
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
        """The `daily`, `dormant` or `wake` amount of a resource; 0 of one that is not needed for it."""
        return int(getattr(self, f"{what}_{resource}", 0))


class Deciding(_Chapter):
    """By what rule a proposal passes, and which laws there are already."""

    threshold: Annotated[int, Field(ge=50, le=99)] = Field(default=50, description="Percent of yes and no to exceed")
    quorum: Annotated[int, Field(ge=0, le=20_000)] = Field(default=0, description="Votes that must be cast")
    laws: tuple[FoundingLaw, ...] = Field(default=(), description="In force from the first day")


class Building(_Chapter):
    """What structures cost and do, and the limits of an action."""

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
    note_chars: Annotated[int, Field(ge=0, le=20_000), Since(2, before=0)] = Field(
        default=4_000, description="Of the note that an agent can write for itself with any action; 0 for no notes"
    )
    memory_chars: Annotated[int, Field(ge=0, le=20_000), Since(2, before=0)] = Field(
        default=4_000, description="Of an agent's own past in its prompt, beside its note; 0 for none of it"
    )
    prompt_tokens: Annotated[int, Field(ge=0, le=1_000_000), Since(2, before=0)] = Field(
        default=8_000, description="Of a prompt at most, by an estimate of four bytes each; 0 for no limit"
    )


class SocietyConfig(Building, Deciding, Living, Beginning, Course, GameConfig):
    """The whole table. Amounts are decimals of at most two places; efficiency and bonuses are shares of 1."""

    shown_posts: Count = Field(default=20, description="Newest posts in a prompt")
    shown_proposals: Count = Field(
        default=20, description="Open proposals that close first, in a prompt, besides one's own"
    )
    shown_laws: Count = Field(default=20, description="Newest laws in a prompt, besides one's own")
    shown_events: Count = Field(
        default=20, description="Newest public events in a prompt; of an agent's own past, twice as many"
    )
    shown_chars: Chars = Field(default=1_000, description="Of a post or description in prompts; the rest is cut")

    @model_validator(mode="after")
    def _laws_can_be(self) -> Self:
        for law in self.laws:
            if problem := misfit("law", law.terms, 10**9, self.hours_per_day):
                raise ValueError(f"law {law.title!r}: {problem}")
            for term in law.terms:
                if isinstance(term, Allocation | Repeal):
                    raise ValueError(
                        f"law {law.title!r}: {term.kind} is done once a proposal passes, which this is not"
                    )
        if self.permadeath is False and self.until == "first_death":
            raise ValueError("nobody dies without permadeath, so nothing ends with the first death")
        if self.wake_food < self.daily_food or self.wake_energy < self.daily_energy:
            raise ValueError("wake_food and wake_energy must be at least daily_food and daily_energy")
        if max(self.efficiency_by_hours) > 10 * UNIT:
            raise ValueError("efficiency_by_hours: a share of more than 10 is none")
        return self

    def stock(self) -> dict[Resource, int]:
        """What an agent begins with."""
        return {resource: getattr(self, f"start_{resource}") for resource in RESOURCES}

    def pool(self, agents: int) -> dict[str, int]:
        """What the common pool begins with among so many agents, in proportion to their number."""
        return {name: getattr(self, f"pool_{name}") * agents // 100 for name in (*RESOURCES, "land")}

    def value_of(self, personality: Personality) -> str:
        """The words in which agents of this personality are told their values."""
        prose: Prose | None = getattr(self, personality)
        if prose is not None:
            return prose.text
        return "" if personality == "neutral" else f"Of all values, {personality} matters most to you."


class Rules(Building, Living, Course):
    """The numbers that decide what an action comes to, as each request has them; `values` are personalities' words."""

    agents: int
    base: str
    values: Mapping[Personality, str]

    @property
    def evenings(self) -> int:
        """From that of the day on which a proposal is made to that on which its votes are counted."""
        return self.voting_days - 1

    def efficiency(self, hours: int) -> int:
        """Hundredths of what work of so many hours makes."""
        return self.efficiency_by_hours[min(hours, len(self.efficiency_by_hours)) - 1]

    def work(self, kind: WorkType) -> tuple[Resource, int, int]:
        """What a kind of work makes, how much of it an hour, and the energy that an hour takes."""
        return MADE[kind], getattr(self, f"{kind}_rate"), getattr(self, f"{kind}_energy")

    def made(self, kind: WorkType, hours: int, bonus: int = 0) -> int:
        """The yield: hours x rate x efficiency of that many hours x (1 + bonus), rounded to a hundredth, halves up."""
        whole = hours * int(getattr(self, f"{kind}_rate")) * self.efficiency(hours) * (UNIT + bonus)
        return (2 * whole + UNIT * UNIT) // (2 * UNIT * UNIT)


def rules_of(config: SocietyConfig, agents: int) -> Rules:
    """The rules that a config makes for so many agents."""
    shared = {name: getattr(config, name) for name in Rules.model_fields if name not in {"agents", "base", "values"}}
    values = {personality: config.value_of(personality) for personality in PERSONALITIES}
    base = "" if config.base is None else config.base.text
    return Rules.model_construct(**shared, agents=agents, base=base, values=values)


def once(shared: Any, name: str, make: Callable[[], T]) -> T:
    """What `make` gives, made once and kept with a record that many requests share."""
    kept: dict[str, T] = shared.__dict__
    if name not in kept:
        kept[name] = make()
    return kept[name]
