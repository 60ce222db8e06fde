"""What happens where no usable reply comes: the design's deterministic move for each kind of decision, and so said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.event import Everyone, Nobody
from agentsim.engine.request import Ask
from agentsim.games.monopoly.auctions import AuctionBid, AuctionLot
from agentsim.games.monopoly.building import Bundle, HouseOrHotel, ManageEstate
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.debts import RaiseCash
from agentsim.games.monopoly.jail import JailAction
from agentsim.games.monopoly.panels import quotations
from agentsim.games.monopoly.question import Reacted, StandIn
from agentsim.games.monopoly.replay import utterances
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trade import AnswerTrade, Proposal, ProposeTrade, React
from agentsim.runs.decide import DecisionResult, decision_record_of
from agentsim.runs.game_in_progress import restored_decision
from tests.amounts import each_row
from tests.games.monopoly.asked import board, questions
from tests.games.monopoly.table import Game


def one(kind: type[Any]) -> Any:
    return next(request for request in questions() if isinstance(request, kind))


def with_cash(request: Any, amount: int) -> Any:
    view: View = request.view
    seats = tuple(replace(seat, cash=amount) if seat.id == request.player else seat for seat in view.seats)
    return replace(request, view=replace(view, seats=seats))


@pytest.mark.parametrize(("cash", "action"), [(400, "buy"), (399, "auction")])
def test_buys_with_twice_the_price(cash: int, action: str) -> None:
    assert with_cash(one(BuyOrAuction), cash).fallback().action == action  # New York Avenue costs 200


@each_row(
    "high, step, cash, bid",
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
    assert raised.sells == (HouseOrHotel(position=21), HouseOrHotel(position=24))  # two houses each go before the one
    request.check(request.fallback())


def test_raises_no_more_than_is_owed() -> None:
    raised = replace(one(RaiseCash), owed=621).fallback().action
    assert (raised.mortgages, len(raised.sells)) == ((), 1)


ASKED = (BuyOrAuction, AuctionBid, ProposeTrade, AnswerTrade, JailAction, ManageEstate, RaiseCash)


@each_row("kind", ASKED)
def test_the_narrator_says_that_nobody_decided_it_and_the_player_says_nothing(kind: type[Any]) -> None:
    request = one(kind)
    fallback = request.fallback()
    assert (fallback.public_speech, fallback.private_thought) == ("", "")
    assert fallback.narrated == f"{request.you.name} is thinking..."
    assert fallback.noted == "[Decision made by fallback system due to LLM error]"
    request.check(fallback)


@pytest.mark.parametrize("kind", ASKED)
def test_no_reply_speaks_as_the_narrator(kind: type[Any]) -> None:
    request = one(kind)
    assert not {"narrated", "noted"} & set(request.schema()["properties"])
    forged = {**request.fallback().model_dump(mode="json"), "narrated": "Pay me.", "public_speech": "Hello."}
    read = request.parse(json.dumps(forged)).decision
    assert read.public_speech == "Hello."
    assert not isinstance(read, StandIn)


@each_row("kind", ASKED)
def test_a_fallback_on_record_is_the_one_that_was_made(kind: type[Any]) -> None:
    request = one(kind)
    ask, made = Ask(1, 1, 0, 1, request), request.fallback()
    entry = decision_record_of(ask, DecisionResult(made, "fallback", fallback_reason="unreadable"))
    assert restored_decision(ask, entry) == made


def test_others_read_the_narrator_and_never_words_of_the_player() -> None:
    game = Game(A="3", B="6")
    turn: Any = game.match.request(0, ProposeTrade, when="before", made=0, left=1)
    game.match.voice(0, turn.fallback(), turn.kind)
    said, noted = game.match.table.log[-2:]
    assert [(told.event.kind, told.by) for told in (said, noted)] == [("narrated", None)] * 2
    assert (said.to, noted.to) == (Everyone, Nobody)
    assert not [*game.events(Spoke), *game.events(Thought)]
    assert game.match.memory(0).thoughts == ()
    for number in (0, 1):
        prompt = "\n".join(game.match.request(number, ProposeTrade, when="before", made=0, left=1).prompt().history)
        assert "NARRATOR: A is thinking..." in prompt
        assert "fallback" not in prompt
    assert quotations([told.event for told in game.match.table.log], 400) == ()
    assert utterances(game.match.table.log) == []
