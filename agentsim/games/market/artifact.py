"""Artifacts: through what agents deal: actions and queries, a state of their own, and hooks in the course of a game.

Each one is a file in `artifacts/`. Those with order books inherit `LimitOrders`, and decide when and at what price
orders meet. `turn` decides when agents are asked, and what they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

from pydantic import Field

from agentsim.engine import Choice, Everyone, GameConfig, LoggedEvent, Number, Text
from agentsim.engine.menu import ActionRefused, Stated, capabilities, mark_of, marked
from agentsim.engine.options import Option
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.wording import Template, filled
from agentsim.games.market.order_book import Order, OrderBook, Ordered, Traded, Why, Withdrawn
from agentsim.games.market.world import Side, World, added

F = TypeVar("F", bound=Callable[..., Any])
Answer: TypeAlias = Mapping[str, Any]
"""The answer to a query: JSON values by name."""
MOST_CHOICES = 30  # agents that are listed as choices
MOST_TEXT = 400  # characters of a name that is looked up
MOST_ROUNDS = 60  # in a chart


def spots(last: int, most: int = MOST_ROUNDS) -> list[int]:
    """Return at most `most` rounds at even distances, of which `last` is one, without round 0."""
    step = max(1, -(-last // most))
    return sorted({*range(last, 0, -step)})


def a_good(about: str) -> Stated:
    """Return a parameter that is one of the market's goods."""
    return lambda artifact: Choice(artifact.world.goods, about=about)


def an_agent(about: str, *others: str) -> Stated:
    """Return a parameter that is an agent or one of `others`; if agents are very many, a name that is looked up."""

    def named(artifact: Artifact) -> Option:
        agents = artifact.world.agents
        return Text(MOST_TEXT, about) if len(agents) > MOST_CHOICES else Choice((*others, *agents), about=about)

    return named


def action(description: str, *, means: str = "", **parameters: Stated) -> Callable[[F], F]:
    """Mark a method as an action of that name, called with the agent and the parameters by name.

    The method returns what the agent is told, or raises `ActionRefused` before anything has changed. `means` is the
    action's meaning for restrictions and bots (buy, sell, replace, cancel, borrow, send), if that is not its name.
    """
    return marked("action", description, parameters, means)


def query(description: str, **parameters: Stated) -> Callable[[F], F]:
    """Mark a method as a query of that name: it changes nothing, and returns an `Answer` or raises `ActionRefused`."""
    return marked("query", description, parameters)


class Artifact:
    """Base of all artifacts. A subclass sets `name` and `description`, marks actions and queries, and keeps its state.

    The description is a template of its `settings`. `trades_itself` says that it buys and sells on its own account, so
    that one agent alone can trade. `meaning` is made of the actions: the meaning of each by its name.
    """

    name: ClassVar[str]
    description: ClassVar[Template]
    settings: ClassVar[type[GameConfig]] = GameConfig
    trades_itself: ClassVar[bool] = False
    meaning: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        marks = ((method, mark) for method, member in vars(cls).items() if (mark := mark_of(member)))
        cls.meaning = {**cls.meaning, **{name: mark.means or name for name, mark in marks if mark.kind == "action"}}

    def __init__(self, world: World, settings: Any) -> None:
        self.world = world
        self.config = settings
        self.described = filled(self.description, settings)
        self.actions = capabilities(self, "action")
        self.queries = capabilities(self, "query")

    def call(self, agent: str, name: str, given: Mapping[str, Any]) -> Any:
        """Run an action or a query with parsed parameters. Raises `ActionRefused`."""
        most = self.most(agent).get(name) if "amount" in given else None
        if most is not None and given["amount"] > most:
            raise ActionRefused(f"the most that you can {name} is {most}")
        return getattr(self, name)(agent, **given)

    def round_began(self, number: int) -> None:
        """Called when a round begins; rounds count from 1."""

    def round_ended(self, number: int) -> None:
        """Called when a round is over."""

    def period_ended(self) -> None:
        """Called when a period of an experiment is over: holdings are taken back, and nothing may stay reserved."""

    def game_ended(self) -> None:
        """Called after the last round and before standings are made of what agents have."""

    def promised(self, agent: str) -> Mapping[str, int]:
        """Return what this artifact has reserved of an agent's holdings, by asset."""
        return {}

    def quotes(self) -> Answer:
        """Return the quotes that all are shown at every turn in a market without queries; in others they are asked."""
        return {}

    def shown(self, agent: str) -> Answer:
        """Return what the agent is shown at every turn without asking, as a query's answer; empty for nothing."""
        return {}

    def orders(self, agent: str) -> Sequence[Order]:
        """Return the agent's open orders, oldest first: it may name them, and replacing them frees their reserve."""
        return ()

    def most(self, agent: str) -> Mapping[str, int]:
        """Return the greatest `amount` of each action in this state of the market, by name; more is refused."""
        return {}

    def claims(self, agent: str) -> int:
        """Return the agent's capital outside its account, such as a deposit, less what it owes."""
        return 0

    def check(self) -> Sequence[str]:
        """Return every broken invariant of its state, in words."""
        return ()

    @classmethod
    def panels(cls, log: Sequence[LoggedEvent]) -> list[Panel]:
        """Return the panels of a page, from the events that one audience heard."""
        return []

    @classmethod
    def tables(cls, log: Sequence[LoggedEvent]) -> Mapping[str, Frame]:
        """Return its own tables for export by name; each is there even if nothing happened."""
        return {}


# -- artifacts with order books


GOOD = a_good("what to trade")
ORDER = Number(1, None, about="the number of an open order of yours")


def price(artifact: Artifact) -> Option:
    """Return a parameter that is the price of an order."""
    return Number(1, artifact.config.price_max, about="capital for one unit")


def _quantity(artifact: LimitOrders) -> Option:
    return Number(1, 1 if artifact.config.single_unit else None, about="units")


class LimitOrderSettings(GameConfig):
    """The settings that all artifacts with limit orders take."""

    single_unit: bool = Field(default=False, description="Orders are for one unit, and an agent has one for each good")
    price_max: Annotated[int, Field(ge=1, le=10**9)] = 10**6


class LimitOrders(Artifact):
    """Base of artifacts with an `OrderBook` for each good."""

    settings: ClassVar[type[GameConfig]] = LimitOrderSettings

    def __init__(self, world: World, settings: Any) -> None:
        super().__init__(world, settings)
        ids = count(1)
        self.books = {good: self.book(good, ids) for good in world.goods}

    def book(self, good: str, ids: Iterator[int]) -> OrderBook:
        """Return the order book of one good, which numbers its orders by `ids`."""
        raise NotImplementedError

    def met(self, trade: Traded) -> None:
        """Book and tell a trade of two orders that met at once."""
        self.world.traded(trade)

    @action("place an order to buy", good=GOOD, price=price, quantity=_quantity)
    def buy(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "buy", good, price=price, quantity=quantity)

    @action("place an order to sell", good=GOOD, price=price, quantity=_quantity)
    def sell(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "sell", good, price=price, quantity=quantity)

    @action(
        "put an order with another price and quantity in the place of an open one",
        order=ORDER,
        price=price,
        quantity=_quantity,
    )
    def replace(self, agent: str, order: int, price: int, quantity: int) -> str:
        own = self._own(agent, order)
        return self._order(agent, own.side, own.good, price=price, quantity=quantity, replaces=order)

    @action("take an open order back", order=ORDER)
    def cancel(self, agent: str, order: int) -> str:
        self._tell(self.books[self._own(agent, order).good].cancel(agent, order))
        return f"Order {order} is cancelled."

    def shown(self, agent: str) -> Answer:
        return {"your_orders": [order.words for order in reversed(self.orders(agent))]}

    def orders(self, agent: str) -> Sequence[Order]:
        return [order for book in self.books.values() for order in book.of(agent)]

    def promised(self, agent: str) -> Mapping[str, int]:
        return added(order.collateral() for order in self.orders(agent))

    def check(self) -> Sequence[str]:
        return [line for book in self.books.values() for line in book.check()]

    def period_ended(self) -> None:
        for book in self.books.values():
            self.clear(book, "closed")

    def clear(self, book: OrderBook, why: Why) -> None:
        for gone in book.clear(why):
            self._tell(gone)

    def listed(self, agent: str) -> Answer:
        """Return the agent's open orders as the answer to a query."""
        parts = ("good", "side", "price", "quantity")
        return {"orders": [{"order": each.number, **picked(each, *parts)} for each in self.orders(agent)]}

    def _own(self, agent: str, order: int) -> Order:
        for own in self.orders(agent):
            if own.number == order:
                return own
        raise ActionRefused(f"you have no open order {order}")

    def _order(
        self, agent: str, side: Side, good: str, *, price: int, quantity: int, replaces: int | None = None
    ) -> str:
        """Place an order, and return what the agent is told."""
        placed = self.books[good].place(agent, side, price, quantity, replaces=replaces, now=self.world.round)
        order, said = placed.ordered, list[str]()
        self._tell(*(gone for gone in placed.withdrawn if gone.why != "traded"), order)
        for trade in placed.trades:
            self.met(trade)
            said.append(f"{'Bought' if side == 'buy' else 'Sold'} {trade.quantity} {good} at {trade.price}.")
        self._tell(*(gone for gone in placed.withdrawn if gone.why == "traded"))
        mine = [gone.order for gone in placed.withdrawn if gone.why in {"own", "replaced"}]
        said += [f"Your order {number} is withdrawn." for number in mine]
        if order.standing:
            said.append(f"Order {order.order} rests with {order.standing} at your price.")
        return " ".join(said) or "Nothing was traded."

    def _tell(self, *events: Ordered | Withdrawn) -> None:
        for event in events:
            self.world.tell(event, to=Everyone if event.hearer is None else (event.hearer,))


def picked(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
