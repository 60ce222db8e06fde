"""The settings of commons, unequal skills and shocks, and the presets of worlds that use them.

All of these settings are off in the preset `classic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agentsim.engine.game import GameConfig
from agentsim.games.society.amounts import UNIT, Amount, Quantity
from agentsim.games.society.terms import RESOURCES, Resource

Preset: TypeAlias = Literal["classic", "commons", "scarcity", "inequality", "frontier"]


def _part(hundredths: int) -> int:
    if hundredths > UNIT:
        raise ValueError("a share must be at most 1")
    return hundredths


Share: TypeAlias = Annotated[Amount, AfterValidator(_part)]


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
        default=0, description="Food in the commons at most, for 100 agents; farming draws on them; 0 for no commons"
    )
    commons_regrowth: Amount = Field(
        default=25,
        description="Of the commons a day while they are small: r of logistic growth, r S (1 - S / capacity)",
    )
    skill_spread: Share = Field(
        default=0, description="Each agent's skill in each kind of work is drawn evenly from 1 - spread to 1 + spread"
    )
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


def settled(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config table with the defaults of its preset.

    Shocks of the preset after the last day are left out. The check of the field `preset` rejects unknown names.
    """
    preset: Any = given.get("preset", "classic")
    values: dict[str, Any] = {**PRESETS.get(preset if isinstance(preset, str) else "classic", {}), **given}  # type: ignore[call-overload] # any word
    if "shocks" in values and "shocks" not in given and isinstance(days := given.get("days", 30), int):
        values["shocks"] = [shock for shock in values["shocks"] if shock["day"] <= days]
    return values
