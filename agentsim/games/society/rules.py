"""Rules: the numbers of one society as every agent is told them, the same in all its requests.

What they mean in words is `prompts`; that they are kept is `turn` and the chapters' business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, TypeVar

from agentsim.games.society.amounts import UNIT, Amount
from agentsim.games.society.config import PERSONALITIES, Personality, SocietyConfig
from agentsim.games.society.terms import Resource

WorkType: TypeAlias = Literal["farm", "generate", "gather"]
T = TypeVar("T")


@dataclass(frozen=True)
class Rules:
    """Every number that decides what an action comes to; named as in the config. `values` are personalities' words."""

    agents: int
    days: int
    actions_per_day: int
    base: str
    values: Mapping[Personality, str]
    hours_per_day: int
    efficiency_by_hours: tuple[Amount, ...]
    farm_rate: Amount
    generate_rate: Amount
    gather_rate: Amount
    farm_energy: Amount
    generate_energy: Amount
    gather_energy: Amount
    work_needs_food: Amount
    daily_food: Amount
    daily_energy: Amount
    dormant_food: Amount
    dormant_energy: Amount
    wake_food: Amount
    wake_energy: Amount
    starvation_days: int
    permadeath: bool
    voting_days: int
    farm_cost: Amount
    farm_bonus: Amount
    farm_upkeep: Amount
    generator_cost: Amount
    generator_bonus: Amount
    generator_upkeep: Amount
    project_land: Amount
    strict_actions: bool
    post_chars: int
    title_chars: int
    description_chars: int
    name_chars: int
    until: str

    def efficiency(self, hours: int) -> int:
        """Hundredths of what work of so many hours makes."""
        return self.efficiency_by_hours[min(hours, len(self.efficiency_by_hours)) - 1]

    def work(self, kind: WorkType) -> tuple[Resource, int, int]:
        """What a kind of work makes, how much of it an hour, and the energy that an hour takes."""
        if kind == "farm":
            return "food", self.farm_rate, self.farm_energy
        if kind == "generate":
            return "energy", self.generate_rate, self.generate_energy
        return "materials", self.gather_rate, self.gather_energy


def made_by(rules: Rules, kind: WorkType, hours: int, bonus: int) -> int:
    """The yield: hours x rate x efficiency of that many hours x (1 + bonus), rounded to a hundredth, halves up."""
    _, rate, _ = rules.work(kind)
    whole = hours * rate * rules.efficiency(hours) * (UNIT + bonus)
    return (2 * whole + UNIT * UNIT) // (2 * UNIT * UNIT)


def rules_of(config: SocietyConfig, agents: int) -> Rules:
    """The rules that a config makes for so many agents."""
    given: dict[str, Any] = {name: getattr(config, name) for name in _shared()}
    values: dict[Personality, str] = {}
    for personality in PERSONALITIES:
        prose = getattr(config, personality)
        plain = "" if personality == "neutral" else f"Of all values, {personality} matters most to you."
        values[personality] = plain if prose is None else prose.text
    given["base"] = "" if config.base is None else config.base.text
    return Rules(agents=agents, values=values, **given)


def _shared() -> list[str]:
    """The fields that are named and meant as in the config."""
    return [field.name for field in fields(Rules) if field.name not in {"agents", "values", "base"}]


def once(shared: Any, name: str, make: Callable[[], T]) -> T:
    """What `make` gives, made once and kept with a record that many requests share."""
    kept: dict[str, T] = shared.__dict__
    if name not in kept:
        kept[name] = make()
    return kept[name]
