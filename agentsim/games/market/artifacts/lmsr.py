"""The prediction market: a market maker that prices shares in outcomes by Hanson's logarithmic market scoring rule.

R. Hanson, "Combinatorial Information Market Design", Information Systems Frontiers 5(1), 2003, 107-119: with q shares
sold of each of n outcomes, the maker has been paid C(q) = b ln sum exp(q_i / b), less the initial C. The price of an
outcome is the derivative of C with respect to its shares. Prices add up to 1, and the maker never loses more than b ln
n.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Annotated, ClassVar

from pydantic import Field

from agentsim.engine import Event, Everyone, GameConfig, LoggedEvent, Number
from agentsim.engine.menu import Stated
from agentsim.engine.panel import Chart, Panel, Series
from agentsim.engine.wording import If, Template, counted, filled
from agentsim.games.market.artifact import Answer, Artifact, a_good, action, query, spots
from agentsim.games.market.order_book import require_free
from agentsim.games.market.world import CAPITAL, Side, World

MAKER = "@market_maker"
GOOD = a_good("the outcome")
DIGITS = Context(prec=34)  # decimals round alike on every machine, so that replayed prices are exact


def cost(sold: Sequence[int], b: int) -> Decimal:
    """Return Hanson's cost function C(q), in payouts."""
    with localcontext(DIGITS):
        return max(sold) + b * sum(_weights(sold, b), Decimal(0)).ln()


@lru_cache(maxsize=4096)
def worth(sold: tuple[int, ...], b: int, payout: int) -> int:
    """Return C(q) in whole capital, rounded up: all prices are differences of it, so that roundings do not add up."""
    with localcontext(DIGITS):
        return int((payout * cost(sold, b)).to_integral_value(ROUND_CEILING))


def prices(sold: Sequence[int], b: int) -> list[Decimal]:
    """Return the price of each outcome in payouts, which is its probability in the market."""
    with localcontext(DIGITS):
        weights = _weights(sold, b)
        return [weight / sum(weights) for weight in weights]


def _weights(sold: Sequence[int], b: int) -> list[Decimal]:
    # relative to the largest, so that no exponential overflows
    return [(Decimal(shares - max(sold)) / b).exp() for shares in sold]


class LmsrSettings(GameConfig):
    """`[game_config.settings.lmsr]`."""

    b: Annotated[int, Field(ge=1, le=10**6)] = Field(default=50, description="Liquidity: how many shares move a price")
    payout: Annotated[int, Field(ge=2, le=10**6)] = Field(default=100, description="Capital for a share that pays")
    most_shares: Annotated[int, Field(ge=1, le=1_000)] = Field(default=50, description="Shares in one action")
    chances: dict[str, Annotated[int, Field(ge=0, le=10**6)]] = Field(
        default={}, description="Weights by which the outcome is drawn at the end; all alike if absent"
    )


class Priced(Event, label="market maker prices", heading="Prices of the market maker", content="{prices}"):
    """The price of each outcome at the end of a round, in payouts, and how many shares of it are sold."""

    prices: dict[str, float]
    sold: dict[str, int]


class Settled(
    Event,
    label="settlement",
    heading="The outcome is {outcome}",
    content=(
        "Its shares are paid {paid} capital. The market maker ",
        If("lost", "lost {lost}", "gained {gained}"),
        "; {most_lost} is the most it could lose.",
    ),
):
    """The end: what is paid for the shares of the outcome, and what the market maker lost or gained in all."""

    outcome: str
    paid: int
    lost: int
    gained: int
    most_lost: int


_TRADING = (
    " The price is between 0 and {payout}. It rises with every share that is bought and falls with every share that is "
    "sold. Your price is the most that you pay for the next share, or the least that you take for it: you trade share "
    "by share as long as the market's price is as good as that. To buy you must have your price for every share you "
    "ask for."
)
_AT_WORTH = "a market maker that sells and buys shares, which are units of the good. It begins every period anew."


def _limit(what: str) -> Stated:
    return lambda lmsr: Number(1, lmsr.config.payout, about=f"the {what} for the next share")


def _shares(lmsr: Artifact) -> Number:
    return Number(1, lmsr.config.most_shares, about="shares at most")


class Lmsr(Artifact):
    name: ClassVar[str] = "lmsr"
    description: ClassVar[Template] = (
        "a market maker that sells and buys shares in outcomes. Each good is an outcome; if it is the only good, the "
        "other outcome is that it does not come true. Just one outcome comes true. At the end of the simulation each "
        "share of it pays {payout} capital, and all other shares pay nothing. The price of a share, divided by "
        "{payout}, is the chance that the market gives the outcome.",
        _TRADING,
    )
    settings: ClassVar[type[GameConfig]] = LmsrSettings
    trades_itself: ClassVar[bool] = True

    def __init__(self, world: World, settings: LmsrSettings) -> None:
        super().__init__(world, settings)
        if world.periods is not None:  # an experiment pays for units by private values, and no outcome is drawn
            self.described = filled((_AT_WORTH, _TRADING), settings)
        if not world.goods:
            raise ValueError("lmsr: the goods are its outcomes, and there are none")
        self.outcomes = world.goods if len(world.goods) > 1 else (*world.goods, f"not {world.goods[0]}")
        if unknown := sorted(set(settings.chances) - set(self.outcomes)):
            raise ValueError(f"lmsr: chances: {unknown[0][:40]} is none of the outcomes {', '.join(self.outcomes)}")
        if settings.chances and not sum(settings.chances.values()):
            raise ValueError("lmsr: chances: one of them must be above 0")
        world.ledger.open(MAKER)
        self.sold: list[int] = []  # of each outcome; empty once all is settled
        self._begin([0] * len(self.outcomes))

    @action("buy shares of an outcome", good=GOOD, price=_limit("most you pay"), quantity=_shares)
    def buy(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._deal(agent, "buy", good, price, quantity)

    @action("sell shares of an outcome that you have", good=GOOD, price=_limit("least you take"), quantity=_shares)
    def sell(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._deal(agent, "sell", good, price, quantity)

    @query("what the next share of an outcome costs (asks) and brings (bids)", good=GOOD)
    def order_book(self, agent: str, good: str) -> Answer:
        bid, ask = ({"price": self._next(good, step), "quantity": 1} for step in (-1, 1))
        return {"good": good, "bids": [bid], "asks": [ask]}

    @query("the price of every outcome, as a chance between 0 and 1")
    def chances(self, agent: str) -> Answer:
        return {"chances": self._rounded()}

    def quotes(self) -> Answer:
        both = {good: {"bid": self._next(good, -1), "ask": self._next(good, 1)} for good in self.world.goods}
        return {"next_share": both}

    def round_began(self, number: int) -> None:
        # shares that agents begin with are paid like any other: they count as sold
        if number == 1 and self.world.periods is None:
            accounts = [self.world.ledger.accounts[agent] for agent in self.world.agents]
            self._begin([sum(each.amount(outcome) for each in accounts) for outcome in self.outcomes])

    def round_ended(self, number: int) -> None:
        sold = dict(zip(self.outcomes, self.sold, strict=True))
        self.world.tell(Priced(self._rounded(), sold), to=Everyone)

    def period_ended(self) -> None:
        self._begin([0] * len(self.outcomes))

    def game_ended(self) -> None:
        if self.world.periods is not None:
            return
        outcome, ledger = self._drawn(), self.world.ledger
        paid, self.sold = 0, []
        for agent in self.world.agents:
            if shares := ledger.accounts[agent].amount(outcome):
                paid += shares * self.config.payout
                reason = f"{counted(shares, 'share')} of {outcome}, which came true"
                self.world.give(MAKER, agent, CAPITAL, shares * self.config.payout, reason)
            for good in self.world.goods:
                if free := ledger.free(agent, good):
                    self.world.give(agent, MAKER, good, free, "shares are over")
        self.world.last_prices.update(dict.fromkeys(self.world.goods, 0))
        gained = ledger.free(MAKER, CAPITAL) - self._funded
        self.world.tell(Settled(outcome, paid, max(0, -gained), max(0, gained), self._funded), to=Everyone)

    def check(self) -> Sequence[str]:
        ledger = self.world.ledger
        if not self.sold:
            return ()
        if any(ledger.free(MAKER, good) for good in self.world.goods):
            return ["the maker makes shares as they are sold, and keeps none"]
        if (has := ledger.free(MAKER, CAPITAL)) != self._worth(self.sold):
            return ["the maker has what the shares that are sold come to by its cost function"]
        return [] if has >= max(self.sold) * self.config.payout else ["the maker can pay for whatever comes true"]

    def _begin(self, sold: list[int]) -> None:
        """Begin with `sold` shares of each outcome: the maker gets C(sold) in capital, and has no shares."""
        ledger, self._funded = self.world.ledger, self._worth(sold)
        for asset, wanted in {**dict.fromkeys(self.world.goods, 0), CAPITAL: self._funded}.items():
            ledger.withdraw(MAKER, asset, ledger.free(MAKER, asset))
            ledger.issue(MAKER, asset, wanted)
        self.sold = sold

    def _worth(self, sold: Sequence[int]) -> int:
        """Return the capital of the maker with `sold` shares sold."""
        return worth(tuple(sold), self.config.b, self.config.payout)

    def _next(self, good: str, step: int) -> int:
        """Return what the next share costs (a `step` of 1), or brings (a `step` of -1)."""
        after = [shares + step * (outcome == good) for outcome, shares in zip(self.outcomes, self.sold, strict=True)]
        return step * (self._worth(after) - self._worth(self.sold))

    def _deal(self, agent: str, side: Side, good: str, limit: int, quantity: int) -> str:
        """Trade share by share while the price is within the limit, and return what the agent is told."""
        step, (asset, needed) = (1, (CAPITAL, limit * quantity)) if side == "buy" else (-1, (good, quantity))
        require_free(asset, needed, self.world.ledger.free(agent, asset))
        paid, place = list[int](), self.outcomes.index(good)
        while len(paid) < quantity and step * (limit - (price := self._next(good, step))) >= 0:
            paid.append(price)
            self.sold[place] += step
        if not paid:
            return f"Nothing was traded: the next share {'costs' if side == 'buy' else 'brings'} {price}."
        buyer, seller = (agent, MAKER) if side == "buy" else (MAKER, agent)
        for price, shares in groupby(paid):
            count = len(list(shares))
            if side == "buy":
                self.world.ledger.issue(MAKER, good, count)
            self.world.trade(buyer=buyer, seller=seller, good=good, price=price, quantity=count)
            if side == "sell":
                self.world.ledger.withdraw(MAKER, good, count)
        done, moves = ("Bought", "costs") if side == "buy" else ("Sold", "brings")
        return f"{done} {len(paid)} {good} for {sum(paid)}. The next share {moves} {self._next(good, step)}."

    def _drawn(self) -> str:
        """Draw the outcome that comes true, by its chances."""
        weights = [self.config.chances.get(outcome, 0 if self.config.chances else 1) for outcome in self.outcomes]
        ticket = self.world.chance("lmsr").integer(1, sum(weights))
        return next(outcome for outcome, last in zip(self.outcomes, accumulate(weights), strict=True) if ticket <= last)

    def _rounded(self) -> dict[str, float]:
        found = prices(self.sold, self.config.b)
        return {outcome: round(float(price), 4) for outcome, price in zip(self.outcomes, found, strict=True)}

    @classmethod
    def panels(cls, log: Sequence[LoggedEvent]) -> list[Panel]:
        told = {entry.round: entry.event.prices for entry in log if isinstance(entry.event, Priced)}
        if not told:
            return []
        shown = [number for number in spots(max(told)) if number in told]
        lines = (Series(outcome, tuple(told[number][outcome] for number in shown)) for outcome in told[shown[0]])
        note = "The prices of the market maker; those of all outcomes add up to 1."
        return [Chart("Chances", "line", tuple(map(str, shown)), tuple(lines), "round", "price", note)]
