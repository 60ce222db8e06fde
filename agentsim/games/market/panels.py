"""Panels and tables: periods, trading, holdings, dealings and places, from the events that one audience heard.

From the events that one agent heard, they show what that agent could know. Panels are data without markup.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from agentsim.engine import Event, LoggedEvent, PlayerId
from agentsim.engine.panel import (
    Cell,
    Chart,
    DataTable,
    Edge,
    Frame,
    Network,
    Node,
    Overview,
    Panel,
    Series,
    TurnedAt,
)
from agentsim.engine.truth import Truth
from agentsim.engine.wording import counted, sentence
from agentsim.games.market import artifacts
from agentsim.games.market.artifact import MOST_ROUNDS, spots
from agentsim.games.market.artifacts.call_market import Called
from agentsim.games.market.artifacts.dialogue import Messaged
from agentsim.games.market.artifacts.lmsr import Settled
from agentsim.games.market.artifacts.redemption import Redeemed
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import Endowed, MarketBegan, MarketEnded, PeriodBegan
from agentsim.games.market.world import CAPITAL, Trade, Transferred

# -- trading


MOST_TRADES = 400


def of(log: Sequence[LoggedEvent], *kinds: type[Event]) -> list[Any]:
    return [told.event for told in log if isinstance(told.event, kinds)]


def scenes(log: Sequence[LoggedEvent], *followers: Callable[[Event], None], most: int = MOST_ROUNDS) -> Iterator[int]:
    """Yield the rounds that are shown, each once all events up to its end have been followed."""
    shown = {0, *spots(log[-1].round, most)}
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        for told in told_in_round:
            for follow in followers:
                follow(told.event)
        if number in shown:
            yield number


def periods(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return figures of every period that ended; nothing outside experiments."""
    ended: list[PeriodEnded] = of(log, PeriodEnded)
    if not ended:
        return []
    rounds = tuple(entry.round for entry in log if isinstance(entry.event, PeriodEnded))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(each.period, each.quantity, each.equilibrium_quantity, _rounded(each.mean_price, 2)),
            *(each.equilibrium_price, each.surplus, each.most_surplus),
            *(_rounded(100 * each.allocative_efficiency, 1), _rounded(each.alpha, 1), each.rounds),
        )
        for each in ended
    )
    columns = ("period", "units", "Q*", "mean price", "P*", "surplus", "most", "efficiency %", "alpha", "rounds")
    note = (
        "Q* and P*: units and price in equilibrium. Most: the most surplus that there was. Alpha: the root mean square "
        "deviation of prices from P*, in percent of it."
    )
    x = tuple(str(each.period) for each in ended)
    efficiency = Series("efficiency", tuple(_rounded(100 * each.allocative_efficiency, 2) for each in ended))
    alpha = Series("alpha", tuple(_rounded(each.alpha, 2) for each in ended))
    profits = {agent: [each.profits[agent] for each in ended] for agent in ended[0].profits}
    gains: tuple[tuple[Cell, ...], ...] = tuple((agent, *gained, sum(gained)) for agent, gained in profits.items())
    return [
        DataTable("Periods", columns, rows, note),
        schedules(log),
        Chart("Allocative efficiency", "line", x, (efficiency,), "period", "% of the most surplus", "", rounds),
        Chart("Convergence", "line", x, (alpha,), "period", "Smith's alpha", "", rounds),
        DataTable("Surplus", ("agent", *(f"period {each}" for each in x), "in all"), gains, heat=True),
    ]


def schedules(log: Sequence[LoggedEvent]) -> Chart:
    """Return demand and supply of one period, as traders were given them."""
    units: dict[str, list[float]] = {"buy": [], "sell": []}
    for agent in {endowed.agent: endowed for endowed in of(log, Endowed)}.values():
        units[agent.side] += [float(worth) for each in agent.worth.values() for worth in each]
    x = tuple(str(unit + 1) for unit in range(max(map(len, units.values()))))
    demand, supply = sorted(units["buy"], reverse=True), sorted(units["sell"])
    lines = [
        Series(name, (*each, *[None] * (len(x) - len(each)))) for name, each in (("demand", demand), ("supply", supply))
    ]
    note = "The values of buyers' units, falling, and the costs of sellers' units, rising: they meet in equilibrium."
    return Chart("Supply and demand", "step", x, tuple(lines), "unit", "value or cost", note)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def prices(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return prices and volumes; nothing without a trade."""
    if not of(log, Trade):
        return []
    return _by_trade(log) if of(log, PeriodBegan) else _by_round(log)


def _by_trade(log: Sequence[LoggedEvent]) -> list[Panel]:
    equilibria = {ended.period: ended.equilibrium_price for ended in of(log, PeriodEnded)}
    points: list[tuple[str, float | None, float | None, int]] = []
    volume: dict[int, int] = {}
    until: dict[int, int] = {}  # the round of each period's latest trade, or of its beginning
    period = number = 0
    for entry in log:
        match entry.event:
            case PeriodBegan() as event:
                points += [("", None, None, entry.round)] if points else []
                period, number, volume[event.period], until[event.period] = event.period, 0, 0, entry.round
            case Trade() as event:
                number += 1
                points.append((f"{period}.{number}", float(event.price), equilibria.get(period), entry.round))
                volume[period] += event.quantity
                until[period] = entry.round
    x, paid, level, rounds = zip(*points[-MOST_TRADES:], strict=True)
    # later series lie on top
    series = (*([Series("equilibrium", level)] if equilibria else []), Series("price", paid))
    note = "Each stretch is one period." + (f" The latest {MOST_TRADES} are shown." * (len(points) > MOST_TRADES))
    units = Series("units", tuple(map(float, volume.values())))
    return [
        Chart("Prices", "line", x, series, "period.trade", "price", note, rounds),
        Chart("Volume", "bar", tuple(map(str, volume)), (units,), "period", "units traded", "", tuple(until.values())),
    ]


def _by_round(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return the last price by then, a gap before the first trade, and the units since the round shown before."""
    goods = dict.fromkeys(trade.good for trade in of(log, Trade))
    last: dict[str, float] = {}
    volume: Counter[str] = Counter()

    def follow(event: Event) -> None:
        if isinstance(event, Trade):
            last[event.good] = float(event.price)
            volume[event.good] += event.quantity

    rounds: list[str] = []
    paid: dict[str, list[float | None]] = {good: [] for good in goods}
    sold: dict[str, list[float | None]] = {good: [] for good in goods}
    for number in scenes(log, follow):
        for good in goods if number else ():
            paid[good].append(last.get(good))
            sold[good].append(float(volume.pop(good, 0)))
        rounds += [str(number)] if number else []
    prices, units = (tuple(Series(good, tuple(each)) for good, each in of.items()) for of in (paid, sold))
    places = tuple(map(int, rounds))
    all_shown = len(rounds) == log[-1].round
    note = "" if all_shown else "Each bar holds several rounds, up to the one that is named."
    return [
        Chart("Prices", "line", tuple(rounds), prices, "round", "last price", "", places),
        Chart("Volume", "stacked", tuple(rounds), units, "round", "units traded", note, places),
    ]


class OpenOrders:
    """The orders of which something is left, by number."""

    def __init__(self) -> None:
        self.by_number: dict[int, Ordered] = {}

    def follow(self, event: Event) -> None:
        match event:
            case Ordered(order=number):  # `standing` excludes what it trades at once
                self._rests(event, event.standing)
            case Withdrawn(order=number):
                self.by_number.pop(number, None)
            case Called(good=good):  # no order outlives its call
                self.by_number = {number: order for number, order in self.by_number.items() if order.good != good}
            case Traded(resting=number) if order := self.by_number.get(number):
                self._rests(order, order.standing - event.quantity)

    def _rests(self, order: Ordered, left: int) -> None:
        self.by_number[order.order] = replace(order, standing=left)
        if left <= 0:
            del self.by_number[order.order]

    def side(self, good: str, side: str) -> tuple[int | None, int]:
        """Return the best price, or None, and the units on one side of a good's book."""
        orders = [order for order in self.by_number.values() if (order.good, order.side) == (good, side)]
        best = max if side == "buy" else min
        return best((order.price for order in orders), default=None), sum(order.standing for order in orders)


def book(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return a row for each round shown and good: the best prices and the units that rest; empty if none rests."""
    goods = dict.fromkeys(order.good for order in of(log, Ordered))
    if not goods:
        return []
    traded: Counter[tuple[int, str]] = Counter()
    for told in log:
        if isinstance(told.event, Trade):
            traded[told.round, told.event.good] += told.event.quantity
    orders, rows = OpenOrders(), list[tuple[Cell, ...]]()
    for number in scenes(log, orders.follow, most=40):
        for good in goods if number else ():
            (bid, wanted), (ask, offered) = orders.side(good, "buy"), orders.side(good, "sell")
            rows.append((number, good, wanted, bid, ask, offered, traded[number, good]))
    if not any(row[2] or row[5] for row in rows):
        return []
    columns = ("round", "good", "units wanted", "best bid", "best ask", "units offered", "traded in the round")
    all_shown = len(rows) == log[-1].round * len(goods)
    note = "At the end of the round." + ("" if all_shown else " Some rounds, evenly spread.")
    if of(log, PeriodBegan):
        note += " Rounds are counted through all periods; what is left at the end of a period is withdrawn."
    return [DataTable("Order book", columns, tuple(rows), note)]


# -- holdings, dealings, places


MOST_LINES = 12
"""Lines in one chart; more hide each other, and a shaded table takes their place."""
MOST_AGENTS = 100


class Replayed:
    """The holdings of the agents whose endowment is known."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, int]] = {}

    def follow(self, event: Event) -> None:
        match event:
            case Endowed():
                self.held[event.agent] = dict(event.holdings)
            case Trade():
                self._move(event.buyer, event.seller, CAPITAL, event.paid)
                self._move(event.seller, event.buyer, event.good, event.quantity)
            case Transferred():
                self._move(event.giver, event.taker, event.asset, event.amount)
            case Redeemed():
                self._move(event.agent, "", event.good, event.quantity)
                self._move("", event.agent, CAPITAL, event.paid)

    def _move(self, giver: str, taker: str, asset: str, amount: int) -> None:
        for owner, change in ((giver, -amount), (taker, amount)):
            if owner in self.held:
                self.held[owner][asset] = self.held[owner].get(asset, 0) + change


def _holdings(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return capital and each good by agent, if endowments were heard: charts, or tables if agents are many."""
    replayed = Replayed()
    after: dict[str, defaultdict[str, Counter[str]]] = {}
    for number in scenes(log, replayed.follow):
        after[str(number)] = defaultdict(Counter, {owner: Counter(held) for owner, held in replayed.held.items()})
    agents = list(replayed.held)[:MOST_AGENTS]
    assets = dict.fromkeys(asset for held in replayed.held.values() for asset in held)
    note = "" if len(replayed.held) <= MOST_AGENTS else f"The first {MOST_AGENTS} of {len(replayed.held)} agents."
    few = [list(after)[place] for place in (0, *spots(len(after) - 1, MOST_LINES - 1))]
    drawn: list[Panel] = []
    for asset in sorted(assets, key=lambda asset: asset != CAPITAL):
        title = asset.capitalize() if asset == CAPITAL else f"{asset.capitalize()} held"
        if len(agents) <= MOST_LINES:
            lines = tuple(Series(each, tuple(float(held[each][asset]) for held in after.values())) for each in agents)
            rounds = tuple(map(int, after))
            unit = CAPITAL if asset == CAPITAL else "units held"
            drawn.append(Chart(title, "line", tuple(after), lines, "after round", unit, note, rounds))
        else:
            rows: tuple[tuple[Cell, ...], ...] = tuple(
                (agent, *(after[each][agent][asset] for each in few)) for agent in agents
            )
            says = f"Units held after the round. {note}".strip()
            drawn.append(DataTable(title, ("agent", *few), rows, says, heat=True))
    return drawn


_GROUPS = {"buy": "buyers", "sell": "sellers", None: ""}


def _interactions(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return the edges between agents, buyers beside buyers if sides are known; empty without dealings."""
    agents: tuple[str, ...] = ()
    groups: dict[str, str] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    to_all = False
    for told in log:
        match told.event:
            case MarketBegan() as began:
                agents = began.agents
            case Endowed() as endowed:
                groups[endowed.agent] = _GROUPS[endowed.side]
            case Messaged() as message:
                to_all = to_all or message.to is None
                for reader in message.to or (agent for agent in agents if agent != message.sender):
                    counts[message.sender, reader, "messages"] += 1
            case Trade() as trade:
                counts[trade.seller, trade.buyer, "units sold"] += trade.quantity
            case Transferred() as transfer:
                counts[transfer.giver, transfer.taker, "gifts"] += 1
            case _:
                pass
    known = set(agents)
    edges = tuple(
        Edge(source, target, float(much), kind)
        for (source, target, kind), much in counts.items()
        if source != target and {source, target} <= known
    )
    if not edges:
        return []
    kinds = {edge.kind for edge in edges}
    said = {
        "messages": "how many messages went from one agent to another" + (", those to all among them" * to_all),
        "units sold": "how many units one sold to another",
        "gifts": "how often one gave another something",
    }
    note = "; ".join(text for kind, text in said.items() if kind in kinds)
    # on one circle: if a side is unknown a group would tell only that
    sided = all(groups.get(agent) for agent in agents)
    nodes = tuple(Node(agent, groups[agent] if sided else "") for agent in agents)
    return [Network("Who deals with whom", nodes, edges, sentence(note))]


_PERIODS = ("period", "rounds", "quantity", "mean_price", "allocative_efficiency", "alpha", "equilibrium_price")
_TABLES: Mapping[str, tuple[type[Event], tuple[str, ...]]] = {
    "trades": (Trade, ("round", "period", "good", "price", "quantity", "buyer", "seller", "taker")),
    "orders": (Ordered, ("round", "period", "order", "agent", "good", "side", "price", "quantity", "standing")),
    "periods": (PeriodEnded, (*_PERIODS, "equilibrium_quantity", "surplus", "most_surplus")),
}
_ARTIFACTS = artifacts.all_own()


FACTS = {
    "side": "whether the agent is to buy or to sell in the period, which is private",
    "value": "the private value or cost of the agent's first unit",
    "outcome": "the outcome of a prediction market",
}


def truths(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Iterator[Truth]:
    """Yield every agent's side and first private value, from each endowment on, and the outcome that is drawn."""
    for at, event in enumerate((told.event for told in log), start=1):
        match event:
            case Endowed(agent=agent, side=side, worth=worth):
                if side is not None:
                    yield Truth("side", side, at, agent, lasting=True)
                units = [unit for values in worth.values() for unit in values]
                if units:
                    yield Truth("value", units[0], at, agent, lasting=True)
            case Settled(outcome=outcome):
                yield Truth("outcome", outcome, at, public=at)
            case _:
                pass


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Mapping[str, Frame]:
    """Return `trades` and `orders` with a row for each one, and `periods` of an experiment, with artifacts' own tables.

    `orders` are those that the book took. `period` is empty outside experiments.
    """
    rows: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in _TABLES}
    period: int | None = None
    for told in log:
        if isinstance(told.event, PeriodBegan):
            period = told.event.period
        for name, (kind, columns) in _TABLES.items():
            if isinstance(told.event, kind):
                known = {"round": told.round, "period": period, "taker": getattr(told.event, "side", None)} | vars(
                    told.event
                )
                rows[name].append(tuple(known[column] for column in columns))
    own = {name: Frame(columns, tuple(rows[name])) for name, (_, columns) in _TABLES.items()}
    return own | {name: frame for artifact in _ARTIFACTS for name, frame in artifact.tables(log).items()}


def panels(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> list[Panel]:
    """Return all panels that have data; none before the market has begun."""
    here = {name for began in of(log, MarketBegan) for name in began.artifacts}
    own = (artifacts.find(name).panels for name in artifacts.names() if name in here)
    parts = (periods, prices, book, _holdings, _interactions, *own)
    return [panel for part in parts for panel in part(log)] if here else []


def overview(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Overview:
    """Return an experiment's efficiency, alpha, supply and demand; otherwise the capital of every agent by round."""
    if ended := of(log, PeriodEnded):
        share = sum(each.surplus for each in ended) / max(1, sum(each.most_surplus for each in ended))
        alphas = f", Smith's alpha {ended[-1].alpha:.1f} in the last" if ended[-1].alpha is not None else ""
        verdict = f"Efficiency {share:.1%} in {counted(len(ended), 'period')}{alphas}"
        return Overview(schedules(log), verdict=verdict, why=_prices_why(ended), turns=tuple(_period_turns(log)))
    held = [panel for panel in _holdings(log) if isinstance(panel, Chart)] if log else []
    ends = of(log, MarketEnded)
    if not held or not ends:
        return Overview(held[0] if held else None)
    counted_too = _with_end(held[0], ends[0])
    return Overview(counted_too, margin=("capital",), why=_capital_why(held[0], ends[0], log))


def _prices_why(ended: Sequence[PeriodEnded]) -> str:
    last = ended[-1]
    sold, most = (sum(getattr(each, name) for each in ended) for name in ("quantity", "equilibrium_quantity"))
    said = f"{counted(sold, 'unit was', 'units were')} traded; in equilibrium {most}, at {last.equilibrium_price:g}."
    return said if last.mean_price is None else f"{said} The last period's mean price was {last.mean_price:.2f}."


def _period_turns(log: Sequence[LoggedEvent]) -> Iterator[TurnedAt]:
    """Yield the periods whose prices were nearest to equilibrium and furthest from it."""
    ends = [(told.event.alpha, at, told.event) for at, told in enumerate(log) if isinstance(told.event, PeriodEnded)]
    known = sorted(((alpha, at, event) for alpha, at, event in ends if alpha is not None), key=lambda each: each[:2])
    for what, found in (("nearest to", known[:1]), ("furthest from", known[1:][-1:])):
        for alpha, at, event in found:
            text = f"alpha {alpha:.1f}, efficiency {event.allocative_efficiency:.1%}"
            yield TurnedAt(at, f"Prices {what} equilibrium", text)


def _with_end(capital: Chart, ended: MarketEnded) -> Chart:
    """Return the chart with the final capital, which counts goods that can be redeemed, deposits and debts."""
    final = {result.agent: float(result.capital) for result in ended.results}
    lines = tuple(Series(line.name, (*line.values, final.get(line.name))) for line in capital.series)
    note = "The end counts goods that an agent can redeem, deposits and loans."
    rounds = (*capital.rounds, capital.rounds[-1])
    return replace(capital, x=(*capital.x, "end"), series=lines, note=note, rounds=rounds)


def _capital_why(capital: Chart, ended: MarketEnded, log: Sequence[LoggedEvent]) -> str:
    """Explain the first place: its cash, what was added for its goods, and how many units it bought and sold."""
    first = ended.results[0]
    cash = next((line.values[-1] for line in capital.series if line.name == first.agent), None)
    trades = of(log, Trade)
    bought = sum(trade.quantity for trade in trades if trade.buyer == first.agent)
    sold = sum(trade.quantity for trade in trades if trade.seller == first.agent)
    said = f"{first.agent} bought {counted(bought, 'unit')} and sold {sold}"
    if cash is None or cash == first.capital:
        return f"{said}."
    return f"{said}; it held {cash:g} in the last round, and its goods and accounts counted {first.capital - cash:+g}."
