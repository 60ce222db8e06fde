"""The world: what artifacts see of the market and may do to it: accounts, chance, events, and what agents are told.

Artifacts do not know whose turn it is or what agents are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine import Event, Everyone, PlayerId, Stream, Table
from agentsim.engine.event import FOR, Audience, InteractionRule, M
from agentsim.games.market.ledger import CAPITAL, Ledger
from agentsim.games.market.trade import Exchanged, Owner, Trade


class Transferred(
    Event,
    heading="{giver} gives {taker} {amount} {asset}",
    content="{reason}",
    interactions=(InteractionRule("giver", "taker", "gave {asset}", FOR, amount="amount"),),
):
    """Assets changed hands outside a trade."""

    giver: Owner
    taker: Owner
    asset: str
    amount: int
    reason: str


class Reported(Event, heading="From {artifact}", words="text"):
    """A message of an artifact that has no event of its own for it."""

    artifact: str
    text: str
    details: dict[str, Any] = field(default_factory=dict)


class Noted(Event, heading="{agent} is told", content="{fields}", private=("agent",)):
    """A note for an agent that no other event tells it."""

    agent: str
    fields: dict[str, Any]

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any]:
        """Return what the agent is shown at its next turn."""
        return self.fields


@dataclass
class World:
    """One market's world; `trades` counts all trades, and `books` records them beside the ledger.

    `rounds` is how long it may last, `round` the current one, from 1; `periods` is None outside experiments, and so is
    `left`, the most rounds that the period has after this one. `acting` is the agent whose action is carried out.
    `redeems` is what a unit can be redeemed at, by agent and good.
    """

    table: Table
    agents: tuple[str, ...]
    goods: tuple[str, ...]
    rounds: int
    periods: int | None = None
    ledger: Ledger = field(default_factory=Ledger)
    books: Callable[[Trade], None] | None = None
    round: int = 0
    left: int | None = None
    last_prices: dict[str, int] = field(default_factory=dict)
    trades: int = 0
    acting: PlayerId | None = None
    redeems: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def chance(self, name: str) -> Stream:
        return self.table.chance.stream(name)

    def tell(self, event: Event, *, to: Audience) -> None:
        """Tell of something that happened because of the acting agent."""
        self.table.tell(event, to=to, by=self.acting)

    def note(self, agent: str, /, **fields: Any) -> None:
        """Put something into an agent's own information, which it is shown at its next turn."""
        self.tell(Noted(agent, fields), to=(agent,))

    def memory(self, agent: str, make: Callable[[PlayerId], M]) -> M:
        """Return what `make(agent)` has made of all that the agent has heard."""
        return self.table.memory(agent, make)

    def give(self, giver: str, taker: str, asset: str, amount: int, reason: str) -> None:
        """Move free units outside a trade; each of the two that is an agent hears of it."""
        self.ledger.move(giver, taker, asset, amount)
        concerned = tuple(owner for owner in (giver, taker) if owner in self.ledger.accounts and owner[0] != "@")
        self.tell(Transferred(giver, taker, asset, amount, reason), to=concerned)

    def trade(self, *, buyer: str, seller: str, good: str, price: int, quantity: int = 1) -> None:
        """Exchange free units for free capital, at a price per unit."""
        self.ledger.move(buyer, seller, CAPITAL, price * quantity)
        self.ledger.move(seller, buyer, good, quantity)
        self.traded(Exchanged(good, price, quantity, buyer, seller))

    def traded(self, trade: Trade) -> None:
        """Tell all of a trade whose units have changed hands, and record it."""
        self.tell(trade, to=Everyone)
        self.last_prices[trade.good] = trade.price
        self.trades += 1
        if self.books is not None:
            self.books(trade)

    def known(self, agents: Sequence[str]) -> bool:
        """Return whether all of these are agents here."""
        return all(agent in self.ledger.accounts and not agent.startswith("@") for agent in agents)
