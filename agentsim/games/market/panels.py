"""Panels: periods, trading, holdings, dealings and places, from the events that one audience heard; and the tables.

Given the events one agent heard, they show what that agent could know. Markup does not belong here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from agentsim.engine.event import Event, LogEntry
from agentsim.engine.panel import Cell, Chart, DataTable, Frame, Network, Node, Panel, Series, Tie
from agentsim.engine.wording import sentence
from agentsim.games.market.artifacts.dialogue import Messaged
from agentsim.games.market.artifacts.gridworld import grid
from agentsim.games.market.experiment import PeriodEnded, periods
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.order_book import Ordered, Traded
from agentsim.games.market.state import Endowed, MarketBegan, PeriodBegan
from agentsim.games.market.trading_panels import book, prices, rounds, spots
from agentsim.games.market.world import Transferred

MOST_LINES = 12
"""More lines in one chart hide each other; a shaded table takes their place."""
MOST_AGENTS = 100
_COLUMNS = 12

_Scene: TypeAlias = tuple[int, dict[str, dict[str, int]]]
"""A round, and who held what after it."""


class Replayed:
    """What those agents hold whose endowment is known."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, int]] = {}

    def follow(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case Endowed():
                self.held[event.agent] = dict(event.holdings)
            case Traded():
                self._move(event.buyer, event.seller, CAPITAL, event.price * event.quantity)
                self._move(event.seller, event.buyer, event.good, event.quantity)
            case Transferred():
                self._move(event.giver, event.taker, event.asset, event.amount)
            case _:
                pass

    def _move(self, giver: str, taker: str, asset: str, amount: int) -> None:
        for owner, change in ((giver, -amount), (taker, amount)):
            if owner in self.held:
                self.held[owner][asset] = self.held[owner].get(asset, 0) + change


def holdings(log: Sequence[LogEntry]) -> list[Panel]:
    """Capital and each good by agent, where endowments were heard of: charts, or tables where agents are many."""
    replayed, shown = Replayed(), set(spots(rounds(log)))
    scenes: list[_Scene] = []
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        for told in told_in_round:
            replayed.follow(told.event)
        if number in shown or number == 0:
            scenes.append((number, {owner: dict(held) for owner, held in replayed.held.items()}))
    agents = list(replayed.held)[:MOST_AGENTS]
    assets = list(dict.fromkeys(asset for held in replayed.held.values() for asset in held))
    note = "" if len(replayed.held) <= MOST_AGENTS else f"The first {MOST_AGENTS} of {len(replayed.held)} agents."
    draw = _chart if len(agents) <= MOST_LINES else _table
    return [draw(asset, agents, scenes, note) for asset in sorted(assets, key=lambda asset: asset != CAPITAL)]


def _chart(asset: str, agents: Sequence[str], scenes: Sequence[_Scene], note: str) -> Panel:
    series = [Series(agent, tuple(float(held.get(agent, {}).get(asset, 0)) for _, held in scenes)) for agent in agents]
    x = tuple(str(number) for number, _ in scenes)
    return Chart(asset.capitalize(), "line", x, tuple(series), "after round", "units held", note)


def _table(asset: str, agents: Sequence[str], scenes: Sequence[_Scene], note: str) -> Panel:
    places = spots(len(scenes) - 1, _COLUMNS - 1)
    few = [scenes[place] for place in (0, *places)]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (agent, *(held.get(agent, {}).get(asset, 0) for _, held in few)) for agent in agents
    )
    columns = ("agent", *(str(number) for number, _ in few))
    return DataTable(asset.capitalize(), columns, rows, f"Units held after the round. {note}".strip(), heat=True)


_GROUPS = {"buy": "buyers", "sell": "sellers", None: ""}


def interactions(log: Sequence[LogEntry]) -> list[Panel]:
    """Ties between agents, buyers beside buyers where sides are known; empty where there were no dealings."""
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
            case Traded() as trade:
                counts[trade.seller, trade.buyer, "units sold"] += trade.quantity
            case Transferred() as transfer:
                counts[transfer.giver, transfer.taker, "gifts"] += 1
            case _:
                pass
    known = set(agents)
    ties = tuple(
        Tie(source, target, float(much), kind)
        for (source, target, kind), much in counts.items()
        if source != target and {source, target} <= known
    )
    if not ties:
        return []
    kinds = {tie.kind for tie in ties}
    said = {
        "messages": "how many messages went from one agent to another" + (", those to all among them" * to_all),
        "units sold": "how many units one sold to another",
        "gifts": "how often one gave another something",
    }
    note = "; ".join(text for kind, text in said.items() if kind in kinds)
    # on one circle: where a side is unknown a group would tell only that
    sided = all(groups.get(agent) for agent in agents)
    nodes = tuple(Node(agent, groups[agent] if sided else "") for agent in agents)
    return [Network("Who deals with whom", nodes, ties, sentence(note))]


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


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything there is to show; nothing before the market has begun, and no panel without data."""
    if not any(isinstance(told.event, MarketBegan) for told in log):
        return []
    return [*periods(log), *prices(log), *book(log), *holdings(log), *interactions(log), *grid(log)]
