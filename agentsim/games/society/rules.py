"""The numbers of the config that every request carries, and the yield of work computed from them."""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.games.society.amounts import UNIT, share
from agentsim.games.society.config import (
    MADE,
    PERSONALITIES,
    SHOWN_CHARS,
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
