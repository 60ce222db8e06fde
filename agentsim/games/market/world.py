"""The world: accounts, trades, and what artifacts see of the market and may do to it.

Artifacts do not know whose turn it is or what agents are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from agentsim.engine import Event, Everyone, PlayerId, Stream, Table
from agentsim.engine.event import FOR, Audience, InteractionRule, M, MemoryLimit
from agentsim.engine.wording import Worded
from agentsim.lazy import dataclass

# -- accounts


CAPITAL = "capital"


def added(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum amounts by asset."""
    total: dict[str, int] = {}
    for asset, amount in amounts:
        total[asset] = total.get(asset, 0) + amount
    return total


@dataclass(slots=True)
class Account:
    """Whole units by asset; `reserved` is the part of `held` that is set aside for open promises, such as orders."""

    held: dict[str, int] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)

    def amount(self, asset: str) -> int:
        """Return how much of an asset is held, reserved or not."""
        return self.held.get(asset, 0)

    def free(self, asset: str) -> int:
        """Return how much of an asset can be reserved or given away."""
        return self.held.get(asset, 0) - self.reserved.get(asset, 0)


@dataclass
class Ledger:
    """All accounts. Assets enter and leave by `issue` and `withdraw` alone; everything else conserves them."""

    accounts: dict[str, Account] = field(default_factory=dict)
    _issued: dict[str, int] = field(default_factory=dict)  # since the last check that found nothing wrong
    _sound: dict[str, dict[str, int]] = field(default_factory=dict)  # what each account held at that check
    _touched: dict[str, None] = field(default_factory=dict)

    def open(self, owner: str) -> Account:
        return self.accounts.setdefault(owner, Account())

    def free(self, owner: str, asset: str) -> int:
        """Return how much of an asset the owner can reserve or give away."""
        return self.accounts[owner].free(asset)

    def issue(self, owner: str, asset: str, amount: int) -> None:
        """Give the owner newly created units."""
        assert amount >= 0, "what is issued is no debt"
        self._add(owner, asset, amount)
        self._issued[asset] = self._issued.get(asset, 0) + amount

    def withdraw(self, owner: str, asset: str, amount: int) -> None:
        """Remove free units of the owner's from the world."""
        assert 0 <= amount <= self.free(owner, asset), "only what is free can be withdrawn"
        self._add(owner, asset, -amount)
        self._issued[asset] = self._issued.get(asset, 0) - amount

    def move(self, giver: str, taker: str, asset: str, amount: int) -> None:
        """Move free units from one owner to another."""
        assert 0 <= amount <= self.free(giver, asset), "only what is free changes hands"
        self._add(giver, asset, -amount)
        self._add(taker, asset, amount)

    def reserve(self, owner: str, asset: str, amount: int) -> None:
        """Reserve free units."""
        assert 0 <= amount <= self.free(owner, asset), "only what is free can be promised"
        reserved = self.accounts[owner].reserved
        reserved[asset] = reserved.get(asset, 0) + amount
        self._touched[owner] = None

    def release(self, owner: str, asset: str, amount: int) -> None:
        """Release reserved units."""
        reserved = self.accounts[owner].reserved
        assert 0 <= amount <= reserved.get(asset, 0), "only what was promised is released"
        reserved[asset] -= amount
        self._touched[owner] = None

    def touched(self) -> Iterable[str]:
        """Return the owners whose accounts have changed since the last check without a fault."""
        return tuple(self._touched)

    def check(self, promised: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return what does not add up in the accounts that have changed; `promised` is what must be reserved, by owner.

        Only changed accounts are looked at, so that a step in a world of thousands costs what it touched.
        """
        broken: list[str] = []
        change: dict[str, int] = {}
        for owner in self._touched:
            account, before = self.accounts[owner], self._sound.get(owner, {})
            for asset in {**account.held, **before}:
                change[asset] = change.get(asset, 0) + account.amount(asset) - before.get(asset, 0)
            wanted = promised.get(owner, {})
            for asset in {**account.held, **account.reserved, **wanted}:
                reserved = account.reserved.get(asset, 0)
                if not 0 <= reserved <= account.amount(asset):
                    broken.append(f"{owner}: {asset} reserved and free make up what is held")
                if reserved != wanted.get(asset, 0):
                    broken.append(f"{owner}: {asset} is reserved for open promises and nothing else")
        assets = {**change, **self._issued}
        wrong = [asset for asset in assets if change.get(asset, 0) != self._issued.get(asset, 0)]
        broken += [f"{asset} is neither made nor lost" for asset in wrong]
        if not broken:
            self._sound.update({owner: dict(self.accounts[owner].held) for owner in self._touched})
            self._touched.clear()
            self._issued.clear()
        return broken

    def _add(self, owner: str, asset: str, amount: int) -> None:
        held = self.accounts[owner].held
        held[asset] = held.get(asset, 0) + amount
        self._touched[owner] = None


# -- trades


Side: TypeAlias = Literal["buy", "sell"]


def _called(owner: str) -> str:
    """Return an owner's name in words; that of an artifact's account begins with @, as no agent's does."""
    return f"the {owner[1:].replace('_', ' ')}" if owner.startswith("@") else owner


Owner: TypeAlias = Annotated[str, Worded(_called)]
TRADES = MemoryLimit(10)


class Trade(
    Event,
    heading="{buyer} buys {quantity} {good} of {seller} at {price}",
    content="{paid} capital in all.",
    interactions=(
        InteractionRule("buyer", "seller", "bought from", amount="paid"),
        InteractionRule("seller", "buyer", "sold to", amount="paid"),
    ),
    base=True,
):
    """Base of all trades. The market matches prices, not people: neither side trades for the other's sake."""

    memory_limit = TRADES
    good: str
    price: int
    quantity: int
    buyer: Owner
    seller: Owner

    @property
    def in_short(self) -> str:
        return f"{self.buyer} bought {self.quantity} {self.good} of {self.seller} at {self.price}."

    @property
    def paid(self) -> int:
        return self.price * self.quantity

    @property
    def side(self) -> Side | None:
        """The side of the aggressor, or None if there was no resting order."""
        return None


class Exchanged(Trade, label="trade"):
    """A trade that an artifact made (`World.trade`), between two agents or an agent and the artifact."""

    @property
    def side(self) -> Side | None:
        if self.seller.startswith("@"):
            return "buy"
        return "sell" if self.buyer.startswith("@") else None

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """Return what a side is told, or None if the trade was its own doing."""
        if agent == by or agent not in {self.buyer, self.seller}:
            return None
        return {"bought" if agent == self.buyer else "sold": self.quantity, "good": self.good, "price": self.price}


Quote: TypeAlias = tuple[int, int]
"""A price, and the number of units at it."""


class Clearing(NamedTuple):
    """The units that trade at one price: at every price from `low` to `high` exactly `quantity` units trade.

    No other trader would gain at such a price. `surplus` is the sum of bids less asks. If nothing meets, the prices are
    those of the best bid and the best ask.
    """

    low: int
    high: int
    quantity: int
    surplus: int

    @property
    def price(self) -> float:
        """The middle of all prices that clear the market."""
        return (self.low + self.high) / 2


def matches(bids: Sequence[Quote], asks: Sequence[Quote]) -> Iterator[tuple[int, int, int]]:
    """Yield (index of a bid, index of an ask, units) of all that meets; bids fall, asks rise, earlier ones first."""
    bid = ask = 0
    wanted, offered = (side[0][1] if side else 0 for side in (bids, asks))
    while bid < len(bids) and ask < len(asks) and bids[bid][0] >= asks[ask][0]:
        units = min(wanted, offered)
        yield bid, ask, units
        wanted, offered = wanted - units, offered - units
        if not wanted:
            bid += 1
            wanted = bids[bid][1] if bid < len(bids) else 0
        if not offered:
            ask += 1
            offered = asks[ask][1] if ask < len(asks) else 0


def clearing(bids: Sequence[Quote], asks: Sequence[Quote]) -> Clearing:
    """Return what trades of bids that fall and asks that rise; there is at least one of each."""
    met = list(matches(bids, asks))
    if not met:
        return Clearing(bids[0][0], asks[0][0], 0, 0)
    bid, ask, _ = met[-1]
    # the first unit that does not trade must not want to trade at the price
    wanted = sum(units for price, _, units in met if price == bid)
    offered = sum(units for _, price, units in met if price == ask)
    next_bid, next_ask = bid + (wanted == bids[bid][1]), ask + (offered == asks[ask][1])
    return Clearing(
        low=max([asks[ask][0], *(price for price, _ in bids[next_bid : next_bid + 1])]),
        high=min([bids[bid][0], *(price for price, _ in asks[next_ask : next_ask + 1])]),
        quantity=sum(units for _, _, units in met),
        surplus=sum((bids[wants][0] - asks[offers][0]) * units for wants, offers, units in met),
    )


# -- what artifacts see


class Transferred(
    Event,
    label="transfer",
    heading="{giver} gives {taker} {amount} {asset}",
    content="{reason}",
    interactions=(InteractionRule("giver", "taker", "gave {asset}", FOR, amount="amount"),),
    private=("giver", "taker"),
):
    """Assets changed hands outside a trade."""

    giver: Owner
    taker: Owner
    asset: str
    amount: int
    reason: str


class Reported(Event, label="report", heading="From {artifact}", words="text"):
    """A message of an artifact that has no event of its own for it."""

    artifact: str
    text: str
    details: dict[str, Any] = field(default_factory=dict)


class Noted(Event, label="notice", heading="{agent} is told", content="{fields}", private=("agent",)):
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
