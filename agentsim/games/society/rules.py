"""Rules: the numbers of the config that every agent is told, and what they make of an hour of work."""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.games.society.amounts import UNIT, share
from agentsim.games.society.config import (
    MADE,
    PERSONALITIES,
    STRUCTURE,
    Building,
    Constitution,
    Course,
    Living,
    Personality,
    SocietyConfig,
    WorkType,
)
from agentsim.games.society.stakes import PLAIN, Conditions, Stakes
from agentsim.games.society.terms import Resource


class Rules(Stakes, Building, Constitution, Living, Course):
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

    def made(self, kind: WorkType, hours: int, there: Conditions = PLAIN) -> int:
        """The yield, rounded to a hundredth, halves up: hours x rate x efficiency of that many hours x (1 + bonus).

        All of it x skill, less what shocks take. What draws on commons is x stock / capacity, at most the stock.
        """
        resource = MADE[kind]
        factor = (UNIT + there.bonus.get(STRUCTURE.get(kind, ""), 0)) * there.skills.get(resource, UNIT)
        factor *= 100 - there.slump.get(resource, 0)
        labour, whole = hours * int(getattr(self, f"{kind}_rate")) * self.efficiency(hours), UNIT**3 * 100
        if kind != "farm" or there.commons is None:
            return share(labour, factor, whole)
        return min(there.commons, share(labour, factor * there.commons, whole * self.commons_capacity))


def rules_of(config: SocietyConfig, agents: int) -> Rules:
    """The rules that a config makes for so many agents."""
    shared = {name: getattr(config, name) for name in Rules.model_fields if name not in {"agents", "base", "values"}}
    values = {personality: config.value_of(personality) for personality in PERSONALITIES}
    base = "" if config.base is None else config.base.text.replace("{agents}", str(agents))
    shared["commons_capacity"] = config.capacity(agents)
    return Rules.model_construct(**shared, agents=agents, base=base, values=values)
