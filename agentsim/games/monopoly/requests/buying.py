"""Buying: the questions about a deed that is unowned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agentsim.engine.request import Choice, Number, Options
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly import questions
from agentsim.games.monopoly.actions import (
    Bid,
    Bought,
    StakedBid,
)
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.requests import narrowing
from agentsim.games.monopoly.requests.base import MonopolyRequest
from agentsim.games.monopoly.view import AuctionLot

BID_STEP = 10  # of a player that could not be asked


class BuyOrAuction(MonopolyRequest[Bought]):
    """The space is unowned and the player has its price."""

    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "buy": ("buy it", "purchase", "purchase it", "yes", "买", "买下", "kaufen", "acheter", "comprar", "kupuje"),
        "auction": ("let it go to auction", "send it to auction", "put it up for auction", "decline", "no", "拍卖"),
    }

    position: int

    def choices(self) -> Options:
        return {"action": Choice(("buy", "auction"))}

    def question(self) -> tuple[str, ...]:
        return questions.buy_or_auction(self.view, self.seat, self.position)

    def fallback(self) -> Bought:
        """Buy with twice the price in cash."""
        return self.silent(action="buy" if self.you.cash >= 2 * SPACES[self.position].price else "auction")


class AuctionBid(MonopolyRequest[Bid]):
    """A bid for the lot, or 0."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"bid": 0}}

    lot: AuctionLot

    def choices(self) -> Options:
        return {"action.bid": Number(0, self.you.cash, nothing=0)}

    def check(self, decision: Bid) -> None:
        super().check(decision)
        if 0 < decision.action.bid < self.lot.least:
            raise IllegalDecision(f"action.bid must be 0, or from {self.lot.least} to {self.you.cash}.")

    def question(self) -> tuple[str, ...]:
        return questions.auction_bid(self.view, self.seat, self.lot)

    def fingerprint_fields(self) -> Mapping[str, Any]:
        lot = self.lot
        return {**super().fingerprint_fields(), "position": lot.position, "high": lot.high, "least": lot.least}

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return narrowing.bid(action, self.lot.least, self.you.cash)

    def fallback(self) -> Bid:
        """Ten more than the highest, as far as the cash goes, while that is below the printed price."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash) if lot.high < SPACES[lot.position].price <= cash else 0
        return self.silent(action=StakedBid(bid=bid if bid >= lot.least else 0))
