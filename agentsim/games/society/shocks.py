"""The shocks of a day: losses of agents, pool and commons, and days on which work yields less."""

from __future__ import annotations

from typing import Literal

from agentsim.engine import Everyone, Table
from agentsim.engine.wording import By, If
from agentsim.games.society.amounts import Amount, share
from agentsim.games.society.assembly import Resource
from agentsim.games.society.config import Shock
from agentsim.games.society.state import State
from agentsim.games.society.turn import AgentEvent, Daily


class ShockStruck(
    Daily,
    label="shock",
    heading=(If("title", "{title}", "A shock"), ": ", By("what", {"rates": "work makes less"}, "a loss")),
    content=By(
        "what",
        {
            "held": "Every agent loses {percent}% of what it holds of {of}: {lost}.",
            "pool": "The common pool loses {percent}% of its {of}: {lost}.",
            "commons": "The commons lose {percent}%: {lost}.",
        },
        "Work makes {percent}% less {of} for {days:day}.",
    ),
):
    """A shock begins; `lost` are the losses by resource, and is empty for `rates`."""

    title: str
    what: Literal["held", "pool", "commons", "rates"]
    resource: Literal["food", "energy", "materials", "all"]
    percent: int
    days: int
    lost: dict[str, Amount]

    @property
    def of(self) -> str:
        """The resource, in words."""
        return "every resource" if self.resource == "all" else self.resource


class LostToShock(
    AgentEvent,
    kind="lost",
    label="loss by a shock",
    heading="Agent #{agent} loses by a shock",
    content="{lost}",
    private=("agent",),
):
    lost: dict[Resource, Amount]


def strike(table: Table, state: State) -> None:
    """Carry out and announce the shocks of the day, and set the percentages by which work is lower today.

    Of several shocks to one resource, the largest percentage holds.
    """
    shocks = state.config.shocks
    for shock in shocks:
        if shock.day == state.day:
            losses, lost = _struck(state, shock)
            what = (shock.title, shock.what, shock.resource, shock.percent, shock.days)
            table.tell(ShockStruck(state.day, *what, lost), to=Everyone)
            for loss in losses:
                table.tell(loss, to=(state.citizen(loss.agent).player,))
    shock_percent: dict[Resource, int] = {}
    for shock in shocks:
        for resource in shock.resources if shock.what == "rates" else ():
            if shock.lowers(resource, state.day):
                shock_percent[resource] = max(shock_percent.get(resource, 0), shock.percent)
    state.shock_percent = shock_percent


def _struck(state: State, shock: Shock) -> tuple[list[LostToShock], dict[str, int]]:
    """Carry out a shock; return the losses of single agents and the total losses by resource."""
    lost: dict[str, int] = {}
    losses: list[LostToShock] = []
    match shock.what:
        case "held":
            for citizen in state.citizens:
                if citizen.status != "dead":
                    own = {each: share(citizen.stock[each], shock.percent, 100) for each in shock.resources}
                    for resource, amount in own.items():
                        state.move(resource, amount, citizen, "spent")
                        lost[resource] = lost.get(resource, 0) + amount
                    if some := {resource: amount for resource, amount in own.items() if amount}:
                        losses.append(LostToShock(state.day, citizen.number, some))
        case "pool":
            for resource in shock.resources:
                lost[resource] = share(state.pool[resource], shock.percent, 100)
                state.move(resource, lost[resource], "pool", "spent")
        case "commons":
            lost["food"] = share(state.pool["commons"], shock.percent, 100)
            state.draw(lost["food"])
        case "rates":
            pass
    return losses, lost
