"""Events of Society: all that is said, decided, made, moved and used up, in numbers. Who hears them the rules say."""

from __future__ import annotations

from agentsim.engine.event import Event
from agentsim.games.society.events.economy import (
    AgentDied,
    AgentWoke,
    AllocationPaid,
    Consumed,
    DividendPaid,
    FellDormant,
    ProjectBegan,
    ProjectBuilt,
    UpkeepPaid,
    Worked,
    WorkMinimumBroken,
)
from agentsim.games.society.events.giving import Contributed, Traded
from agentsim.games.society.events.life import DayEnded, Idled, InvalidAction, Reasoned, SocietyBegan, SocietyEnded
from agentsim.games.society.events.talk import (
    LawEnacted,
    LawRepealed,
    MessageSent,
    Posted,
    ProposalResolved,
    Proposed,
    Renamed,
    Voted,
)

__all__ = ["EVENTS"]

EVENTS: tuple[type[Event], ...] = (
    SocietyBegan,
    Posted,
    MessageSent,
    Proposed,
    Voted,
    Reasoned,
    Worked,
    Traded,
    Contributed,
    Renamed,
    Idled,
    InvalidAction,
    ProposalResolved,
    LawEnacted,
    LawRepealed,
    ProjectBegan,
    ProjectBuilt,
    UpkeepPaid,
    AllocationPaid,
    DividendPaid,
    WorkMinimumBroken,
    Consumed,
    FellDormant,
    AgentWoke,
    AgentDied,
    DayEnded,
    SocietyEnded,
)
