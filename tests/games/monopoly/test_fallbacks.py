"""What happens where no usable reply comes: the design's deterministic move for each kind of decision, and so said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentsim.games.monopoly.actions import Bundle, Proposal, Reacted, Sale
from agentsim.games.monopoly.requests import (
    AnswerTrade,
    AuctionBid,
    BuyOrAuction,
    JailAction,
    ManageEstate,
    ProposeTrade,
    RaiseCash,
    React,
)
from agentsim.games.monopoly.view import AuctionLot, View
from tests.games.monopoly.asked import board, questions


def one(kind: type[Any]) -> Any:
    return next(request for request in questions() if isinstance(request, kind))


def with_cash(request: Any, amount: int) -> Any:
    view: View = request.view
    seats = tuple(replace(seat, cash=amount) if seat.id == request.player else seat for seat in view.seats)
    return replace(request, view=replace(view, seats=seats))


@pytest.mark.parametrize(("cash", "action"), [(400, "buy"), (399, "auction")])
def test_buys_with_twice_the_price(cash: int, action: str) -> None:
    assert with_cash(one(BuyOrAuction), cash).fallback().action == action  # New York Avenue costs 200


@pytest.mark.parametrize(
    ("high", "step", "cash", "bid"),
    [
        (0, 1, 1500, 10),
        (120, 1, 1500, 130),
        (195, 1, 203, 203),  # as far as the cash goes
        (199, 1, 200, 200),
        (200, 1, 1500, 0),  # the printed price is reached
        (120, 1, 199, 0),  # it could not pay that price
        (120, 25, 1500, 145),  # no bid that does not count
        (190, 25, 205, 0),
    ],
)
def test_bids_ten_more_below_the_printed_price(high: int, step: int, cash: int, bid: int) -> None:
    lot = AuctionLot(19, high, "Shark", high + step, ("Shark",), sealed=False)
    request = with_cash(replace(one(AuctionBid), lot=lot), cash)
    fallback = request.fallback()
    assert fallback.action.bid == bid
    request.check(fallback)


def test_proposes_nothing_rejects_everything_does_nothing_and_is_silent() -> None:
    assert one(ProposeTrade).fallback().action == Proposal(propose_trade=False)
    assert one(AnswerTrade).fallback().action == "reject"
    assert one(ManageEstate).fallback().action == Bundle()
    assert one(React).fallback() == Reacted(public_speech="", private_thought="")


@pytest.mark.parametrize(
    ("actions", "action"),
    [
        (("pay_fine", "use_card", "roll_doubles", "manage"), "pay_fine"),
        (("use_card", "roll_doubles", "manage"), "use_card"),
        (("roll_doubles", "manage"), "roll_doubles"),
    ],
)
def test_leaves_jail_by_the_fine_else_by_a_card_else_rolls(actions: tuple[str, ...], action: str) -> None:
    assert replace(one(JailAction), actions=actions).fallback().action == action


def test_raises_cash_by_the_cheapest_mortgages_first_then_by_even_sales() -> None:
    view = replace(board(), owner=(*board().owner[:12], 0, *board().owner[13:]))  # the Shark has Electric Company too
    request = replace(one(RaiseCash), view=view, owed=620 + 75 + 2 * 75)
    raised = request.fallback().action
    assert raised.mortgages == (12,)  # St. Charles Place is mortgaged, the reds have houses
    assert raised.sells == (Sale(position=21), Sale(position=24))  # two houses each go before the one
    request.check(request.fallback())


def test_raises_no_more_than_is_owed() -> None:
    raised = replace(one(RaiseCash), owed=621).fallback().action
    assert (raised.mortgages, len(raised.sells)) == ((), 1)


ASKED = (BuyOrAuction, AuctionBid, ProposeTrade, AnswerTrade, JailAction, ManageEstate, RaiseCash)


@pytest.mark.parametrize("kind", ASKED)
def test_says_that_nobody_decided_it(kind: type[Any]) -> None:
    fallback = one(kind).fallback()
    assert fallback.public_speech == f"{one(kind).you.name} is thinking..."
    assert fallback.private_thought == "[Decision made by fallback system due to LLM error]"
    one(kind).check(fallback)
