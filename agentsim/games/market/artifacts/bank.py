"""The bank: deposits that bear interest, and loans against goods. It pays out of its own capital and makes none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Event, GameConfig, Number
from agentsim.engine.menu import ActionRefused
from agentsim.engine.wording import Template
from agentsim.games.market.artifact import Answer, Artifact, a_good, action, query
from agentsim.games.market.order_book import require_free
from agentsim.games.market.world import CAPITAL, World

BANK = "@bank"
AMOUNT = Number(1, None, about="capital")


class BankSettings(GameConfig):
    """`[game_config.settings.bank]`. Rates are in thousandths a round.

    Interest is in whole capital: that of deposits is rounded down, that of loans up, so that no loan is free.
    """

    capital: Annotated[int, Field(ge=0, le=10**12)] = Field(default=1_000, description="What the bank begins with")
    deposit_rate: Annotated[int, Field(ge=0, le=1_000)] = 10
    loan_rate: Annotated[int, Field(ge=0, le=1_000)] = 20
    loan_to_value: Annotated[int, Field(ge=1, le=100)] = Field(
        default=50, description="Percent of the collateral's last price that is lent"
    )


class Banked(
    Event,
    label="bank transaction",
    heading="{agent} and the bank: {what}",
    content="{amount}; deposit {deposit}, loan {loan}.",
    private=("agent",),
):
    """An agent's position at the bank after a change; `collateral` is reserved for the loan."""

    agent: str
    what: str
    amount: int
    deposit: int
    loan: int
    collateral: dict[str, int]

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """Return what the agent is told, or None if the change was its own doing."""
        return None if by == agent else {"bank": self.what, "amount": self.amount}


class Bank(Artifact):
    name: ClassVar[str] = "bank"
    description: ClassVar[Template] = (
        "keeps deposits, which bear {deposit_rate} thousandths a round as long as it can pay, rounded down to whole "
        "capital, and lends up to {loan_to_value}% of the last price of goods that you pledge, at {loan_rate} "
        "thousandths a round, rounded up to whole capital. Pledged goods are reserved, and lost to the bank once the "
        "loan is above their last price."
    )
    settings: ClassVar[type[GameConfig]] = BankSettings

    def __init__(self, world: World, settings: BankSettings) -> None:
        super().__init__(world, settings)
        world.ledger.open(BANK)
        world.ledger.issue(BANK, CAPITAL, settings.capital)
        self._deposits: Counter[str] = Counter()
        self._loans: Counter[str] = Counter()
        self._collateral: defaultdict[str, Counter[str]] = defaultdict(Counter)

    @action("put capital into the bank", amount=AMOUNT)
    def deposit(self, agent: str, amount: int) -> str:
        self.world.give(agent, BANK, CAPITAL, amount, "a deposit")
        self._deposits[agent] += amount
        return self._banked(agent, "deposited", amount)

    @action("take capital out of your deposit", amount=AMOUNT)
    def withdraw(self, agent: str, amount: int) -> str:
        self.world.give(BANK, agent, CAPITAL, amount, "out of a deposit")
        self._deposits[agent] -= amount
        return self._banked(agent, "taken out", amount)

    @action(
        "borrow against goods of yours",
        amount=AMOUNT,
        good=a_good("what you pledge"),
        quantity=Number(1, None, about="how many units you pledge"),
    )
    def borrow(self, agent: str, amount: int, good: str, quantity: int) -> str:
        ledger, most = self.world.ledger, self._lends({good: quantity})
        require_free(good, quantity, ledger.free(agent, good))
        if amount > most:
            raise ActionRefused(f"{quantity} {good} are good for {most} at the last price")
        if amount > ledger.free(BANK, CAPITAL):
            raise ActionRefused("the bank has not so much")
        ledger.reserve(agent, good, quantity)
        self._collateral[agent][good] += quantity
        self._loans[agent] += amount
        self.world.give(BANK, agent, CAPITAL, amount, "a loan")
        return self._banked(agent, "borrowed", amount)

    @action("pay a loan back; what you pledged is free when nothing is owed", amount=AMOUNT)
    def repay(self, agent: str, amount: int) -> str:
        self.world.give(agent, BANK, CAPITAL, amount, "paid back")
        self._loans[agent] -= amount
        if not self._loans[agent]:
            self._release_collateral(agent)
        return self._banked(agent, "paid back", amount)

    @query("your deposit, your loan and what you have pledged")
    def bank_account(self, agent: str) -> Answer:
        pledged = dict(self._collateral[agent])
        return {"deposit": self._deposits[agent], "loan": self._loans[agent], "pledged": pledged}

    def shown(self, agent: str) -> Answer:
        return {name: amount for name, amount in self.bank_account(agent).items() if amount}

    def round_ended(self, number: int) -> None:
        for agent, deposit in self._deposits.items():
            # the bank's own capital is what no deposit stands behind
            own = self.world.ledger.accounts[BANK].amount(CAPITAL) - self._deposits.total()
            interest = min(deposit * self.config.deposit_rate // 1000, own)
            if interest > 0:
                self._deposits[agent] += interest
                self._banked(agent, "interest earned", interest)
        for agent, loan in self._loans.items():
            if loan:
                interest = -(-loan * self.config.loan_rate // 1000)
                self._loans[agent] += interest
                if self._loans[agent] > self._worth(self._collateral[agent]):
                    self._foreclose(agent)
                elif interest:
                    self._banked(agent, "interest owed", interest)

    def promised(self, agent: str) -> Mapping[str, int]:
        return self._collateral[agent]

    def most(self, agent: str) -> Mapping[str, int]:
        ledger = self.world.ledger
        free, left = ledger.free(agent, CAPITAL), ledger.free(BANK, CAPITAL)
        loans = (self._lends({good: ledger.free(agent, good)}) for good in self.world.goods)
        return {
            "borrow": max(loans, default=0),
            "deposit": free,
            "withdraw": min(self._deposits[agent], left),
            "repay": min(self._loans[agent], free),
        }

    def claims(self, agent: str) -> int:
        return self._deposits[agent] - self._loans[agent]

    def check(self) -> Sequence[str]:
        if any(amount < 0 for amount in (*self._deposits.values(), *self._loans.values())):
            return ["no deposit and no loan is below nothing"]
        return ()

    def _worth(self, goods: Mapping[str, int]) -> int:
        """Return the value of goods at their last prices."""
        return sum(self.world.last_prices.get(good, 0) * quantity for good, quantity in goods.items())

    def _lends(self, goods: Mapping[str, int]) -> int:
        """Return the largest loan against these goods."""
        percent: int = self.config.loan_to_value
        return self._worth(goods) * percent // 100

    def _foreclose(self, agent: str) -> None:
        owed, pledged = self._loans[agent], self._collateral[agent]
        self._release_collateral(agent)
        for good, quantity in pledged.items():
            self.world.give(agent, BANK, good, quantity, "pledged for a loan that was above its price")
        self._loans[agent] = 0
        self._banked(agent, "foreclosed", owed)

    def _release_collateral(self, agent: str) -> None:
        for good, quantity in self._collateral.pop(agent, {}).items():
            self.world.ledger.release(agent, good, quantity)

    def _banked(self, agent: str, what: str, amount: int) -> str:
        deposit, loan = self._deposits[agent], self._loans[agent]
        self.world.tell(Banked(agent, what, amount, deposit, loan, dict(self._collateral[agent])), to=(agent,))
        return f"Deposit {deposit}, loan {loan}."
