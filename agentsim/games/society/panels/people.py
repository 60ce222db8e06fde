"""People: who the agents are, and by what name a page calls them. What they did is `agents`, `ties` and `groups`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.games.society.founding import Being, SocietyBegan
from agentsim.games.society.talk import Renamed


@dataclass(frozen=True)
class People:
    """Every agent by its number, and the last name that it chose."""

    beings: dict[int, Being]
    names: dict[int, str]

    def player(self, number: int) -> str:
        """Whose seat it is, which is what the rest of the page calls an agent."""
        return self.beings[number].player

    def called(self, number: int) -> str:
        """Number and name; 0 is the common pool."""
        if not number:
            return "the common pool"
        name = self.names.get(number, "")
        return f"#{number} {name}" if name else f"#{number}"


def people(events: Sequence[Event]) -> People | None:
    """Who is there; None before the beginning."""
    began = next((event for event in events if isinstance(event, SocietyBegan)), None)
    if began is None:
        return None
    names = {event.agent: event.name for event in events if isinstance(event, Renamed)}
    return People({being.agent: being for being in began.agents}, names)
