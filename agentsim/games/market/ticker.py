"""The ticker: the latest quotes and trades that all agents have heard of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from agentsim.engine import LoggedEvent
from agentsim.games.market.order_book import Ordered
from agentsim.games.market.state import OrderDrawn, PeriodBegan
from agentsim.games.market.world import Side, Trade

MOST_SIGNALS = 500  # that are kept at least
MOST_SHOWN = 100  # in one line of a prompt


@dataclass(frozen=True, slots=True)
class Signal:
    """A public event in the market: a quote that rests in the book (`traded` is False), or a trade.

    `side` is that of the incoming order, or None if there was none; `price` is that of the quote or the trade.
    """

    good: str
    side: Side | None
    price: int
    traded: bool


_QUOTES = {"buy": "bid", "sell": "ask", None: ""}


def ticker_line(signals: Sequence[Signal], openings: Sequence[int] = ()) -> str:
    """Return quotes and trades in words, oldest first; `openings` are the places before which a period began.

    Equal ones in a row are counted, such as the trades of a call auction.
    """
    shown = signals[-MOST_SHOWN:]
    missed = len(signals) - len(shown)
    words = [f"{missed} earlier ones are not shown"] if missed else []
    goods = dict.fromkeys(signal.good for signal in shown)
    starts = sorted({0, len(shown), *(each - missed for each in openings if each > missed)})
    for start, end in pairwise(starts):
        words += ["a new period began"] * (start > 0)
        for signal, same in groupby(shown[start:end]):
            good, count = "" if len(goods) == 1 else f"{signal.good} ", len(list(same))
            what = "traded at" if signal.traded else _QUOTES[signal.side]
            words.append(f"{good}{what} {signal.price}" + (f" ({count} times)" if count > 1 else ""))
    words += ["a new period began"] * (len(signals) in openings)
    return f"{'; '.join(words)}."


class Ticker:
    """The latest quotes and trades that all have heard of; `opened` is how many there were when each period began."""

    def __init__(self, everybody: str) -> None:
        self.total = 0
        self.opened: list[int] = []
        self._kept: list[tuple[LoggedEvent, Signal]] = []  # with the event that told of each
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
            self.opened.append(self.total)

    def before(self, turn: LoggedEvent | None, *, at_once: bool) -> int:
        """Return how many quotes and trades there were when an agent's turn began; `turn` is what it did then.

        None stands for no turn at all. Only the last `MOST_SIGNALS` are kept, and earlier turns began before those.
        """
        if turn is None:
            return 0
        if at_once:
            return self._drawn[turn.round]
        later = bisect_left(self._kept, True, key=lambda kept: _after(kept[0], turn))
        return self.total - len(self._kept) + later

    def between(self, first: int, end: int) -> tuple[Signal, ...]:
        """Return the quotes and trades after the first `first` and up to `end`, as far as they are kept."""
        gone = self.total - len(self._kept)
        return tuple(signal for _, signal in self._kept[max(0, first - gone) : max(0, end - gone)])

    def line(self, first: int, end: int) -> str:
        """Return the same in words, or "" for none."""
        signals = self.between(first, end)
        start = end - len(signals)
        return ticker_line(signals, [each - start for each in self.opened if start < each <= end]) if signals else ""

    def stale(self, count: int) -> int:
        """Return how many of the last `count` are of an earlier period, whose quotes are withdrawn."""
        opened = self.opened[-1] if self.opened else 0
        return min(count, max(0, opened - (self.total - count)))

    def _quoted(self, quote: Signal, trading: int, entry: LoggedEvent) -> None:
        """Add a quote once the units of its order that trade at once have been told, which is after the order."""
        self._placed = (quote, trading) if trading else None
        if not trading:
            self._append(quote, entry)

    def _append(self, signal: Signal, entry: LoggedEvent) -> None:
        self._kept.append((entry, signal))
        self.total += 1
        if len(self._kept) >= 2 * MOST_SIGNALS:
            del self._kept[:-MOST_SIGNALS]


def _after(entry: LoggedEvent, turn: LoggedEvent) -> bool:
    """Return whether an event was told after a turn began; what no agent did comes after all turns of its round."""
    return entry.round >= turn.round if entry.decision is None else entry.decision >= (turn.decision or 0)
