"""Tables: `trades`, `orders` and `periods`, the columns that notebooks rely on. What a page shows is `panels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.market.schedule import PeriodBegan, PeriodEnded
from agentsim.games.market.trading import Ordered, Traded

TRADES = ("round", "period", "good", "price", "quantity", "buyer", "seller", "taker")
ORDERS = ("round", "period", "order", "agent", "good", "side", "price", "quantity", "standing")
PERIODS = (
    "period",
    "rounds",
    "quantity",
    "mean_price",
    "allocative_efficiency",
    "alpha",
    "equilibrium_price",
    "equilibrium_quantity",
    "surplus",
    "most_surplus",
)


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`trades`: a row a trade. `orders`: a row an order that the book took. `periods`: a row a period of an experiment.

    `period` is empty outside experiments.
    """
    rows: dict[str, list[tuple[Cell, ...]]] = {"trades": [], "orders": [], "periods": []}
    period: int | None = None
    for told in log:
        match told.event:
            case PeriodBegan() as began:
                period = began.period
            case Traded() as trade:
                parties = (trade.buyer, trade.seller, trade.taker)
                rows["trades"].append((trade.round, period, trade.good, trade.price, trade.quantity, *parties))
            case Ordered() as made:
                size = (made.price, made.quantity, made.standing)
                rows["orders"].append((told.round, period, made.order, made.agent, made.good, made.side, *size))
            case PeriodEnded() as ended:
                rows["periods"].append(tuple(getattr(ended, name) for name in PERIODS))
            case _:
                pass
    columns = {"trades": TRADES, "orders": ORDERS, "periods": PERIODS}
    return {name: Frame(columns[name], tuple(rows[name])) for name in columns}
