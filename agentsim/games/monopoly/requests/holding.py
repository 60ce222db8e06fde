"""Holding: the questions about what a player has: its freedom, its estate, its debts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from agentsim.engine.request import Choice, Options
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly import bundle, questions
from agentsim.games.monopoly.actions import (
    Bundle,
    JailChoice,
    Managed,
    Raise,
    Raised,
    Sale,
    building,
)
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.requests import narrowing
from agentsim.games.monopoly.requests.base import MonopolyRequest


class JailAction(MonopolyRequest[JailChoice]):
    """How to leave jail; `actions` are those that are open now."""

    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pay_fine": ("pay", "pay the fine", "pay $50", "pay 50"),
        "use_card": ("use the card", "use my card", "play the card", "play my card", "use get out of jail free card"),
        "roll_doubles": ("roll", "roll for doubles", "roll the dice", "stay and roll", "try for doubles"),
        "manage": ("manage estate", "manage my estate", "see to my estate"),
    }

    actions: tuple[str, ...]

    def choices(self) -> Options:
        return {"action": Choice(self.actions)}

    def question(self) -> tuple[str, ...]:
        return questions.jail_action(self.view, self.seat, self.actions)

    def fallback(self) -> JailChoice:
        """Pay, else play a card, else roll."""
        order = ("pay_fine", "use_card", "roll_doubles")
        return self.silent(action=next(action for action in order if action in self.actions))


class ManageEstate(MonopolyRequest[Managed]):
    """Sell, mortgage, lift, build: one bundle, all or nothing."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {}}

    when: Literal["before", "after", "jail"]
    again: bool = False
    """Whether doubles give another roll after this."""

    def check(self, decision: Managed) -> None:
        super().check(decision)
        if not decision.action.empty:
            bundle.carry_out(self.view.estate(), self.seat, self.you.cash, decision.action)

    def question(self) -> tuple[str, ...]:
        return questions.manage_estate(self.view, self.seat, questions.moment(self.when, again=self.again))

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "when": self.when}

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return narrowing.bundle(action, self.view.estate(), self.seat)

    def fallback(self) -> Managed:
        return self.silent(action=Bundle())


class RaiseCash(MonopolyRequest[Raised]):
    """`owed` is more than the player has, and the bank would give enough for everything that it holds."""

    owed: int
    creditor: str
    why: str
    may_propose: bool

    def choices(self) -> Options:
        return {"action.trade.target_player": Choice((None, *self.others)), "action.trade.pitch": self.aloud}

    def check(self, decision: Raised) -> None:
        """Something must come of it; whether a trade can be is the table's verdict."""
        raised = decision.action
        if raised.bundle.empty and not (self.may_propose and raised.trade.propose_trade):
            raise IllegalDecision(f"sell or mortgage something{', or propose a trade' * self.may_propose}: you owe.")
        bundle.carry_out(self.view.estate(), self.seat, self.you.cash, raised.bundle)

    def warning(self, decision: Raised) -> str:
        """Of the trade, as things are once the rest is done; there is none where none may be proposed."""
        estate, seats = self.view.estate(), list(self.view.seats)
        steps = bundle.carry_out(estate, self.seat, self.you.cash, decision.action.bundle)
        seats[self.seat] = replace(self.you, cash=self.you.cash + sum(step.amount for step in steps))
        return self.objection_to(decision.action.trade, estate, seats) if self.may_propose else ""

    def question(self) -> tuple[str, ...]:
        return questions.raise_cash(
            self.view, self.seat, self.owed, self.creditor, self.why, may_propose=self.may_propose
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "owed": self.owed, "may_propose": self.may_propose}

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        estate, parts = self.view.estate(), dict(action["properties"])
        trade = parts.pop("trade")
        asked = narrowing.bundle({**action, "properties": parts}, estate, self.seat)
        if not self.may_propose:
            return asked
        seats = list(self.view.seats)  # what the rest of the answer brings may be offered
        seats[self.seat] = replace(self.you, cash=self.you.cash + estate.liquid(self.seat))
        trade = narrowing.proposal(trade, estate, seats, self.seat)
        return {**asked, "properties": {**asked["properties"], "trade": trade}}

    def fallback(self) -> Raised:
        """Mortgage the cheapest first, then sell evenly, until it is enough."""
        estate, seat, cash = self.view.estate(), self.seat, self.you.cash
        mortgages: list[int] = []
        sells: list[Sale] = []
        for position in sorted(estate.mortgageable(seat), key=lambda position: SPACES[position].mortgage):
            if cash >= self.owed:
                break
            mortgages.append(position)
            cash += SPACES[position].mortgage
        while cash < self.owed and (lots := estate.sellable(seat)):
            lot = min(lots, key=lambda lot: (-estate.level[lot], SPACES[lot].house_cost, lot))
            sells.append(Sale(position=lot, type=building(estate.level[lot])))
            cash += estate.sell(lot)
        if not sells and not mortgages:  # hotels that the bank cannot break down: a whole group goes
            sells = bundle.razing(estate, seat)
        return self.silent(action=Raise(sells=tuple(sells), mortgages=tuple(mortgages)))
