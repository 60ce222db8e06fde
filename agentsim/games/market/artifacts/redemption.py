"""Redemption: an agent gives up units of a good that has a private value to it, and is paid that value in new capital.

Every market with private values has it, unless `redeem` is false.
"""

from __future__ import annotations

from typing import ClassVar

from agentsim.engine import Event, Number
from agentsim.engine.menu import ActionRefused
from agentsim.games.market.artifact import Artifact, a_good, action
from agentsim.games.market.order_book import require_free
from agentsim.games.market.world import CAPITAL


class Redeemed(
    Event,
    label="redemption",
    heading="{agent} redeems {quantity} {good} at {value}",
    content="{paid} capital in all.",
    private=("agent",),
):
    """Units left the market for their private value to an agent; no other agent learns of it."""

    agent: str
    good: str
    quantity: int
    value: int

    @property
    def paid(self) -> int:
        return self.value * self.quantity


class Redemption(Artifact):
    name: ClassVar[str] = "redemption"
    description: ClassVar[str] = (
        "pays you your private value of a unit and takes the unit out of the market. Units that you hold at the end "
        "count at that value too."
    )

    @action(
        "give up units for their private value",
        good=a_good("what you give up"),
        quantity=Number(1, None, about="units"),
    )
    def redeem(self, agent: str, good: str, quantity: int) -> str:
        ledger, value = self.world.ledger, self.world.redeems.get(agent, {}).get(good)
        if value is None:
            raise ActionRefused(f"{good} has no private value to you")
        require_free(good, quantity, ledger.free(agent, good))
        redeemed = Redeemed(agent, good, quantity, value)
        ledger.withdraw(agent, good, quantity)
        ledger.issue(agent, CAPITAL, redeemed.paid)
        self.world.tell(redeemed, to=(agent,))
        return f"You are paid {redeemed.paid} for {quantity} {good}."
