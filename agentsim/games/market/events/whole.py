"""Events of the market: what concerns the market as a whole: its beginning, rounds, periods and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.engine.wording import first_place

__all__ = ["MarketBegan", "MarketEnded", "OrderDrawn", "PeriodBegan", "PeriodEnded", "Result"]


@dataclass(frozen=True)
class MarketBegan(Event):
    """`rounds` is what the market may last at most."""

    kind: ClassVar[str] = "market_began"
    agents: tuple[str, ...]
    goods: tuple[str, ...]
    artifacts: tuple[str, ...]
    rounds: int

    @property
    def heading(self) -> str:
        return "The market opens"

    @property
    def content(self) -> str:
        return (
            f"{len(self.agents)} agents, goods: {', '.join(self.goods) or 'none'}; "
            f"artifacts: {', '.join(self.artifacts)}; at most {self.rounds} rounds."
        )


@dataclass(frozen=True)
class OrderDrawn(Event):
    kind: ClassVar[str] = "order_drawn"
    round: int
    order: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"Round {self.round} begins"

    @property
    def content(self) -> str:
        shown = ", ".join(self.order[:50])
        return f"In this order: {shown}" + (f" and {len(self.order) - 50} more." if len(self.order) > 50 else ".")


@dataclass(frozen=True)
class PeriodBegan(Event):
    kind: ClassVar[str] = "period_began"
    period: int
    periods: int

    @property
    def heading(self) -> str:
        return f"Period {self.period} of {self.periods} begins"

    @property
    def content(self) -> str:
        return "Everybody is endowed anew."


@dataclass(frozen=True)
class PeriodEnded(Event):
    """A period in figures; `mean_price` and `alpha` are None without a trade.

    `allocative_efficiency` is surplus realised over the most there was: 1 at most, below 0 where traders lost more than
    others gained. `alpha` is Smith's: 100 times the root mean square deviation from the equilibrium price over it.
    """

    kind: ClassVar[str] = "period_ended"
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

    @property
    def heading(self) -> str:
        return f"Period {self.period} ends: efficiency {100 * self.allocative_efficiency:.1f}%"

    @property
    def content(self) -> str:
        if self.mean_price is None or self.alpha is None:
            return f"No trade in {self.rounds} rounds; {self.most_surplus} could have been gained."
        return (
            f"{self.quantity} units at {self.mean_price:.2f} on average in {self.rounds} rounds, alpha "
            f"{self.alpha:.1f}; equilibrium {self.equilibrium_quantity} units at {self.equilibrium_price:g}."
        )


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


@dataclass(frozen=True)
class MarketEnded(Event):
    """`results` are in rank order."""

    kind: ClassVar[str] = "market_ended"
    reason: str
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.agent for result in self.results if result.rank == 1], "comes first")

    @property
    def content(self) -> str:
        lines = []
        for one in self.results:
            surplus = "" if one.surplus is None else f", surplus {one.surplus}"
            lines.append(f"{one.rank}. {one.agent}: capital {one.capital}, wealth {one.wealth}{surplus}")
        return "\n".join((f"It ended because {self.reason}.", *lines))
