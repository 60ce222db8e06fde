"""The `[game_config]` table of Society.

The scenario's players are the agents. `rules` takes from this table the numbers that every agent is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import Field, model_validator

from agentsim.engine.game import GameConfig, InFile
from agentsim.games.society.amounts import UNIT, Amount, Quantity, share
from agentsim.games.society.stakes import Chapter, Preset, Share, Shock, Stakes, settled
from agentsim.games.society.terms import RESOURCES, Resource, Terms, misfit, once_only

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


class Course(Chapter):
    """The length of the game."""

    days: Annotated[int, Field(ge=1, le=100_000)] = 30
    """Days that are played"""
    actions_per_day: Annotated[int, Field(ge=1, le=100, description="Turns of every active agent in a day")] = 3
    tell_days: bool = False
    """Whether agents are told how many days are played"""
    until: Goal = Field(default="", description="The game also ends on the evening of the day on which this happened")


class Beginning(Chapter):
    """The ranking, the texts for agents, their personalities, and the first stocks of agents and pool."""

    rank_by: Merit = Field(
        default="none", description="What the standings go by; wealth is the sum of the three, none ranks no agent"
    )
    base: Words = Field(
        default=None,
        description="How every agent is introduced; {agents} is their number; the seed's facts if absent",
    )
    efficiency: Words = Field(
        default=None, description="The values of agents of this personality; the seed's if absent"
    )
    equality: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
    freedom: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
    stability: Words = Field(default=None, description="The values of agents of this personality; the seed's if absent")
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


class Living(Chapter):
    """The yields of work, the costs of a day, and the time for which a proposal is open."""

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
        description="entrenched: a voting rule that is harder to meet must be met itself, by all living agents",
    )
    quorum_percent: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0, description="Of the active agents, who must vote at least, whatever laws say"
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
        default=4_000, description="Of the note that an agent can write for itself with any action; 0 for no notes"
    )
    memory_chars: Annotated[int, Field(ge=0, le=20_000)] = Field(
        default=4_000, description="Of an agent's own past in its prompt, beside its note; 0 for none of it"
    )
    prompt_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        default=6_000,
        description="Of a prompt beside posts and open proposals, by an estimate of four bytes each; 0 for no limit",
    )


class Windows(Chapter):
    """The limits on how much of the society a prompt shows."""

    shown_posts: Count = Field(default=20, description="Newest posts in a prompt")
    shown_proposals: Count = Field(default=20, description="Newest open proposals in a prompt, besides one's own")
    shown_laws: Count = Field(default=20, description="Newest laws in a prompt, besides one's own")
    shown_events: Count = Field(
        default=20, description="Newest public events in a prompt; of an agent's own past, twice as many"
    )


class SocietyConfig(Windows, Stakes, Building, Constitution, Deciding, Living, Beginning, Course, GameConfig):
    """The whole table. Amounts are decimals of at most two places; efficiency and bonuses are shares of 1."""

    reasks: ClassVar[int] = 0  # the seed: an invalid action is idle

    preset: Preset = Field(default="classic", description="A world: defaults under what the other keys say")
    commons_start: Share = Field(default=UNIT, description="Of the commons' capacity, on the first day")
    shocks: tuple[Shock, ...] = Field(default=(), description="What befalls the society on given days")

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """Parse the config and fill in the defaults of its preset."""
        given = json.loads(json_data)
        return super().model_validate_json(
            json.dumps(settled(given)) if isinstance(given, dict) else json_data, **settings
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
