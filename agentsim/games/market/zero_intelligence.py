"""Zero intelligence (Gode and Sunder 1993): prices drawn uniformly, with or without the bound of no loss."""

from __future__ import annotations

from agentsim.engine import Stream
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.order_book import Side
from agentsim.games.market.requests import Act, ActionChosen
from agentsim.games.market.state import SKIP


def constrained(request: Act, rng: Stream) -> ActionChosen:
    """A buyer draws from 1 to its value, a seller from its cost to the highest price."""
    return _act(request, rng, bounded=True)


def unconstrained(request: Act, rng: Stream) -> ActionChosen:
    """Every agent draws from 1 to the highest price."""
    return _act(request, rng, bounded=False)


def offer(side: Side, good: str, price: int, memory: str = "") -> ActionChosen:
    """An order for one unit."""
    given = {"good": good, "price": price, "quantity": 1}
    return ActionChosen(action=side, action_parameters=given, working_memory=memory)


def sides(request: Act) -> list[tuple[Side, str]]:
    """What the trader can do: buy where it has capital, sell what it has; its one side in an experiment."""
    now, names = request.now, request.names
    if now.unit is not None:
        return [(now.unit.side, request.menu.goods[0])]
    out: list[tuple[Side, str]] = []
    for good in request.menu.goods:
        if "buy" in names and now.free[CAPITAL] > 0:
            out.append(("buy", good))
        if "sell" in names and now.free[good] > 0:
            out.append(("sell", good))
    return out


def _act(request: Act, rng: Stream, *, bounded: bool) -> ActionChosen:
    possible = sides(request)
    if not possible:
        return ActionChosen(action=SKIP)
    side, good = rng.pick(possible)
    low, high = _range(request, side, good, bounded=bounded)
    return offer(side, good, rng.integer(low, high)) if low <= high else ActionChosen(action=SKIP)


def _range(request: Act, side: Side, good: str, *, bounded: bool) -> tuple[int, int]:
    """Prices to draw from. Outside experiments a value may be missing, and what one holds bounds what one asks."""
    now, worth = request.now, request.now.worth(good)
    most = request.menu.price_max or 1
    if now.unit is None:
        most = min(most, max(2 * (worth or 0), now.held[CAPITAL], 1))
    if side == "buy":
        most = min(most, now.free[CAPITAL]) if now.unit is None else most
        return 1, min(most, worth) if bounded and worth is not None else most
    return (worth if bounded and worth is not None else 1), most
