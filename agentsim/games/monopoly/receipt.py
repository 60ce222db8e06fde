"""Receipt: a mortgaged deed that comes to a player: its mortgage is lifted at once, or the interest alone is paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from agentsim.engine.request import Options, Subset
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.building import carry_out
from agentsim.games.monopoly.bundle import Bundle
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import rent_line
from agentsim.games.monopoly.question import Deeds, MonopolyRequest, Spoken

LiftedOnReceipt: TypeAlias = Spoken[Deeds]


class LiftOnReceipt(MonopolyRequest[LiftedOnReceipt]):
    """You have received mortgaged deeds: which mortgages do you lift now, with the interest paid once?"""

    particulars: ClassVar[tuple[str, ...]] = ("received",)

    received: tuple[int, ...]

    def choices(self) -> Options:
        return {"action": Subset(self.received)}

    def why_not(self, decision: LiftedOnReceipt) -> str:
        due = cost(self.received, decision.action)
        return f"That and the interest on the others come to ${due}." if due > self.you.cash else ""

    def question(self) -> tuple[str, ...]:
        spaces = [SPACES[position] for position in self.received]
        return (
            f"You have received mortgaged deeds, and have ${self.you.cash}. For each you pay now either the price of "
            "lifting the mortgage, or the interest; then lifting it later costs that price still:",
            *(
                f"- {space.position} {space.name}: ${space.redemption} to lift, ${space.interest} interest. "
                f"{rent_line(space.position)}"
                for space in spaces
            ),
            "Which mortgages do you lift now? An empty list lifts none.",
        )

    def fallback(self) -> LiftedOnReceipt:
        return self.silent(action=())


def cost(received: Sequence[int], lifts: Sequence[int]) -> int:
    """What these deeds cost their receiver at once: some lifted, interest on the others."""
    return sum(SPACES[at].redemption if at in lifts else SPACES[at].interest for at in received)


async def received(match: Match, number: int, mortgaged: Sequence[int]) -> Sequence[int]:
    """Let a player lift what it has received, where it has the cash for any; the deeds that still owe interest."""
    cash = match.seat(number).cash
    if not match.config.lift_on_receipt or all(cost(mortgaged, [at]) > cash for at in mortgaged):
        return mortgaged
    lifts = (await match.ask(number, LiftOnReceipt, received=tuple(mortgaged))).action
    carry_out(match, number, Bundle(unmortgages=lifts))
    return [at for at in mortgaged if at not in lifts]
