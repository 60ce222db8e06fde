"""Events of the market: what concerns the market as a whole: its beginning, rounds, periods and end."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.engine.template import By, If, Rows
from agentsim.engine.wording import first_place


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


class OrderDrawn(Event, heading="Round {round} begins"):
    round: int
    order: tuple[str, ...]

    @property
    def content(self) -> str:
        shown = ", ".join(self.order[:50])
        return f"In this order: {shown}" + (f" and {len(self.order) - 50} more." if len(self.order) > 50 else ".")


class PeriodBegan(Event, heading="Period {period} of {periods} begins", content="Everybody is endowed anew."):
    period: int
    periods: int


class PeriodEnded(
    Event,
    heading="Period {period} ends: efficiency {allocative_efficiency:.1%}",
    content=By(
        "alpha",
        {None: "No trade in {rounds} rounds; {most_surplus} could have been gained."},
        "{quantity} units at {mean_price:.2f} on average in {rounds} rounds, alpha {alpha:.1f}; equilibrium "
        "{equilibrium_quantity} units at {equilibrium_price:g}.",
    ),
):
    """A period in figures; `mean_price` and `alpha` are None without a trade.

    `allocative_efficiency` is surplus realised over the most there was: 1 at most, below 0 where traders lost more than
    others gained. `alpha` is Smith's: 100 times the root mean square deviation from the equilibrium price over it.
    """

    period: int
    rounds: int
    quantity: int
    mean_price: float | None
    allocative_efficiency: float
    alpha: float | None
    equilibrium_price: float
    equilibrium_quantity: int
    surplus: int
    most_surplus: int
    profits: dict[str, int]


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
