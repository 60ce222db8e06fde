"""The periods of an experiment: surplus, efficiency, convergence, and who gained."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.games.market.schedule import PeriodEnded

_NOTE = (
    "Q* and P*: units and price in equilibrium. Most: the most surplus that there was. Alpha: the root mean square "
    "deviation of prices from P*, in percent of it."
)


def periods(log: Sequence[LogEntry]) -> list[Panel]:
    """Figures of every period that ended; nothing outside experiments."""
    ended = [told.event for told in log if isinstance(told.event, PeriodEnded)]
    if not ended:
        return []
    x = tuple(str(each.period) for each in ended)
    efficiency = Series("efficiency", tuple(round(100 * each.allocative_efficiency, 2) for each in ended))
    alpha = Series("alpha", tuple(None if each.alpha is None else round(each.alpha, 2) for each in ended))
    rows = tuple(
        (
            each.period,
            each.quantity,
            each.equilibrium_quantity,
            None if each.mean_price is None else round(each.mean_price, 2),
            each.equilibrium_price,
            each.surplus,
            each.most_surplus,
            round(100 * each.allocative_efficiency, 1),
            None if each.alpha is None else round(each.alpha, 1),
            each.rounds,
        )
        for each in ended
    )
    columns = (
        *("period", "units", "Q*", "mean price", "P*", "surplus", "most"),
        *("efficiency %", "alpha", "rounds"),
    )
    agents = tuple(ended[0].profits)
    gains: tuple[tuple[Cell, ...], ...] = tuple(
        (agent, *(each.profits[agent] for each in ended), sum(each.profits[agent] for each in ended))
        for agent in agents
    )
    return [
        DataTable("Periods", columns, rows, _NOTE),
        Chart("Allocative efficiency", "line", x, (efficiency,), "period", "% of the most surplus"),
        Chart("Convergence", "line", x, (alpha,), "period", "Smith's alpha"),
        DataTable("Surplus", ("agent", *(f"period {each}" for each in x), "in all"), gains, heat=True),
    ]
