"""Giving: what agents hand over of their own, to each other or to the common pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine.event import FOR, Event, Interaction, Past
from agentsim.engine.number import whole
from agentsim.engine.template import If
from agentsim.games.society.amounts import Amount, number
from agentsim.games.society.founding import towards
from agentsim.games.society.terms import Positive, Resource
from agentsim.games.society.turn import Action, Known, Turn, no_company, too_little


class Traded(
    Event,
    heading=("Agent #{agent} gives {amount} {resource} to ", If("recipient", "agent #{recipient}", "the common pool")),
    content="",
):
    """`recipient` 0 is the common pool."""

    day: int
    agent: int
    recipient: int
    resource: Resource
    amount: Amount

    def interactions(self, past: Past) -> Iterator[Interaction]:
        return towards(past, self.agent, self.recipient, f"gave {self.resource}", sign=FOR, amount=number(self.amount))


class Trade(Action):
    """A gift, to an agent or, with recipient 0, to the common pool."""

    action: Literal["trade"] = "trade"
    recipient_agent_id: Annotated[int, Field(ge=0), BeforeValidator(whole)]
    resource_type: Resource
    amount: Positive

    def why_not(self, known: Known) -> str:
        alone = no_company(known, self.recipient_agent_id) if self.recipient_agent_id else ""
        return alone or too_little(known, self.resource_type, self.amount)

    def happen(self, turn: Turn) -> None:
        """All hear of a gift to the pool; of one to an agent, these two."""
        to, resource, amount = self.recipient_agent_id, self.resource_type, self.amount
        other = turn.state.citizen(to) if to else None
        turn.state.give(turn.citizen, other, resource, amount)
        traded = Traded(turn.day, turn.agent, to, resource, amount)
        if other is None:
            turn.tell(traded)
        else:
            turn.tell_alone(traded, other)
