"""Capital and goods over time, replayed from endowments, trades and transfers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

from agentsim.engine.event import Event, LogEntry
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.games.market.course import Endowed
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.panels.spots import rounds, spots
from agentsim.games.market.trading import Traded
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
