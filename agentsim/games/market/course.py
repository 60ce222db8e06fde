"""The course of a market: its beginning, what agents begin with, the order of its rounds, and its end."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.engine.template import By, If, Rows
from agentsim.engine.wording import first_place
from agentsim.games.market.order_book import Side


class MarketBegan(
    Event,
    heading="The market opens",
    content=(
        "{agents:#} agents, goods: ",
        If("goods", "{goods}", "none"),
        "; artifacts: {artifacts}; at most {rounds} rounds.",
    ),
):
    """`rounds` is what the market may last at most."""

    agents: tuple[str, ...]
    goods: tuple[str, ...]
    artifacts: tuple[str, ...]
    rounds: int


class Endowed(Event, heading="{agent} is endowed", private=("agent",)):
    """What an agent holds from now on, whatever it held before; `worth` are its private values a unit, in order."""

    agent: str
    holdings: dict[str, int]
    side: Side | None
    worth: dict[str, tuple[int, ...]]

    @property
    def content(self) -> str:
        held = ", ".join(f"{amount} {asset}" for asset, amount in self.holdings.items())
        values = "; ".join(f"{good}: {', '.join(map(str, units))}" for good, units in self.worth.items())
        what = {"buy": "values", "sell": "costs", None: "values"}[self.side]
        return f"Holds {held or 'nothing'}." + (f" Its {what} of {values}." if values else "")


class OrderDrawn(Event, heading="Round {round} begins", drawn=("order",)):
    round: int
    order: tuple[str, ...]

    @property
    def content(self) -> str:
        shown = ", ".join(self.order[:50])
        return f"In this order: {shown}" + (f" and {len(self.order) - 50} more." if len(self.order) > 50 else ".")


@dataclass(frozen=True)
class Result:
    """An agent's end; `surplus` is None outside experiments, `wealth` counts goods at their last price."""

    agent: str
    rank: int
    capital: int
    wealth: int
    surplus: int | None
    forfeits: int
    refused: int


class MarketEnded(
    Event,
    content=(
        "It ended because {reason}.\n",
        Rows(
            "results",
            ("{rank}. {agent}: capital {capital}, wealth {wealth}", By("surplus", {None: ""}, ", surplus {surplus}")),
        ),
    ),
):
    """`results` are in rank order."""

    reason: str
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.agent for result in self.results if result.rank == 1], "comes first")
