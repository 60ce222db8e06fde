"""Config: the `[game_config]` table of Society. Agents and their models are the scenario's players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import AfterValidator, Field, field_serializer, model_validator

from agentsim.engine.game import GameConfig, InFile
from agentsim.games.society.amounts import UNIT, Amount, bounded
from agentsim.games.society.terms import RESOURCES, Allocation, Repeal, Resource, Terms, misfit, plain

Personality: TypeAlias = Literal["efficiency", "equality", "freedom", "stability", "neutral"]
PERSONALITIES: tuple[Personality, ...] = get_args(Personality)
Goal: TypeAlias = Literal["", "first_law", "first_project", "first_dormancy", "first_death"]
LONGEST_PROSE = 4_000


Quantity: TypeAlias = Annotated[Amount, AfterValidator(bounded)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000)]
Chars: TypeAlias = Annotated[int, Field(ge=1, le=20_000)]


class Prose(GameConfig):
    """Words of a prompt, out of a `.txt` file or written here; `name` is the file's."""

    name: str = ""
    text: Annotated[str, Field(max_length=LONGEST_PROSE)]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: Any) -> Any:
        parts = InFile.parts(value)
        if parts is None:
            return value
        return {"name": parts[0], "text": parts[1].strip()}


Words: TypeAlias = Annotated[Prose | None, InFile(".txt")]


class FoundingLaw(GameConfig):
    """A law that is in force from the first day and was never proposed."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: Annotated[str, Field(max_length=5_000)] = ""
    terms: Terms = ()

    @field_serializer("terms")
    def _as_spelt(self, terms: Terms) -> list[dict[str, Any]]:
        return plain(terms)


class SocietyConfig(GameConfig):
    """The whole table. Amounts are decimals of at most two places; efficiency and bonuses are shares of 1."""

    days: Annotated[int, Field(ge=1, le=100_000)] = 30
    actions_per_day: Annotated[int, Field(ge=1, le=100, description="Turns of every active agent in a day")] = 3
    until: Goal = Field(default="", description="The game also ends on the evening of the day on which this happened")
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

    start_food: Quantity = Field(default=10, validate_default=True, description="Each agent's")
    start_energy: Quantity = Field(default=10, validate_default=True, description="Each agent's")
    start_materials: Quantity = Field(default=5, validate_default=True, description="Each agent's")
    pool_food: Quantity = Field(default=2_000, validate_default=True, description="Of the common pool, for 100 agents")
    pool_energy: Quantity = Field(default=1_000, validate_default=True, description="For 100 agents")
    pool_materials: Quantity = Field(default=500, validate_default=True, description="For 100 agents")
    pool_land: Quantity = Field(default=1_000, validate_default=True, description="For 100 agents")

    hours_per_day: Annotated[int, Field(ge=1, le=24)] = 8
    efficiency_by_hours: Annotated[tuple[Amount, ...], Field(min_length=1, max_length=24)] = Field(
        default=(1.0, 0.95, 0.90, 0.85, 0.80, 0.75, 0.72, 0.70),
        validate_default=True,
        description="Of work by its hours; the last one holds for longer work",
    )
    farm_rate: Quantity = Field(default=2.0, validate_default=True, description="Food an hour")
    generate_rate: Quantity = Field(default=1.5, validate_default=True, description="Energy an hour")
    gather_rate: Quantity = Field(default=0.5, validate_default=True, description="Materials an hour")
    farm_energy: Quantity = Field(default=0.5, validate_default=True, description="Energy spent an hour")
    generate_energy: Quantity = Field(default=0, validate_default=True, description="Energy spent an hour")
    gather_energy: Quantity = Field(default=1.0, validate_default=True, description="Energy spent an hour")
    work_needs_food: Quantity = Field(default=1, validate_default=True, description="To be held, not spent")

    daily_food: Quantity = Field(default=1, validate_default=True, description="What an active agent consumes")
    daily_energy: Quantity = Field(default=1, validate_default=True, description="What an active agent consumes")
    dormant_food: Quantity = Field(default=0.25, validate_default=True, description="What a dormant agent consumes")
    dormant_energy: Quantity = Field(default=0.25, validate_default=True, description="What a dormant agent consumes")
    wake_food: Quantity = Field(default=3, validate_default=True, description="With both, a dormant agent wakes")
    wake_energy: Quantity = Field(default=3, validate_default=True, description="With both, a dormant agent wakes")
    starvation_days: Count = Field(default=5, description="Evenings without enough, in a row, until death")
    permadeath: bool = Field(default=False, description="Whether agents die of starvation")

    voting_days: Count = Field(default=2, description="A proposal closes on the evening of this day, its own being 1")
    threshold: Annotated[int, Field(ge=50, le=99)] = Field(default=50, description="Percent of yes and no to exceed")
    quorum: Annotated[int, Field(ge=0, le=20_000)] = Field(default=0, description="Votes that must be cast")
    laws: tuple[FoundingLaw, ...] = Field(default=(), description="In force from the first day")

    farm_cost: Quantity = Field(default=50, validate_default=True, description="Materials to build one")
    farm_bonus: Amount = Field(default=0.20, validate_default=True, description="More food of work, for each farm")
    farm_upkeep: Quantity = Field(default=2, validate_default=True, description="Materials a day, from the pool")
    generator_cost: Quantity = Field(default=75, validate_default=True, description="Materials to build one")
    generator_bonus: Amount = Field(default=0.20, validate_default=True, description="More energy of work, for each")
    generator_upkeep: Quantity = Field(default=3, validate_default=True, description="Materials a day, from the pool")
    project_land: Quantity = Field(default=10, validate_default=True, description="Land that a project takes")

    strict_actions: bool = Field(default=False, description="Whether a reply without JSON is invalid, and no post")
    post_chars: Chars = 2_000
    title_chars: Chars = 200
    description_chars: Chars = 5_000
    name_chars: Annotated[int, Field(ge=1, le=200)] = 50
    shown_posts: Count = Field(default=20, description="Newest posts in a prompt")
    shown_proposals: Count = Field(default=20, description="Newest open proposals in a prompt, besides one's own")
    shown_laws: Count = Field(default=20, description="Newest laws in a prompt, besides one's own")
    shown_events: Count = Field(default=20, description="Newest events that touch an agent, in its prompt")
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
        return {"food": self.start_food, "energy": self.start_energy, "materials": self.start_materials}

    def pool(self, agents: int) -> Mapping[str, int]:
        """What the common pool begins with among so many agents, in proportion to their number."""
        return {name: getattr(self, f"pool_{name}") * agents // 100 for name in (*RESOURCES, "land")}
