"""Events of the market: every order, trade, transfer and word, in numbers. Who hears them is settled where they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from agentsim.engine.event import Event
from agentsim.games.market.order_book import Side, Why

__all__ = [
    "EVENTS",
    "Acted",
    "Banked",
    "Briefed",
    "Endowed",
    "Forfeited",
    "MarketBegan",
    "MarketEnded",
    "Messaged",
    "Moved",
    "Observed",
    "OrderDrawn",
    "Ordered",
    "PeriodBegan",
    "PeriodEnded",
    "Remembered",
    "Reported",
    "Result",
    "Traded",
    "Transferred",
    "Withdrawn",
]


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
class Endowed(Event):
    """What an agent holds from now on, whatever it held before; `worth` are its private values a unit, in order."""

    kind: ClassVar[str] = "endowed"
    agent: str
    holdings: dict[str, int]
    side: Side | None
    worth: dict[str, tuple[int, ...]]

    @property
    def heading(self) -> str:
        return f"{self.agent} is endowed"

    @property
    def content(self) -> str:
        held = ", ".join(f"{amount} {asset}" for asset, amount in self.holdings.items())
        values = "; ".join(f"{good}: {', '.join(map(str, units))}" for good, units in self.worth.items())
        what = {"buy": "values", "sell": "costs", None: "values"}[self.side]
        return f"Holds {held or 'nothing'}." + (f" Its {what} of {values}." if values else "")


@dataclass(frozen=True)
class Briefed(Event):
    """What an agent answered to the briefing."""

    kind: ClassVar[str] = "briefed"
    words: ClassVar[str] = "text"
    agent: str
    understood: bool
    text: str

    @property
    def heading(self) -> str:
        return f"{self.agent} {'is ready' if self.understood else 'does not understand'}"


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
class Observed(Event):
    """An agent asked an artifact or a tool something; `observation` is the answer, for it alone."""

    kind: ClassVar[str] = "observed"
    agent: str
    query: str
    parameters: dict[str, Any]
    observation: dict[str, Any]

    @property
    def heading(self) -> str:
        return f"{self.agent} asks for {self.query}"

    @property
    def content(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.observation.items()) or "Nothing."


@dataclass(frozen=True)
class Acted(Event):
    """What an agent chose to do, and what came of it; `result` is what it is told, the reason where it is refused."""

    kind: ClassVar[str] = "acted"
    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def heading(self) -> str:
        return f"{self.agent}: {self.action}" + ("" if self.accepted else " (refused)")

    @property
    def content(self) -> str:
        return self.result


@dataclass(frozen=True)
class Forfeited(Event):
    """A reply was outside the format: the action of this round, or the query, is lost."""

    kind: ClassVar[str] = "forfeited"
    agent: str
    stage: Literal["query", "action"]

    @property
    def heading(self) -> str:
        return f"{self.agent} forfeits its {self.stage}"

    @property
    def content(self) -> str:
        return "The reply was outside the format."


@dataclass(frozen=True)
class Remembered(Event):
    """The working memory an agent wrote, which nobody else reads."""

    kind: ClassVar[str] = "remembered"
    words: ClassVar[str] = "text"
    agent: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.agent}'s working memory"


@dataclass(frozen=True)
class Ordered(Event):
    """A limit order; `standing` units of it are in the book after what it traded at once."""

    kind: ClassVar[str] = "ordered"
    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    standing: int

    @property
    def heading(self) -> str:
        return f"{self.agent} {'bids' if self.side == 'buy' else 'asks'} {self.price}"

    @property
    def content(self) -> str:
        return f"Order {self.order}: {self.side} {self.quantity} {self.good} at {self.price}; {self.standing} standing."


_GONE: dict[Why, str] = {
    "cancelled": "was cancelled",
    "replaced": "was replaced",
    "own": "stood in the way of an order of its own owner",
    "outbid": "is no longer the best",
    "traded": "was cleared after a trade",
    "closed": "was cleared at the end of the period",
}


@dataclass(frozen=True)
class Withdrawn(Event):
    """An order left the book with this quantity untraded."""

    kind: ClassVar[str] = "withdrawn"
    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    why: Why

    @property
    def heading(self) -> str:
        return f"{self.agent}'s order {self.order} is gone"

    @property
    def content(self) -> str:
        return f"To {self.side} {self.quantity} {self.good} at {self.price}: it {_GONE[self.why]}."


@dataclass(frozen=True)
class Traded(Event):
    """`resting` is the order that stood there; `taker` the side that came to it."""

    kind: ClassVar[str] = "traded"
    good: str
    price: int
    quantity: int
    buyer: str
    seller: str
    resting: int
    incoming: int
    taker: Side
    round: int

    @property
    def heading(self) -> str:
        return f"{self.buyer} buys {self.quantity} {self.good} of {self.seller} at {self.price}"

    @property
    def content(self) -> str:
        return f"{self.price * self.quantity} capital in all."


@dataclass(frozen=True)
class Transferred(Event):
    """Assets changed hands outside a trade."""

    kind: ClassVar[str] = "transferred"
    giver: str
    taker: str
    asset: str
    amount: int
    reason: str

    @property
    def heading(self) -> str:
        return f"{self.giver} gives {self.taker} {self.amount} {self.asset}"

    @property
    def content(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Messaged(Event):
    """`to` is None where a message goes to all."""

    kind: ClassVar[str] = "messaged"
    words: ClassVar[str] = "text"
    sender: str
    to: tuple[str, ...] | None
    text: str

    @property
    def heading(self) -> str:
        return f"{self.sender} to {'all' if self.to is None else ', '.join(self.to)}"


@dataclass(frozen=True)
class Moved(Event):
    """Where an agent stands now; columns and rows count from 0, at the top left."""

    kind: ClassVar[str] = "moved"
    agent: str
    column: int
    row: int
    columns: int
    rows: int

    @property
    def heading(self) -> str:
        return f"{self.agent} stands at {self.column}, {self.row}"

    @property
    def content(self) -> str:
        return f"Of {self.columns} columns and {self.rows} rows."


@dataclass(frozen=True)
class Banked(Event):
    """What an agent has with the bank after something changed; `collateral` is reserved for the loan."""

    kind: ClassVar[str] = "banked"
    agent: str
    what: str
    amount: int
    deposit: int
    loan: int
    collateral: dict[str, int]

    @property
    def heading(self) -> str:
        return f"{self.agent} and the bank: {self.what}"

    @property
    def content(self) -> str:
        return f"{self.amount}; deposit {self.deposit}, loan {self.loan}."


@dataclass(frozen=True)
class Reported(Event):
    """What an artifact has to tell that has no event of its own."""

    kind: ClassVar[str] = "reported"
    words: ClassVar[str] = "text"
    artifact: str
    text: str
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return f"From {self.artifact}"


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
        first = [result.agent for result in self.results if result.rank == 1]
        return f"{first[0]} comes first" if len(first) == 1 else f"{', '.join(first)} share the first place"

    @property
    def content(self) -> str:
        lines = []
        for one in self.results:
            surplus = "" if one.surplus is None else f", surplus {one.surplus}"
            lines.append(f"{one.rank}. {one.agent}: capital {one.capital}, wealth {one.wealth}{surplus}")
        return "\n".join((f"It ended because {self.reason}.", *lines))


EVENTS: tuple[type[Event], ...] = (
    MarketBegan,
    Endowed,
    Briefed,
    OrderDrawn,
    Observed,
    Acted,
    Forfeited,
    Remembered,
    Ordered,
    Withdrawn,
    Traded,
    Transferred,
    Messaged,
    Moved,
    Banked,
    Reported,
    PeriodBegan,
    PeriodEnded,
    MarketEnded,
)
