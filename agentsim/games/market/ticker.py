"""The ticker: the latest quotes and trades that all agents have heard of."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice, takewhile

from agentsim.engine import LoggedEvent
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.state import OrderDrawn, PeriodBegan
from agentsim.games.market.trade import Side, Trade

MOST_SIGNALS = 500


@dataclass(frozen=True, slots=True)
class Signal:
    """A public event in the market: a quote that rests in the book (`traded` is False), or a trade.

    `side` is that of the incoming order, or None if there was none; `price` is that of the quote or the trade.
    """

    good: str
    side: Side | None
    price: int
    traded: bool


class Ticker:
    """The latest quotes and trades that all have heard of; `opened` is how many there were when the period began."""

    def __init__(self, everybody: str) -> None:
        self.total = 0
        self.opened = 0
        self._kept: deque[tuple[LoggedEvent, Signal]] = deque(maxlen=MOST_SIGNALS)  # with the event that told of each
        self._drawn: dict[int, int] = {}  # by round, how many there were when its order was drawn
        self._placed: tuple[Signal, int] | None = None  # a quote, and how many units of its order trade before it rests

    def hear(self, entry: LoggedEvent) -> None:
        event = entry.event
        if isinstance(event, Ordered):
            self._placed = None
            if event.standing:
                quote = Signal(event.good, event.side, event.price, traded=False)
                self._quoted(quote, event.quantity - event.standing, entry)
        elif isinstance(event, Trade):
            self._append(Signal(event.good, event.side, event.price, traded=True), entry)
            if self._placed is not None:
                self._quoted(self._placed[0], self._placed[1] - event.quantity, entry)
        elif isinstance(event, OrderDrawn):
            self._drawn[event.round] = self.total
        elif isinstance(event, PeriodBegan):
            self.opened = self.total

    def since(self, turn: LoggedEvent | None, *, at_once: bool) -> tuple[Signal, ...]:
        """Return the quotes and trades since an agent's turn began, oldest first; `turn` is what it did then.

        Only the last `MOST_SIGNALS` are kept.
        """
        if turn is None:
            return self.latest(self.total)
        if at_once:
            return self.latest(self.total - self._drawn[turn.round])
        new = takewhile(lambda kept: _after(kept[0], turn), reversed(self._kept))
        return tuple(signal for _, signal in new)[::-1]

    def latest(self, count: int) -> tuple[Signal, ...]:
        """Return the last `count`, as far as they are kept; oldest first."""
        return tuple(signal for _, signal in islice(reversed(self._kept), count))[::-1]

    def stale(self, count: int) -> int:
        """Return how many of the last `count` are of an earlier period, whose quotes are withdrawn."""
        return min(count, max(0, self.opened - (self.total - count)))

    def _quoted(self, quote: Signal, trading: int, entry: LoggedEvent) -> None:
        """Add a quote once the units of its order that trade at once have been told, which is after the order."""
        self._placed = (quote, trading) if trading else None
        if not trading:
            self._append(quote, entry)

    def _append(self, signal: Signal, entry: LoggedEvent) -> None:
        self._kept.append((entry, signal))
        self.total += 1


def _after(entry: LoggedEvent, turn: LoggedEvent) -> bool:
    """Return whether an event was told after a turn began; what no agent did comes after all turns of its round."""
    return entry.round >= turn.round if entry.decision is None else entry.decision >= (turn.decision or 0)
