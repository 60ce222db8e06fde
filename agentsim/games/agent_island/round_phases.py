"""The phases of a round, by their names in the configuration. Each takes the round's context and asks and tells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from agentsim.games.agent_island.memory import phase_summaries
from agentsim.games.agent_island.pitches import phase_pitches
from agentsim.games.agent_island.quips import phase_quips
from agentsim.games.agent_island.sidebars import phase_sidebars
from agentsim.games.agent_island.votes import phase_elimination, phase_votes

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext

PHASES: Mapping[str, Callable[[RoundContext], Awaitable[None]]] = {
    "pitches": phase_pitches,
    "votes": phase_votes,
    "elimination": phase_elimination,
    "sidebars": phase_sidebars,
    "quips": phase_quips,
    "summaries": phase_summaries,
}
