"""World: what artifacts see of the market and may do to it: accounts, chance, events, and notes to agents.

Whose turn it is, and what agents are asked, is none of an artifact's business.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from agentsim.engine.chance import Stream
from agentsim.engine.event import Audience, Event, PlayerId
from agentsim.engine.table import Table
from agentsim.games.market.events import Transferred
from agentsim.games.market.ledger import Ledger
from agentsim.games.market.order_book import Side

T = TypeVar("T")
MOST_SIGNALS = 500
MOST_NEWS = 20


@dataclass(frozen=True, slots=True)
class Signal:
    """One public thing in the market: a quote that stands (`traded` False), or a trade.

    `side` is that of the order that came in; `price` what it asks or offers, or what the trade was made at.
    """

    good: str
    side: Side
    price: int
    traded: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """A line for an agent's own information; `number` counts all there have been, `by` is whose doing it was."""

    number: int
    fields: Mapping[str, Any]
    by: PlayerId | None = None


class Latest(Generic[T]):
    """The latest of many things, as many as are ever shown; `total` counts all there have been."""

    def __init__(self, most: int) -> None:
        self.total = 0
        self._kept: deque[T] = deque(maxlen=most)

    def append(self, thing: T) -> None:
        """One more."""
        self._kept.append(thing)
        self.total += 1

    def since(self, total: int) -> tuple[T, ...]:
        """Those which came after there had been so many, as far as they are kept; oldest first."""
        return tuple(islice(reversed(self._kept), self.total - total))[::-1]


class Books(Protocol):
    """Who keeps account of trades beside the ledger: an experiment with private values."""

    def traded(self, good: str, price: int, quantity: int, buyer: str, seller: str) -> None:
        """Units changed hands."""
        ...


@dataclass
class World:
    """One market's world.

    `notes` are lines of an agent's own information that wait for its next turn. `announced` are lines for all but
    their author; `announcers` counts them by author; `noted` counts both. `opened` signals had been when the
    period began.
    """

    table: Table
    agents: tuple[str, ...]
    goods: tuple[str, ...]
    ledger: Ledger = field(default_factory=Ledger)
    books: Books | None = None
    round: int = 0
    opened: int = 0
    tape: Latest[Signal] = field(default_factory=lambda: Latest(MOST_SIGNALS))
    last_prices: dict[str, int] = field(default_factory=dict)
    trades: int = 0
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=10))  # trades in words, oldest first
    notes: dict[str, Latest[Noted]] = field(default_factory=dict)
    announced: Latest[Noted] = field(default_factory=lambda: Latest(MOST_NEWS + 1))  # one may be the looker's own
    announcers: Counter[str] = field(default_factory=Counter)
    noted: int = 0
    acting: PlayerId | None = None

    def chance(self, name: str) -> Stream:
        """A stream of draws of that name."""
        return self.table.chance.stream(name)

    def tell(self, event: Event, *, to: Audience) -> None:
        """Something happened, because of the acting agent."""
        self.table.tell(event, to=to, by=self.acting)

    def note(self, agent: str, /, **fields: Any) -> None:
        """Put something into an agent's own information, which it is shown with its next turns."""
        self.noted += 1
        self.notes.setdefault(agent, Latest(MOST_NEWS)).append(Noted(self.noted, fields))

    def announce(self, agent: str, /, **fields: Any) -> None:
        """Put something that is this agent's doing into the information of all others."""
        self.noted += 1
        self.announced.append(Noted(self.noted, fields, agent))
        self.announcers[agent] += 1

    def others_announced(self, agent: str) -> int:
        """How often another agent has announced something."""
        return self.announced.total - self.announcers[agent]

    def give(self, giver: str, taker: str, asset: str, amount: int, reason: str) -> None:
        """Hand over free units outside a trade; each of the two that is an agent hears of it."""
        self.ledger.move(giver, taker, asset, amount)
        concerned = tuple(owner for owner in (giver, taker) if owner in self.ledger.accounts and owner[0] != "@")
        self.tell(Transferred(giver, taker, asset, amount, reason), to=concerned)

    def traded(self, good: str, price: int, quantity: int, buyer: str, seller: str) -> None:
        """Keep account of a trade whose units have changed hands."""
        self.last_prices[good] = price
        self.trades += 1
        self.latest.append(f"{buyer} bought {quantity} {good} of {seller} at {price}.")
        if self.books is not None:
            self.books.traded(good, price, quantity, buyer, seller)

    def known(self, agents: Sequence[str]) -> bool:
        """Whether all of these are agents here."""
        return all(agent in self.ledger.accounts and not agent.startswith("@") for agent in agents)
